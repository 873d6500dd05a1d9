"""Between usage and invoice there is no float: none is written, none is made, none comes from a division of integers."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "billing").rglob("*.py"))
_MAKES_FLOATS = {"float", "math", "statistics", "numpy", "random"}


def floats_in(tree: ast.AST):
    """Yield (line, what) for each way into floats that a syntax tree shows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            yield node.lineno, f"the literal {node.value}"
        if isinstance(node, ast.Name) and node.id == "float":
            yield node.lineno, "float"
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            )
            yield from ((node.lineno, name) for name in names if name.split(".")[0] in _MAKES_FLOATS)
        if isinstance(node, ast.Attribute) and node.attr in {
            "total_seconds",
            "timestamp",
            "as_integer_ratio",
        }:
            yield node.lineno, f".{node.attr}"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _both_plain(node):
            yield node.lineno, "a division of integers"


def _both_plain(node: ast.BinOp) -> bool:
    plain = (ast.Constant,)
    called = {"len", "int", "sum", "round", "abs"}
    return all(
        isinstance(side, plain)
        or (isinstance(side, ast.Call) and isinstance(side.func, ast.Name) and side.func.id in called)
        for side in (node.left, node.right)
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_there_is_no_float(file):
    assert list(floats_in(ast.parse(file.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "code",
    [
        "1.5",
        "float('1')",
        "import math",
        "from statistics import mean",
        "x.total_seconds()",
        "len(a) / 2",
        "def f() -> float: ...",
    ],
)
def test_the_search_finds_floats(code):
    assert list(floats_in(ast.parse(code)))
