"""Nothing between usage and the cost book is a float."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import billing

ROOT = Path(billing.__file__).parent
FILES = sorted([*ROOT.glob("usage/*.py"), *ROOT.glob("cost_book/*.py")])


def floats_in(source):
    """Return the lines that have a float, divide two integers into one, or ask for one."""
    for node in ast.walk(ast.parse(source)):
        if (isinstance(node, ast.Constant) and isinstance(node.value, float | complex)) or (
            isinstance(node, ast.Name) and node.id in {"float", "math"}
        ):
            yield node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_float_is_written(path):
    assert list(floats_in(path.read_text(encoding="utf-8"))) == []


def test_a_float_would_be_found():
    assert list(floats_in("a = 1\nb = 0.5\nc = float('1')")) == [2, 3]


@pytest.mark.parametrize(
    "name",
    ["sweep", "timeline_pieces", "kv_sweep", "engine_sequences", "engine_owners", "left_requests", "usage"],
)
def test_no_sql_of_the_sweep_divides_into_a_float(name):
    from fairclock.store.query import sql_file

    code = "\n".join(line.split("--")[0] for line in sql_file(name).splitlines())
    assert "/" not in code
    assert "Float" not in code
