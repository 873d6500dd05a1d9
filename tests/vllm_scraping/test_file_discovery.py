"""Files that name targets, as Prometheus's file_sd does."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

import pytest

from collectors.vllm_metrics.scraping.file_discovery import FileTargets, targets_of
from collectors.vllm_metrics.scraping.targets import Defaults

if TYPE_CHECKING:
    from pathlib import Path

DEFAULTS = Defaults(interval_seconds=15.0, timeout_seconds=10.0)


@pytest.mark.parametrize(
    ("content", "urls"),
    [
        pytest.param(
            b'[{"targets": ["a:8000", "b:8000"]}]',
            ["http://a:8000/metrics", "http://b:8000/metrics"],
            id="JSON",
        ),
        pytest.param(b"- targets: ['a:8000']\n", ["http://a:8000/metrics"], id="YAML"),
        pytest.param(b"- targets: ['[::1]:8000']\n", ["http://[::1]:8000/metrics"], id="an IPv6 address"),
        pytest.param(b"[]", [], id="a list of nothing"),
        pytest.param(b"- labels: {job: x}\n", [], id="a group without targets"),
        pytest.param(
            b'[{"targets": ["a:1"], "labels": {"__scheme__": "https", "__metrics_path__": "/m", "__param_x": "y"}}]',
            ["https://a:1/m?x=y"],
            id="scheme, path and parameter by labels",
        ),
    ],
)
def test_what_files_say(content: bytes, urls: list[str]) -> None:
    assert [target.url for target in targets_of(content, DEFAULTS)] == urls


def test_labels_are_kept_but_for_those_with_two_underscores() -> None:
    content = b'[{"targets": ["a:1"], "labels": {"region": "eu", "__scrape_interval__": "1m30s", "__scrape_timeout__": "2s"}}]'
    (target,) = targets_of(content, DEFAULTS)
    assert dict(target.labels) == {"region": "eu"}
    assert (target.interval_seconds, target.timeout_seconds) == (90.0, 2.0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{", "neither JSON nor YAML in line 1"),
        (b"\xff\xfe\x00", "neither JSON nor YAML"),
        (b"", "no list of groups"),
        (b"{}", "no list of groups"),
        (b"[1]", "group 1 may have the keys targets and labels"),
        (b"[{targets: [a:1]}, {target: [a:1]}]", "group 2 may have the keys"),
        (b"[{targets: a:1}]", "targets must be a list"),
        (b"[{targets: [1]}]", "must be a text"),
        (b"[{targets: ['http://a:1/metrics']}]", "group 1: the target 'http://a:1/metrics'"),
        (b"[{targets: ['a b']}]", "is no address"),
        (b"[{targets: ['a:99999']}]", "is no address"),
        (b"[{targets: ['u:p@a:1']}]", "holds a user or a password"),
        (b"[{targets: ['a:1'], labels: {__scheme__: ftp}}]", "is neither http nor https"),
        (b"[{targets: ['a:1'], labels: {x: 1}}]", "labels must be texts"),
        (b"[{targets: ['a:1'], labels: {__scrape_interval__: soon}}]", "'soon' is no duration"),
        (b"[{targets: ['a:1'], labels: {__scrape_interval__: 0s}}]", "'0s' is no duration"),
    ],
)
def test_a_file_that_says_nothing_is_one_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        list(targets_of(content, DEFAULTS))


def names(files: FileTargets) -> list[str]:
    return [target.name for target in files.read()]


def replace(path: Path, content: str) -> None:
    """Put a new file in the place of `path`, as those do who write such files."""
    new = path.with_name("new.tmp")
    new.write_text(content)
    os.replace(new, path)  # noqa: PTH105 - what is under test is the system's rename


def test_a_watched_file_brings_targets_and_takes_them_away(tmp_path: Path) -> None:
    path = tmp_path / "engines.json"
    files = FileTargets([str(tmp_path / "*.json")], DEFAULTS)
    assert names(files) == []
    replace(path, '[{"targets": ["a:1"]}]')
    assert names(files) == ["a:1"]
    replace(path, '[{"targets": ["b:1", "c:1"]}]')
    assert names(files) == ["b:1", "c:1"]
    path.unlink()
    assert names(files) == []


def test_a_broken_file_keeps_what_it_named_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    path = tmp_path / "engines.json"
    files = FileTargets([str(path)], DEFAULTS)
    replace(path, '[{"targets": ["a:1"]}]')
    assert names(files) == ["a:1"]
    replace(path, '[{"targets": ["a:1"')
    assert names(files) == names(files) == ["a:1"]
    assert caplog.text.count("neither JSON nor YAML") == 1
    assert list(files.problems) == [str(path)]
    replace(path, '[{"targets": ["b:1"]}]')
    assert names(files) == ["b:1"]
    assert files.problems == {}


def test_a_file_that_cannot_be_read_for_a_while_is_understood_again(tmp_path: Path) -> None:
    path, away = tmp_path / "engines.json", tmp_path / "away"
    files = FileTargets([str(path)], DEFAULTS)
    replace(path, '[{"targets": ["a:1"]}]')
    assert names(files) == ["a:1"]
    path.rename(away)
    path.symlink_to("engines.json")  # to itself
    assert names(files) == ["a:1"]
    assert list(files.problems) == [str(path)]
    path.unlink()
    away.rename(path)  # the very file that it was
    assert names(files) == ["a:1"]
    assert files.problems == {}


def test_a_named_file_that_is_not_there_is_a_problem_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "engines.json"
    files = FileTargets([str(path)], DEFAULTS)
    assert names(files) == names(files) == []
    assert files.problems == {str(path): "there is no such file"}
    assert caplog.text.count("there is no such file") == 1
    replace(path, '[{"targets": ["a:1"]}]')
    assert names(files) == ["a:1"]
    assert files.problems == {}
