"""The language of scripts: mistakes are told with file and line, and what does not hold with what was found."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.scripted.contracts import GOOD, changed
from tests.scripted.expecting import differences
from tests.scripted.language import ScriptError, Statement, read_script
from tests.scripted.playing import Play
from tests.scripted.quantities import duration_us, instant, interval, value

PATH = Path("tests/scripted/month.test")
END = "\nexpect exit 0\n"


class EmptyStore:
    """A store that holds nothing: scripts with mistakes do not come as far as to ask it."""

    def rows(self, query: object) -> list[tuple[str]]:
        del query
        return []


MISTAKES = {
    "a word that is no statement": ("contract\nlod 2026-03-02 10:00: ok", 2, "is no statement (lod)"),
    "a tab": ("contract\n\tclock: {start: received}", 2, "is indented by a tab"),
    "an indented line that belongs to nothing": ("# first\n  load", 2, "belongs to no statement"),
    "a clause twice": ("contract\n  term: {}\n  term: {}", 1, "has the clause term twice"),
    "a clause that is not there": ("contract without quota", 1, "has no clause quota"),
    "a version of nothing": ("version", 1, "follows no contract"),
    "an unknown fact of a request": ("contract\n\nload 2026-03-02 10:00: okay", 3, "known of requests (okay)"),
    "a time that gateways cannot log": ("contract\nload 2026-03-02 10:00: end_to_end 1us", 2, "finer than"),
    "a day that is none": ("contract\nload 2026-02-30 10:00: ok", 2, "day is out of range"),
    "a local time that comes twice": (
        "contract\n  term: {from: 2026-01-01, to: 2026-12-31, time_zone: Europe/Berlin}\nload 2026-10-25 02:30: ok",
        3,
        "comes twice or never in Europe/Berlin",
    ),
    "an interval that ends before it begins": ("covers 2026-03-02 .. 2026-03-01", 1, "ends before it begins"),
    "a month that is none": ("contract\nevaluate March", 2, "is not a month (March)"),
    "a moment that nobody remembers": ("contract\nevaluate 2026-03 as of then", 2, "names nothing known ('then')"),
    "an exclusion without a name": ("contract\nexclude flood: 2026-03-01 .. 2026-03-02", 2, "is not CLAUSE as NAME"),
    "an answer to no exclusion": ("contract\naccept disks", 2, "names nothing known ('disks')"),
    "an expectation of nothing": ("contract", 2, "follows no evaluate and no lint"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "problem"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_file_and_line(text: str, line: int, problem: str, tmp_path: Path) -> None:
    play = Play(path=PATH, store=EmptyStore(), folder=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(ScriptError) as said:
        play.run(read_script(PATH, text + END))
    assert str(said.value).startswith(f"{PATH}:{line}: ")
    assert problem in str(said.value)


def test_a_script_that_expects_nothing_is_a_mistake() -> None:
    with pytest.raises(ScriptError, match="cannot fail"):
        read_script(PATH, "contract\n")


def test_comments_and_lines_that_go_on_are_read() -> None:
    text = "# a month\nload 2026-03-02 10:00 x 2: ok,  # two\n  end_to_end 2s, id a#b\n\nexpect exit 0\n"
    load, expect = read_script(PATH, text)
    assert (load.line, load.head) == (2, "2026-03-02 10:00 x 2")
    assert load.facts == ["ok", "end_to_end 2s", "id a#b"]
    assert (expect.line, expect.words) == (5, "exit 0")


def test_clauses_replace_those_of_the_good_contract() -> None:
    text = changed(
        GOOD, "  clock: {start: connected}\n  quota:\n    requests_per_minute: 5\n", without="term, title"
    )
    assert "clock: {start: connected}\n" in text
    assert "start: received" not in text
    assert text.endswith("quota:\n  requests_per_minute: 5\n")
    assert "term:" not in text
    assert "title:" not in text


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("12", 12), ("98.5%", Fraction(985, 1000)), ("985/1000", Fraction(197, 200)), ("1.5s", Fraction(3, 2)),
        ("3us", Fraction(3, 1_000_000)), ("2678.4", Fraction(13392, 5)), ("none", None),
    ],
)  # fmt: skip
def test_expected_figures_are_exact(text: str, exact: object) -> None:
    assert value(text) == exact


@pytest.mark.parametrize("text", ["1,5s", "s", "about 3", "1.0000001s", ""])
def test_a_figure_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a number|finer than"):
        value(text)


def test_instants_are_local_unless_an_offset_follows() -> None:
    noon = datetime(2026, 3, 2, 4, tzinfo=UTC)
    for text in (
        "2026-03-02 12:00",
        "2026-03-02 04:00 Z",
        "2026-03-02 04:00:00.000 Z",
        "2026-03-02 05:00 +01:00",
    ):
        assert instant(text, "Asia/Shanghai") == noon
    assert interval("2026-12", "UTC") == (datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    assert duration_us("1.5h") == 5_400_000_000


REPORT: dict[str, Any] = {
    "objectives": [
        {"name": "p99", "part": None, "verdict": "met", "verdict_without_exclusions": "met", "violations": 10,
         "n": 1000, "value": 1.2, "reason": None},
        {"name": "by", "part": {"model": "a"}, "verdict": "violated", "violations": 1, "n": 1, "value": None},
        {"name": "by", "part": {"model": "b"}, "verdict": "met", "violations": 0, "n": 1, "value": 0.1},
    ],
    "coverage": {"gateway": 30 / 31, "engine": 0.0, "joined": None},
    "not_evaluated": ["prices"],
}  # fmt: skip

HOLD = (
    "p99: met, n 1000, over 10, value 1.2s, reason none, without exclusions met",
    "by of a: violated, value none",
    "by of b: value 100ms",
    "coverage: gateway 30/31, engine 0, joined none",
    "not_evaluated: prices",
    "exit 1",
)
DO_NOT = {
    "p99: violated": "p99: expected 'violated', found 'met'",
    "p99: n 999": "p99 n: expected 999, found 1000",
    "p99: value 1.2000001s": None,
    "p99: value 1.200001s": "p99 value: expected 1200001/1000000 (1.200001), found 1.2",
    "p99: value none": "p99 value: expected None, found 1.2",
    "p99: reason counted": "p99 reason: expected 'counted', found None",
    "p99: without exclusions violated": "p99 without exclusions violated: expected 'violated', found 'met'",
    "by: n 1": "by: expected one row, found 2",
    "by of c: n 1": "by of c: expected one row, found 0",
    "coverage: joined 0": "coverage joined: expected 0, found None",
    "not_evaluated: credits": "expected credits among what is not evaluated, found ['prices']",
    "exit 0": "exit: expected 0, found 1",
    "refused: term": "expected exit 2 and 'term', found 1: ",
}


def _differences(words: str) -> list[str]:
    statement = Statement(line=1, keyword="expect", words=words)
    return differences(statement, code=1, out=json.dumps(REPORT), err="", names={})


@pytest.mark.parametrize("words", HOLD)
def test_what_holds_says_nothing(words: str) -> None:
    assert _differences(words) == []


@pytest.mark.parametrize(("words", "sentence"), DO_NOT.items(), ids=DO_NOT)
def test_what_does_not_hold_says_what_was_found(words: str, sentence: str | None) -> None:
    if sentence is None:
        with pytest.raises(ValueError, match="finer than a microsecond"):
            _differences(words)
    else:
        assert _differences(words) == [sentence]


@pytest.mark.parametrize("words", ["p99: on 3", "p99", "exclusion disks: late"])
def test_an_expectation_that_cannot_be_read_is_a_mistake(words: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        _differences(words)
