"""What fairclock doctor says of the engines' series."""

from __future__ import annotations

from fairclock.cli.diagnosis.series import series_findings
from fairclock.store.engine_inspection import EngineFigures


def found(**changes):
    return [(each.state, each.detail) for each in series_findings(EngineFigures(**changes))]


def test_nothing_scraped_is_nothing_to_say():
    assert found() == []


def test_a_name_that_nobody_has_heard_of_is_listed():
    names = (("brand_new", 2), ("vllm:brand_new", 1), ("vllm:prompt_tokens", 3), ("http_requests_total", 3))
    assert found(names=names) == [
        (
            "ok",
            "4 names, 2 not in the vocabulary, kept as they are: brand_new (of 2), vllm:brand_new (of 1)",
        )
    ]


def test_names_of_the_vocabulary_are_counted():
    assert found(names=(("vllm:prompt_tokens", 3),)) == [("ok", "1 name, all of the vocabulary")]


def test_what_is_dropped_or_suspect_is_a_warning():
    states = found(
        names=(("m", 1),), dropped=(("a:8000", 7),), suspect=(("a:8000", "1", "it cannot be", 3), ("b", "", "nor this", 1))
    )  # fmt: skip
    assert [state for state, _ in states] == ["ok", "warning", "warning", "warning"]
    assert "a:8000" in states[1][1]
    assert "7 samples" in states[1][1]
    assert states[2][1] == "a:8000, engine 1: it cannot be (3 scrapes of the hour before the newest)"
    assert states[3][1] == "b: nor this (1 scrape of the hour before the newest)"
