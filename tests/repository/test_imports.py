"""Own the check that packages import one way: the contracts hold, excuse nothing, and can fail."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINTER = CONFIGURATION["tool"]["importlinter"]
PACKAGES: list[str] = LINTER["root_packages"]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sysconfig.get_path("scripts")) / "lint-imports"
    command = [str(program), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_import_contract_is_kept() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout
    assert f"{len(LINTER['contracts'])} kept, 0 broken" in result.stdout


def test_no_import_contract_excuses_an_import() -> None:
    assert not [contract["name"] for contract in LINTER["contracts"] if "ignore_imports" in contract]


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("fairclock/errors.py", "import fairclock.model", "Packages import one way"),
        ("billing/__init__.py", "import sla", "Packages import one way"),
        ("collectors/__init__.py", "import exporters", "Packages import one way"),
        ("sla/__init__.py", "import clickhouse_connect", "Only the store talks to ClickHouse"),
        ("fairclock/demo/__init__.py", "import chdb", "Only the store talks to ClickHouse"),
        ("sla/percentiles.py", "import socket", "Arithmetic is pure"),
        (
            "collectors/otlp/__init__.py",
            "import pandas",
            "A sidecar imports no engine, data frames or PDF library",
        ),
    ],
)
def test_an_import_against_the_direction_is_found(
    module: str, line: str, broken: str, tmp_path: Path
) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a") as file:
        file.write(f"\n{line}\n")
    result = lint(tmp_path)
    assert result.returncode != 0
    assert f"{broken} BROKEN" in result.stdout


def test_every_part_of_the_kernel_has_its_place_in_the_layers() -> None:
    layers = {name.strip() for line in LINTER["contracts"][0]["layers"] for name in line.split("|")}
    parts = {
        f"fairclock.{path.stem}"
        for path in (ROOT / "fairclock").iterdir()
        if (path / "__init__.py").exists() or (path.suffix == ".py" and not path.stem.startswith("__"))
    }
    assert parts | set(PACKAGES) - {"fairclock"} == layers


def test_everything_but_the_store_is_kept_from_clickhouse() -> None:
    contract = next(
        item for item in LINTER["contracts"] if item["name"] == "Only the store talks to ClickHouse"
    )
    layers = {name.strip() for line in LINTER["contracts"][0]["layers"] for name in line.split("|")}
    assert set(contract["source_modules"]) == layers - {"fairclock.store"}


_SIDECAR = """
import importlib, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
for module in {modules!r}:
    importlib.import_module(module)
"""
_EXTRAS = {
    "babel", "chdb", "dateutil", "fontTools", "grafanalib", "holidays", "jinja2", "numpy", "pandas", "pyarrow", "weasyprint",
}  # fmt: skip


def without_extras(*modules: str) -> subprocess.CompletedProcess[str]:
    program = _SIDECAR.format(absent=_EXTRAS, modules=modules)
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "module",
    [
        "fairclock.cli",
        "fairclock.cli.alerts",
        "fairclock.cli.collect",
        "fairclock.cli.doctor",
        "fairclock.cli.ingest",
        "fairclock.cli.pipeline.endpoint",
        "fairclock.cli.pipeline.figures",
        "fairclock.cli.tokens",
        "fairclock.cli.up",
        "collectors.gateway.syslog",
        "collectors.gateway.tailing",
        "collectors.otlp.receiver",
        "exporters.clickhouse",
        "exporters.forwarding.endpoint",
        "exporters.forwarding.forwarder",
        "exporters.webhooks.configuration",
        "exporters.webhooks.listing",
        "exporters.webhooks.planning",
        "exporters.webhooks.store_outbox",
    ],
)
def test_a_sidecar_runs_without_the_extras(module: str) -> None:
    result = without_extras(module)
    assert result.returncode == 0, result.stderr


def test_the_check_for_extras_can_fail() -> None:
    assert "No module named 'jinja2'" in without_extras("jinja2").stderr


SHIPPED_WHOLE = {"sla/bundle/verify.py"}
"""Not a module of the program: it is copied into bundles, and has to be one file there."""


def test_modules_stay_short_enough_to_be_read() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 500
    }
    assert set(long) == SHIPPED_WHOLE


def test_no_module_is_named_after_nothing() -> None:
    nothing = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
    assert not [
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if nothing & {path.stem, path.name}
    ]


def test_every_module_says_what_it_owns() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []
