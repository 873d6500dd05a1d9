"""Each language writes numbers, shares, dates and plurals in its own way, from one set of keys."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from fairclock.documents.languages import Language, load_language
from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

CATALOGUES = {
    "en": 'hello = "Hello, {name}"\n[things]\nn = { one = "{n} thing", other = "{n} things" }\nother = "else"\n',
    "zh": 'hello = "您好，{name}"\n[things]\nn = { other = "{n} 件" }\nother = "其他"\n',
}


@pytest.fixture
def languages(tmp_path: Path) -> dict[str, Language]:
    for code, text in CATALOGUES.items():
        (tmp_path / f"{code}.toml").write_text(text, encoding="utf-8")
    return {code: load_language(code, tmp_path) for code in CATALOGUES}


@pytest.mark.parametrize(
    ("code", "key", "values", "text"),
    [
        pytest.param("en", "hello", {"name": "<b>"}, "Hello, <b>", id="a field is put in as it is"),
        pytest.param("zh", "hello", {"name": "云"}, "您好，云", id="in Chinese too"),
        pytest.param("en", "things.n", {"n": 1}, "1 thing", id="one thing"),
        pytest.param("en", "things.n", {"n": 0}, "0 things", id="no things are plural"),
        pytest.param("en", "things.n", {"n": 1200}, "1,200 things", id="a number in words is grouped"),
        pytest.param("zh", "things.n", {"n": 1}, "1 件", id="Chinese has one form"),
        pytest.param("en", "things.other", {}, "else", id="a key called other is no plural form"),
    ],
)
def test_words(
    languages: dict[str, Language], code: str, key: str, values: dict[str, object], text: str
) -> None:
    assert languages[code].text(key, **values) == text


@pytest.mark.parametrize(
    ("ratio", "thresholds", "text"),
    [
        pytest.param(Fraction(1), [], "100.00%", id="all of it is 100 %"),
        pytest.param(Fraction(999_999, 1_000_000), [], "99.9999%", id="almost all of it is not"),
        pytest.param(Fraction(1, 10**6), [], "0.0001%", id="almost nothing is not nothing"),
        pytest.param(Fraction(0), [], "0.00%", id="nothing is nothing"),
        pytest.param(Fraction(998_951, 10**6), [Fraction(999, 1000)], "99.895%", id="99.8951 % of 99.9 %"),
    ],
)
def test_percentages(
    languages: dict[str, Language], ratio: Fraction, thresholds: list[Fraction], text: str
) -> None:
    assert languages["en"].percent(ratio, thresholds=thresholds, least=2) == text
    assert languages["zh"].percent(ratio, thresholds=thresholds, least=2) == text


def test_dates_are_written_out(languages: dict[str, Language]) -> None:
    noon = datetime(2026, 10, 1, 12, 0, 5, tzinfo=UTC)
    assert languages["en"].day(date(2026, 10, 1)) == "1 October 2026"
    assert languages["zh"].day(date(2026, 10, 1)) == "2026年10月1日"
    assert languages["en"].month(date(2026, 10, 1)) == "October 2026"
    assert languages["zh"].month(date(2026, 10, 1)) == "2026年10月"
    assert languages["en"].instant(noon) == "1 October 2026 12:00:05"
    assert languages["zh"].minute(noon) == "2026年10月1日 12:00"


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"language: unknown language \(de\); choose en or zh"):
        load_language("de", tmp_path)
