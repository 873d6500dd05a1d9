"""What the doctor says of engines: found or not, answering or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from collectors.vllm_metrics.configuration import TargetSection, VllmSection
from fairclock.cli.diagnosis.engines import engine_findings
from tests.vllm_scraping.conftest import answering

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.vllm_scraping.conftest import Engine


def told(section: VllmSection) -> list[tuple[str, str]]:
    return [(finding.state, finding.detail) for finding in engine_findings(section)]


def section_of(engine: Engine) -> VllmSection:
    return VllmSection(targets=(TargetSection(url=engine.url, name="engine"),), interval=600.0, timeout=600.0)


def test_where_nothing_is_scraped_nothing_is_said() -> None:
    assert told(VllmSection()) == []


@pytest.mark.parametrize(
    ("answer", "state", "detail"),
    [
        pytest.param(answering(), "ok", "engine, 1 samples", id="an engine"),
        pytest.param(answering(status=503), "error", "engine: HTTP 503", id="one that is not ready"),
        pytest.param(
            answering(b"<html>hello</html>"), "error", "engine answers without one sample", id="no engine"
        ),
    ],
)
def test_each_engine_is_asked_once(
    make_engine: Callable[..., Engine], answer: Callable[..., None], state: str, detail: str
) -> None:
    engine = make_engine(answer)
    assert told(section_of(engine)) == [(state, detail)]
    assert len(engine.requests) == 1


def test_a_file_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "engines.json"
    assert told(VllmSection(files=(path,))) == [
        ("error", f"{path}: there is no such file"),
        ("warning", "no engine is found"),
    ]


def test_a_token_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    target = TargetSection(url="http://a:1", token_file=tmp_path / "token")
    ((state, detail),) = told(VllmSection(targets=(target,)))
    assert state == "error"
    assert "the token cannot be read" in detail
