"""Names are text: whatever they hold, they print as one harmless line."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.documents.text import css_string, inert_cell, printable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("Acme Finance", "Acme Finance", id="a plain name stays as it is"),
        pytest.param("华夏金融", "华夏金融", id="a Chinese name stays as it is"),
        pytest.param("شركة", "شركة", id="an Arabic name stays as it is"),
        pytest.param("🏦 bank", "🏦 bank", id="an emoji stays as it is"),
        pytest.param("👩\u200d🚀", "👩\u200d🚀", id="the joiner inside an emoji stays"),
        pytest.param("<img src=x>", "<img src=x>", id="markup is left to the template to escape"),
        pytest.param("acme\u202egnp.exe", "acme[U+202E]gnp.exe", id="a direction override is shown"),
        pytest.param("a\u2066b\u2069", "a[U+2066]b[U+2069]", id="isolates are shown"),
        pytest.param("a\u200bb", "a[U+200B]b", id="a zero-width space is shown"),
        pytest.param("a\ufeffb", "a[U+FEFF]b", id="a byte order mark is shown"),
        pytest.param("a\x00b\x1b[31m", "a[U+0000]b[U+001B][31m", id="control characters are shown"),
        pytest.param("\ud800", "[U+D800]", id="a lone surrogate is shown"),
        pytest.param("\ue000", "[U+E000]", id="a private character is shown"),
        pytest.param(" a\n\tb\u2028c\u00a0d ", "a b c d", id="white space is one space, none at the ends"),
        pytest.param("e\u0301", "é", id="composed where there is a composed form"),
        pytest.param("x" + "\u0335" * 6, "x" + "\u0335" * 4 + "[U+0335]" * 2, id="heaped marks are shown"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_printable_twice_is_printable_once(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@given(st.text())
def test_printable_text_is_one_line_without_direction_marks(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
    assert shown.encode("utf-8").decode("utf-8") == shown


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        pytest.param("=1+1", "'=1+1", id="a formula"),
        pytest.param("+49", "'+49", id="a plus"),
        pytest.param("-2+3", "'-2+3", id="a minus in text"),
        pytest.param("@SUM(A1)", "'@SUM(A1)", id="an at sign"),
        pytest.param("\t=1", "'=1", id="a tab before a formula"),
        pytest.param("\r=1", "'=1", id="a carriage return before a formula"),
        pytest.param("＝1", "'＝1", id="a full-width equals sign"),
        pytest.param("1/3", "'1/3", id="a quotient that reads as a date"),
        pytest.param("1/2/3", "'1/2/3", id="what reads as a date with its year"),
        pytest.param("-1/3", "'-1/3", id="a negative quotient"),
        pytest.param("qwen/3", "qwen/3", id="a slash in a name"),
        pytest.param("0.25", "0.25", id="a decimal"),
        pytest.param("acme", "acme", id="a name"),
        pytest.param("a=1", "a=1", id="an equals sign inside"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_inert_cells(text: str, cell: str) -> None:
    assert inert_cell(text) == cell


@given(st.text())
def test_no_cell_starts_what_a_spreadsheet_runs(text: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([inert_cell(text), "end"])
    (row,) = csv.reader(io.StringIO(buffer.getvalue()))
    assert row[0][:1] not in {"=", "+", "-", "@", "\t", "\r"}
    assert row[1] == "end"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        pytest.param("acme", '"acme"', id="a name"),
        pytest.param("</style>", '"\\3c /style\\3e "', id="an end of the style sheet"),
        pytest.param('"; color: red', '"\\22 ; color: red"', id="a quote"),
        pytest.param("a\\", '"a\\5c "', id="a backslash"),
        pytest.param("名", '"名"', id="a character that needs a glyph stays visible to the font check"),
    ],
)
def test_css_strings(text: str, quoted: str) -> None:
    assert css_string(text) == quoted


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_shortened_text_is_never_longer_than_asked(text: str, most: int) -> None:
    assert len(shortened(text, most)) <= most
    assert shortened(text, most) == text or shortened(text, most).endswith("…")
