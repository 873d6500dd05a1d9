"""Own the checks of Makefile, CI script and set-up scripts that need no network."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [ROOT / ".ci" / "run", *sorted((ROOT / "scripts").iterdir())]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_executable_strict_and_parses(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in script.read_text()
    answer = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("target", ["demo", "test", "lint", "bench", "live", "soak"])
def test_make_has_the_target(target: str) -> None:
    assert target in TARGETS
    plan = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert plan.returncode == 0, plan.stderr


def test_make_alone_says_what_can_be_made() -> None:
    answer = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"demo", "test", "lint", "bench", "live", "soak"} <= set(
        re.findall(r"make ([a-z-]+)", answer.stdout)
    )


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "exec make test" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()


def test_the_last_thing_that_make_test_runs_is_every_check_and_each_failure_is_its_own() -> None:
    plan = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert plan.stdout.splitlines()[-1] == "scripts/run-tests"


@pytest.mark.parametrize("broken", ["", "style", "with programs", "the others"])
def test_whatever_fails_fails_the_whole(tmp_path: Path, broken: str) -> None:
    fails = {name: int(name == broken) for name in ("style", "with programs", "the others")}
    _stand_in(tmp_path, "make", f"echo style; exit {fails['style']}")
    _stand_in(
        tmp_path,
        "pytest",
        f'case "$*" in *"-m not integration"*) echo others; exit {fails["the others"]};; esac\n'
        f"echo programs; exit {fails['with programs']}",
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    answer = subprocess.run(
        [str(ROOT / "scripts" / "run-tests")], env=environment, capture_output=True, text=True, check=False
    )
    assert answer.stdout.split() == ["others", "style", "programs"]
    assert (answer.returncode != 0) == bool(broken)


def test_a_python_that_cannot_be_found_is_one_sentence() -> None:
    command = [str(ROOT / "scripts" / "find-python"), "3.11", "3.13"]
    environment = {**os.environ, "PYTHON": "/nowhere/python"}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    assert "no Python from 3.11 to 3.13 found (tried: /nowhere/python)" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def _stand_in(folder: Path, name: str, body: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


def test_a_name_without_an_interpreter_behind_it_is_passed_over(tmp_path: Path) -> None:
    _stand_in(tmp_path, "python3", "echo 'no such version' >&2; exit 127")
    _stand_in(tmp_path, "python3.13", "exit 1")
    _stand_in(tmp_path, "python3.12", "cat >/dev/null; echo /opt/python3.12")
    command = [str(ROOT / "scripts" / "find-python"), "3.11", "3.13"]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout == "/opt/python3.12\n"


@pytest.fixture
def bare_machine(tmp_path: Path) -> dict[str, str]:
    """A PATH on which no library, font or program is found, and apt-get only writes down what it was asked."""
    _stand_in(tmp_path, "ldconfig", "exit 0")
    _stand_in(tmp_path, "fc-list", "exit 0")
    _stand_in(tmp_path, "apt-get", f'echo "$@" >>{tmp_path}/asked')
    for name in ("bash", "env", "sort", "cat"):
        (tmp_path / name).symlink_to(Path("/usr/bin") / name)
    return {"PATH": str(tmp_path)}


def test_an_ordinary_user_is_told_what_to_install(bare_machine: dict[str, str], tmp_path: Path) -> None:
    _stand_in(tmp_path, "id", "echo 1000")
    command = [str(ROOT / "scripts" / "debian-packages"), "demo"]
    answer = subprocess.run(command, env=bare_machine, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert len(answer.stderr.splitlines()) == 1
    assert (
        "sudo apt-get install -y --no-install-recommends fonts-noto-cjk fonts-noto-core libharfbuzz-subset0 "
        "libpango-1.0-0 libpangoft2-1.0-0\n"
    ) in answer.stderr
    assert not (tmp_path / "asked").exists()


def test_root_gets_what_is_missing_installed(bare_machine: dict[str, str], tmp_path: Path) -> None:
    _stand_in(tmp_path, "id", "echo 0")
    command = [str(ROOT / "scripts" / "debian-packages"), "demo"]
    subprocess.run(command, env=bare_machine, capture_output=True, text=True, check=True)
    update, install = (tmp_path / "asked").read_text().splitlines()
    assert update.startswith("update")
    assert install.startswith("install")
    assert "fonts-noto-cjk" in install
