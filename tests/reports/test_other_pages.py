"""The following pages: clocks side by side, days, phases, outcomes, coverage, definitions, evidence."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import sla.reports
from sla.reports.canonical import report_json
from sla.reports.html import report_html
from tests.reports import factories
from tests.reports.reader import Page

WORDS = Path(sla.reports.__file__).parent / "words"


def page(report: dict[str, Any] | None = None, code: str = "en") -> Page:
    return Page(report_html(factories.report() if report is None else report, code))


def test_the_clocks_stand_side_by_side_with_count_and_interval() -> None:
    rows = page().table("Clock")
    assert rows == [
        ["Clock", "Requests", "P50", "P95", "P99", "95% interval of P99", "Max"],
        ["With queueing", "297,003", "0.841", "1.502", "2.0004", "1.973 to 2.031", "48.210"],
        ["Without queueing", "297,003", "0.802", "1.190", "1.297", "1.281 to 1.312", "9.004"],
        ["Queueing alone", "296,768", "0.000", "0.331", "0.981", "0.961 to 1.002", "46.880"],
    ]


@pytest.mark.parametrize(
    ("interval", "printed"),
    [
        pytest.param([1.9, 2.1], "1.900 to 2.100", id="both sides"),
        pytest.param([1.9, None], "1.900 or more", id="open above"),
        pytest.param([None, 2.1], "up to 2.100", id="open below"),
        pytest.param([None, None], "–", id="too few values for either side"),
        pytest.param(None, "–", id="none at all"),
        pytest.param([1.99999, 2.00001], "1.99999 to 2.00001", id="on its side of the threshold too"),
    ],
)
def test_intervals(interval: list[float | None] | None, printed: str) -> None:
    latency = [factories.MIXED["latency"][0] | {"p99_interval": interval}]
    assert page(factories.report(latency=latency)).table("Clock")[1][5] == printed


def test_every_day_is_in_the_table_and_a_day_without_traffic_is_a_gap() -> None:
    daily = [
        {"date": "2026-10-01", "n": 10, "p99_with_queue": 1.5, "p99_without_queue": 1.25},
        {"date": "2026-10-02", "n": 0, "p99_with_queue": None, "p99_without_queue": None},
        {"date": "2026-10-03", "n": 5, "p99_with_queue": 2.0004, "p99_without_queue": 1.0},
    ]
    found = page(factories.report(daily=daily))
    rows = [row for table in found.tables if table[0][0] == "Day" for row in table[1:]]
    assert rows == [
        ["1 Oct", "10", "1.500", "1.250"],
        ["2 Oct", "0", "–", "–"],
        ["3 Oct", "5", "2.0004", "1.000"],
    ]
    assert sum(tag == "polyline" for tag, _ in found.tags) == 4


def test_the_daily_threshold_is_that_of_the_promise_about_most_requests() -> None:
    assert "threshold of “p99-peak” (2 s, during peak)" in page().text
    everyone = factories.objective("p99-peak", name="all", during=None, threshold=3.0)
    short = factories.objective("p99-peak", name="short", during=None, where={"stream": True}, threshold=1.0)
    found = page(factories.report(objectives=[factories.objective("p99-peak"), short, everyone]))
    assert "threshold of “all” (3 s)" in found.text
    without = page(factories.report(objectives=[factories.objective("queue-cap")]))
    assert "threshold of" not in without.text


def test_the_phases_are_shown_with_seconds_and_share_and_a_negative_one_keeps_its_sign() -> None:
    breakdown = factories.MIXED["breakdown"] | {"network": {"seconds": -0.0004, "share": -0.0005}}
    rows = page(factories.report(breakdown=breakdown)).table("Phase")
    assert rows[1] == ["Network and gateway", "-0.0004", "-0.05%"]
    assert rows[-1] == ["Decode", "0.771", "82.5%"]


def test_outcomes_add_up_to_all_requests() -> None:
    rows = page().table("Outcome")
    counts = [int(row[2].replace(",", "")) for row in rows[1:]]
    assert sum(counts[:-1]) == counts[-1] == 301542
    assert [row[0] for row in rows[1:]] == [
        "ok",
        "incomplete",
        "substituted",
        "client error",
        "quota rejected",
        "capacity rejected",
        "server error",
        "timeout",
        "client aborted",
        "All requests",
    ]


def test_an_empty_month_is_printed_without_a_single_number_made_up() -> None:
    found = page(factories.empty_month())
    assert "no request was answered in full" in found.text
    assert "No day of this month has a figure." in found.text
    assert "No request of this month was measured in full." in found.text
    assert not re.search(r"\b(nan|inf|none(?!: nothing))\b", found.text, re.IGNORECASE)


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_definitions_are_printed_in_both_languages(code: str) -> None:
    verbatim = {
        "en": [
            "100 × over ≤ (100 − p) × n, in integers. Equality meets.",
            "waiting after preemption is inference and printed apart",
            "Printed numbers have as many digits as keep them on the same side of the threshold",
            "The source’s resolution is 1 ms",
        ],
        "zh": [
            "起算点：服务方网关收到请求首字节之时；终点：网关将响应末字节交付网络协议栈之时。排队时间计入。",
            "排队时间：首次调度之前在网关及引擎等待的全部时间，含各次重试；抢占后的再等待计入推理时间并单独列示。",
            (
                "超限数×100≤(100−p)×n 即达标；恰等于阈值视为达标。第 p 百分位：升序第⌈p·n/100⌉个值，不插值，未应答者排最后；"
                "置信区间仅供参考，不影响判定。"
            ),
            (
                "除外时间：在已确认除外区间（含起点、不含终点）内收到的请求，同时自分子、分母剔除；额度按时间先后扣减，"
                "超出部分照常计入。"
            ),
            "未测量：无采集记录的区间；其间探测失败者计为不可用；“无流量”须以该区间已完整采集为前提。",
        ],
    }[code]
    text = page(code=code).text
    assert [each for each in verbatim if each not in text] == []


def test_the_terms_are_printed_as_applied_the_contracts_silence_included() -> None:
    text = page().text
    assert "a month that the term cuts is judged by the part inside it" in text
    assert "every try is a request" in text
    assert (
        "600 requests per minute 2,000,000 tokens per minute “quota rejected” below it counts as bad" in text
    )
    silent = page(factories.report(contract={"quota": None})).text
    assert "none stated: “quota rejected” is not counted" in silent


def test_the_evidence_names_hash_rows_seals_version_fonts_and_how_to_verify() -> None:
    report = factories.report()
    text = page(report).text
    assert hashlib.sha256(report_json(report)).hexdigest() in text
    assert report["evidence"]["rows_sha256"] in text
    assert "744 sealed hours" in text
    assert "Noto Sans, version 2.004" in text
    assert (
        "fairclock report CONTRACT.yaml --month 2026-10 --as-of 2026-11-03T04:12:05.250000Z --format json"
        in text
    )


def test_the_bytes_of_an_issued_report_are_verified_and_its_figures_counted_again_as_a_draft() -> None:
    command = "fairclock reports verify report.json --contract CONTRACT.yaml"
    issued = page(factories.report(status="final")).text
    assert command in issued
    assert "another SHA-256" in issued
    assert "Its SHA-256 must equal the one above" not in issued
    assert command not in page(factories.report()).text


def test_what_this_version_does_not_evaluate_is_listed_until_it_is_there() -> None:
    listed = "error budgets exclusions (accepted, disputed, effect) degradations and quality levels incidents"
    assert listed in page().text
    text = page(factories.report(error_budgets=[{"objective": "p99-peak"}])).text
    assert "does not evaluate: exclusions (accepted, disputed, effect) degradations" in text


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    for code in ("en", "zh"):
        html = report_html(factories.hostile(), code)
        tags = Page(html).tags
        assert not {"script", "img", "link", "iframe", "object", "a", "image", "use"} & {
            tag for tag, _ in tags
        }
        assert not [
            attributes
            for _, attributes in tags
            if {"src", "href", "onerror", "onload", "xlink:href"} & set(attributes)
        ]
        assert "url(" not in html
        assert "default-src 'none'" in html


def test_hostile_names_print_as_they_are() -> None:
    found = page(factories.hostile())
    assert "</style><script>alert(1)</script>{{ 7 * 7 }}" in found.text
    assert "Customer <img src=x onerror=alert(1)>" in found.text
    assert "Provider \"'; DROP TABLE requests; --" in found.text
    assert "acme[U+202E]gnp.exe" in found.text
    assert "名" * 200 in found.text
    assert "n" * 200 in found.text
    assert "not evaluated by this version: objectives[2].<b>rate</b>." in found.text


def test_a_simulation_says_so_on_the_screen_and_in_the_margin_of_every_page() -> None:
    html = report_html(factories.simulated(), "zh")
    assert "模拟数据——本报告不涉及任何真实服务" in Page(html).text
    assert '@bottom-center { content: "模拟数据——本报告不涉及任何真实服务"' in html
    assert "SIMULATED" not in report_html(factories.report(), "en")


def _keys(tree: dict[str, Any], prefix: str = "") -> dict[str, str | dict[str, str]]:
    found: dict[str, str | dict[str, str]] = {}
    for key, value in tree.items():
        if isinstance(value, dict) and not set(value) <= {"one", "other"}:
            found |= _keys(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found


def _fields(words: str | dict[str, str]) -> set[str | None]:
    texts = words.values() if isinstance(words, dict) else [words]
    return {field for text in texts for _, field, _, _ in Formatter().parse(text) if field}


def test_both_languages_have_the_same_keys_and_fields() -> None:
    english, chinese = (
        _keys(tomllib.loads((WORDS / f"{code}.toml").read_text(encoding="utf-8"))) for code in ("en", "zh")
    )
    assert set(english) == set(chinese)
    assert {key for key in english if _fields(english[key]) != _fields(chinese[key])} == set()


def test_no_words_are_left_that_nothing_prints() -> None:
    english = _keys(tomllib.loads((WORDS / "en.toml").read_text(encoding="utf-8")))
    folder = WORDS.parent
    sources = "\n".join(
        path.read_text(encoding="utf-8") for path in [*folder.rglob("*.py"), *folder.glob("templates/*.j2")]
    )
    computed = tuple(re.findall(r'f"([a-z_]+\.[a-z_.]*)\{', sources))
    assert "coverage.floor_" in computed
    unused = [key for key in english if f'"{key}"' not in sources and not key.startswith(computed)]
    assert unused == []


def test_the_percentile_curve_has_a_line_a_clock_and_its_figures_in_a_table() -> None:
    curve = [
        {"percentile": 50, "with_queue": 0.8, "without_queue": 0.75},
        {"percentile": 99, "with_queue": 2.0004, "without_queue": 1.3},
        {"percentile": 99.9, "with_queue": 20.5, "without_queue": 1.9},
    ]
    found = page(factories.report(percentile_curve=curve, daily=[]))
    rows = [row for table in found.tables if table[0][0] == "Percentile" for row in table[1:]]
    assert rows == [
        ["P50", "0.800", "0.750"],
        ["P99", "2.0004", "1.300"],
        ["P99.9", "20.500", "1.900"],
    ]
    assert sum(tag == "polyline" for tag, _ in found.tags) == 2
    assert "P90" in found.text, "the axis is marked at each tenth"


BURNT = {
    "objective": "p99-peak", "kind": "requests", "allowed": 10, "spent": 12, "remaining": -2, "remaining_ratio": -0.2,
    "is_exhausted": True, "exhausted_at": "2026-10-02T09:00:00Z", "part": None, "carried": 1,
    "daily": [{"date": f"2026-10-{day:02d}", "spent": spent} for day, spent in ((1, 3), (2, 8), (3, 0))],
}  # fmt: skip


def test_a_budgets_burn_down_turns_red_below_zero_and_its_figures_are_in_a_table() -> None:
    found = page(factories.report(error_budgets=[BURNT], daily=[]))
    titles = [title for title in re.findall(r"<title>(.*?)</title>", _html([BURNT])) if "budget" in title]
    assert titles == ["Share of the budget of p99-peak left at the end of each day; at last -20.0%"]
    assert sum(tag == "polyline" for tag, _ in found.tags) == 2
    rows = next(table for table in found.tables if table[0] == ["Day", "p99-peak"])
    assert rows[1:] == [["1 Oct", "3"], ["2 Oct", "8"], ["3 Oct", "0"]]


DAILY = [{"date": f"2026-10-{day:02d}", "spent": day % 3} for day in range(1, 32)]


@pytest.mark.parametrize("budgets", [1, 5])
def test_what_was_spent_on_a_day_stands_beside_the_days_figures(budgets: int) -> None:
    spent = [BURNT | {"objective": f"p99-{number}", "daily": DAILY} for number in range(budgets)]
    found = page(factories.report(error_budgets=spent))
    (rows,) = [table for table in found.tables if table[0][0] == "Day"]
    assert rows[0] == ["Day", "Requests", "P99 by day", "What was spent on each day, in requests"]
    assert rows[1] == ["With queueing", "Without queueing", *(f"p99-{number}" for number in range(budgets))]
    assert len(rows) == 2 + 31
    assert rows[2] == ["1 Oct", "9,057", "1.837", "1.255", *(["1"] * budgets)]
    assert rows[-1] == ["31 Oct", "10,767", "1.899", "1.219", *(["1"] * budgets)]


@pytest.mark.parametrize(
    "budgets",
    [
        pytest.param([BURNT], id="are of other days"),
        pytest.param(
            [BURNT | {"objective": f"p99-{number}", "daily": DAILY} for number in range(6)], id="are too many"
        ),
    ],
)
def test_budgets_have_a_table_of_their_own_where_they(budgets: list[dict[str, Any]]) -> None:
    found = page(factories.report(error_budgets=budgets))
    heads = [table[0] for table in found.tables if table[0][0] == "Day"]
    assert ["Day", *(each["objective"] for each in budgets)] in heads
    assert ["Day", "Requests", "With queueing", "Without queueing"] in heads


def test_days_that_are_still_to_come_have_no_point_and_no_figure() -> None:
    report = factories.report(error_budgets=[BURNT], daily=[]) | {"as_of": "2026-10-02T03:00:00Z"}
    rows = next(table for table in page(report).tables if table[0] == ["Day", "p99-peak"])
    assert rows[1:] == [["1 Oct", "3"], ["2 Oct", "8"], ["3 Oct", "–"]]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"kind": "time", "daily": None, "carried": None}, id="one of time"),
        pytest.param({"allowed": 0}, id="one that allows nothing"),
    ],
)
def test_a_budget_without_days_or_without_anything_to_spend_has_no_chart(changes: dict[str, Any]) -> None:
    assert (
        "<svg" not in _html([BURNT | changes]).split("How the budgets were used up")[0].rpartition("<h2")[2]
    )
    assert "How the budgets were used up" not in _html([BURNT | changes])


def _html(budgets: list[dict[str, Any]]) -> str:
    return report_html(factories.report(error_budgets=budgets, daily=[]), "en")


def test_incidents_that_nobody_looked_into_are_a_line_an_objective() -> None:
    incident = {
        "id": "inc-1", "objective": "ttft", "from": "2026-10-05T01:00:00Z", "to": "2026-10-05T01:10:00Z", "ongoing": False,
        "requests": 100, "bad": 20, "bad_minutes": 5, "worst": {"value": None, "clock": None, "unanswered": None,
        "minute": {"bad": 9, "requests": 10}}, "tenants_hit": None, "evidence": None,
    }  # fmt: skip
    others = [
        incident,
        incident | {"id": "inc-2", "from": "2026-10-07T01:00:00Z", "to": "2026-10-07T01:00:30Z", "bad": 31},
    ]
    rule = {"least_bad": 5, "good_minutes": 5, "silent_minutes": 60, "unmeasured_minutes": 360}
    found = page(factories.report(incidents=others, incident_rule=rule))
    rows = next(table for table in found.tables if table[0][1:2] == ["Incidents"])
    assert rows[1:] == [["ttft", "2", "51 of 200", "31", "0:10:30", "5 Oct to 7 Oct"]]


def test_time_that_nobody_read_is_printed_beside_the_share_that_was() -> None:
    report = factories.report(coverage={"gateway": 1.0, "engine": 0.75, "joined": None})
    rows = page(report).table("Source")
    assert rows[1][2:] == ["100.00%", "0:00:00"]
    assert rows[2][2:] == ["75.00%", "186:00:00"], "a quarter of 744 hours"


def test_every_part_of_the_report_says_what_it_was_computed_from() -> None:
    report = factories.report()
    rows = page(report).table("Part of this report")
    keys = {key for row in rows[1:] for key in row[1].split(", ")}
    assert keys <= set(report) | {"percentile_curve"}
    assert {"objectives", "latency", "daily", "error_budgets", "amounts", "changes"} <= keys
