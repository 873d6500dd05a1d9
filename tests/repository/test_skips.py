"""Own the check that a skipped test fails in CI, and only there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
MODULE = """
import pytest

def test_runs(): pass

@pytest.mark.xfail(strict=True)
def test_is_known_to_fail(): assert False
"""
SKIPS = {
    "by a mark": "@pytest.mark.skip(reason='no gateway')\ndef test_skips(): pass",
    "by a condition": "@pytest.mark.skipif(True, reason='no gateway')\ndef test_skips(): pass",
    "by its own word": "def test_skips(): pytest.skip('no gateway')",
    "by its fixture": "@pytest.fixture\ndef gateway(): pytest.skip('no gateway')\ndef test_skips(gateway): pass",
    "as a module": "pytest.skip('no gateway', allow_module_level=True)",
    "for an import": "pytest.importorskip('no_such_gateway')",
}


def run(
    folder: Path, *, ci: str | None, options: list[str] | None = None
) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST.read_text())
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    if ci is not None:
        environment["CI"] = ci
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--rootdir={folder}",
        *(options or []),
    ]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def in_ci(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    folder = tmp_path_factory.mktemp("skips")
    for name, skip in SKIPS.items():
        (folder / f"test_{name.replace(' ', '_')}.py").write_text("import pytest\n" + skip)
    return run(folder, ci="true", options=["--continue-on-collection-errors"])


@pytest.mark.parametrize("name", SKIPS)
def test_a_skip_fails_in_ci(name: str, in_ci: subprocess.CompletedProcess[str]) -> None:
    said = [
        line for line in in_ci.stdout.splitlines() if line.startswith(f"test_{name.replace(' ', '_')}.py")
    ]
    assert in_ci.returncode == 1
    assert len(said) == 1
    assert "was skipped, and in CI nothing may be" in said[0]
    assert "gateway" in said[0]


def test_nothing_is_left_that_counts_as_skipped_in_ci(in_ci: subprocess.CompletedProcess[str]) -> None:
    assert in_ci.stdout.splitlines()[-1].startswith("1 failed, 5 errors")


@pytest.mark.parametrize("ci", [None, "false"])
def test_a_skip_is_a_skip_elsewhere(ci: str | None, tmp_path: Path) -> None:
    (tmp_path / "test_module.py").write_text(MODULE + SKIPS["by a mark"])
    result = run(tmp_path, ci=ci)
    assert result.returncode == 0, result.stdout
    assert "1 passed, 1 skipped, 1 xfailed" in result.stdout


def test_an_expected_failure_stays_one_in_ci(tmp_path: Path) -> None:
    (tmp_path / "test_module.py").write_text(MODULE)
    result = run(tmp_path, ci="true")
    assert result.returncode == 0, result.stdout
    assert "1 passed, 1 xfailed" in result.stdout
