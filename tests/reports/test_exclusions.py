"""Exclusions and degradations on paper: who said what, how much was granted, what hangs on it."""

from __future__ import annotations

import html
import re
from fractions import Fraction

import pytest

from sla.reports.exclusions import duration
from sla.reports.html import report_html
from tests.reports import factories
from tests.reports.exclusion_cases import excluded, nothing_excluded


def text_of(report, code="en"):
    page = re.sub(r"<style>.*?</style>", "", report_html(report, code), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


@pytest.fixture(scope="module")
def pages():
    return {code: text_of(excluded(), code) for code in ("en", "zh")}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "en",
            (
                "3 accepted or automatic, 1 disputed, 1 without an answer; 1,215 requests left out. Without exclusions"
                " another verdict would hold for availability. Were one of those not agreed on accepted, another verdict"
                " would hold for p99-peak. Listed under “Exclusions and degradations”."
            ),
        ),
        (
            "zh",
            (
                "已确认或自动 3 项、有争议 1 项、未答复 1 项；剔除请求 1,215 个。不适用除外时结论不同的指标：availability。"
                "尚未达成一致者若获确认，结论不同的指标：p99-peak。"
                "详见“除外与降级”。"
            ),
        ),
    ],
)
def test_the_first_page_counts_them_and_names_what_hangs_on_them(pages, code, expected):
    assert expected in pages[code]


@pytest.mark.parametrize(
    "expected",
    [
        "accepted maintenance ex-0a1b2c3d 2026-10-11 02:00:00+08:00 to 04:00:00+08:00",
        "2026-10-04 02:00:00+08:00 to 03:00:00+08:00 (late, counts like any other time)",
        "2:00:00 of 2:00:00 cap used: 4:00:00 of 4:00:00 812 requests without it availability: at risk",
        "0:06:30.25 of 0:06:30.25 cap used: 0:06:30.25 of 0:30:00 1 request no verdict changes",
        "only requests routed to 10.0.0.3:8000",
        "disputed: Zhang Min, Acme Finance, 22 October 2026 10:00 Other customers of that carrier were served",
        "3,012 requests with it p99-peak: met",
        "none: not a clause of this contract",
        "The carrier's line was cut <b>for hours</b>",
        "no mode logged: 20 fp16: 100 int8: 5,000",
        "since 30 October 2026 10:00",
    ],
)
def test_the_table_says(pages, expected):
    assert expected in pages["en"]


def test_what_was_looked_for_in_vain_is_none_and_not_missing():
    page = text_of(nothing_excluded())
    assert "No exclusion touches this period. Every request counted." in page
    assert "exclusions (accepted, disputed, effect)" not in page
    assert "Exclusions and degradations" not in page
    unknown = text_of(factories.report())
    assert "Accepted and disputed exclusions: not evaluated. Every request counted." in unknown
    assert "exclusions (accepted, disputed, effect)" in unknown


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0:00:00"),
        (59.5, "0:00:59.5"),
        (3661, "1:01:01"),
        (Fraction(1, 1_000_000), "0:00:00.000001"),
        (360_000, "100:00:00"),
    ],
)
def test_a_length_is_printed_to_its_last_digit(seconds, expected):
    assert duration(Fraction(seconds)) == expected
