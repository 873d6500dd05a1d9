"""How promises by interval and by window are printed, and those judged for one part of the traffic."""

from __future__ import annotations

import pytest

from sla.reports.html import language_of
from sla.reports.objectives import objective_rows
from sla.reports.table import report_csv
from tests.reports.factories import objective, report

TIMED = {"unit": "intervals", "part": None, "percentile": None, "clock": None, "interval": None}
DOWNTIME = objective(
    "availability",
    **TIMED,
    name="uptime",
    formula="downtime",
    threshold=0.995,
    interval_length=60.0,
    bad_above=0.05,
    consecutive=5,
    n=44640,
    violations=300,
    allowed=223,
    good=44340,
    bad=300,
    value=0.99328,
)
MEAN = objective(
    "availability",
    **TIMED,
    name="five-minute",
    formula="mean_interval_error",
    interval_length=300.0,
    n=8928,
    violations=12,
    allowed=None,
    value=0.9989999999,
)
SPEED = objective(
    "ttft",
    name="speed",
    kind="rate",
    unit="windows",
    part={"model": "m<1>", "region": "cn-north"},
    clock="output_tokens_per_second",
    percentile=None,
    threshold=80.0,
    window=300.0,
    statistic="p50",
    windows_met=0.99,
    n=1,
    value=79.99996,
    interval=None,
    where=None,
)
WINDOWED = objective("p99-peak", unit="windows", window=300.0, combine="mean", n=2, value=None)


def rows(*objectives, language="en", **contract):
    return objective_rows(report(objectives=list(objectives), contract=contract), language_of(language))


@pytest.mark.parametrize(
    ("language", "applies", "counted", "delivered"),
    [
        (
            "en",
            [
                "by time, in intervals of 60 s",
                "an interval is bad above 5% errors",
                "5 bad intervals or more in a row are downtime",
            ],
            "44,640 intervals",
            "99.33%",
        ),
        (
            "zh",
            [
                "按时间计，每 60 s 为一个区间",
                "错误率高于 5% 的区间为不可用",
                "连续 5 个及以上不可用区间计为停机",
            ],
            "44,640 个区间",
            "99.33%",
        ),
    ],
)
def test_downtime_says_what_an_interval_is(language, applies, counted, delivered):
    (row,) = rows(DOWNTIME, language=language)
    assert (row.applies, row.counted, row.delivered) == (applies, counted, delivered)


def test_a_mean_is_printed_from_its_value_and_stays_on_its_side():
    (row,) = rows(MEAN)
    assert row.delivered.startswith("99.8999")
    assert (row.over, row.allowed) == ("12", "–")


def test_a_speed_names_its_statistic_its_share_and_its_part():
    (row,) = rows(SPEED)
    assert row.name == "speed, m<1>, cn-north"
    assert row.counted == "1 window"
    assert row.delivered == "79.99996"
    assert row.applies[:4] == [
        "in each window of 300 s",
        "the window’s P50 (of speeds, from the slowest), in 99% of the windows",
        "model m<1> alone",
        "region cn-north alone",
    ]


def test_windows_are_combined_in_words():
    (row,) = rows(WINDOWED)
    assert row.applies[:2] == ["in each window of 300 s", "the mean of the windows’ percentiles counts"]
    assert row.is_unanswered


def test_a_version_is_named_where_there_are_several():
    versions = [{"version_sha256": digit * 64, "from": "x", "to": "y"} for digit in "ab"]
    judged = DOWNTIME | {"version_sha256": "b" * 64}
    assert rows(judged, versions=versions)[0].applies[-1] == "under version bbbbbbbbbbbb"
    assert rows(judged, versions=versions[:1])[0].applies[-1] != "under version bbbbbbbbbbbb"


def test_the_csv_tells_parts_apart():
    text = report_csv(report(objectives=[SPEED])).decode("utf-8-sig")
    assert 'objectives,"speed, m<1>, cn-north",value,79.99996' in text
