"""The first page says what CONTRACT 5 asks, in its order, in both languages."""

from __future__ import annotations

import itertools

import pytest

from sla.reports.html import report_html
from tests.reports import factories
from tests.reports.reader import Page


def page(report: dict[str, object] | None = None, code: str = "en") -> Page:
    return Page(report_html(factories.report() if report is None else report, code))


IN_ORDER = {
    "en": [
        "Contract acme-2026",
        "Version 5b6f8c1e0d9a47c3b2e1f00d9c8b7a6f5e4d3c2b1a09182736455463728190ab",
        "Provider Example Cloud",
        "Customer Acme Finance Tenants: acme",
        "Period 1 October 2026 00:00 to 1 November 2026 00:00 (not included) 744 hours",
        "Time zone Asia/Shanghai",
        "As of 3 November 2026 12:12:05",
        "Revision none: nothing has been issued",
        "Status Draft",
        "Of 6 objectives 3 were met, 2 were not, 1 could not be judged.",
        "The clock starts when the gateway receives the request’s first byte",
        "Clause Promised Delivered Counted Over / allowed Verdict Without exclusions",
        "With queueing 0.841 1.502 2.0004 48.210",
        "Without queueing 0.802 1.190 1.297 9.004",
        "Gateway log 100.00%, engines 99.86% of the period read through; 99.92% of the requests",
        "Below a coverage of 99.5%, an objective by request counts as violated.",
        "Accepted and disputed exclusions: not evaluated.",
        "Charges, credits granted, claimable and expired, claim deadline, amount with tax: not evaluated.",
        "Since the last revision: not evaluated.",
        "Fairclock 0.1.0, from 301,542 stored requests.",
        "SHA-256 of report.json:",
        "run again with the same as-of and compare the hash",
    ],
    "zh": [
        "合同 acme-2026",
        "服务方 Example Cloud",
        "统计期 2026年10月1日 00:00 起 2026年11月1日 00:00 止（不含） 共 744 小时",
        "时区 Asia/Shanghai",
        "数据截至 2026年11月3日 12:12:05",
        "修订号 无：尚未签发",
        "状态 草稿",
        "6项指标：3项达标，2项未达标，1项无法判定。",
        "起算点：服务方网关收到请求首字节之时；终点：网关将响应末字节交付网络协议栈之时。排队时间计入。",
        "条款 承诺 实测 计入数 超限/允许 结论 不适用除外时",
        "含排队 0.841 1.502 2.0004 48.210",
        "不含排队 0.802 1.190 1.297 9.004",
        "网关日志 100.00%，引擎 99.86%",
        "覆盖率低于 99.5% 时，按请求计算的指标计为未达标。",
        "已确认与有争议的除外：未评估。",
        "费用、已给付、可申领与已过期的赔付、申领截止日、含税金额：未评估。",
        "自上一修订以来：未评估。",
        "Fairclock 0.1.0，依据已存储的 301,542 个请求。",
        "report.json 的 SHA-256",
    ],
}


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_items_stand_in_the_contracts_order(code: str) -> None:
    text = page(code=code).text
    places = [text.find(item) for item in IN_ORDER[code]]
    assert -1 not in places, IN_ORDER[code][places.index(-1)]
    assert all(earlier < later for earlier, later in itertools.pairwise(places))


@pytest.mark.parametrize(
    ("met", "violated", "unjudged", "en", "zh"),
    [
        pytest.param(
            4,
            1,
            1,
            "Of 6 objectives 4 were met, 1 was not, 1 could not be judged.",
            "6项指标：4项达标，1项未达标，1项无法判定。",
            id="the contract's own example",
        ),
        pytest.param(
            1,
            0,
            0,
            "Of 1 objective 1 was met, 0 were not, 0 could not be judged.",
            "1项指标：1项达标，0项未达标，0项无法判定。",
            id="one objective",
        ),
        pytest.param(
            0,
            2,
            3,
            "Of 5 objectives 0 were met, 2 were not, 3 could not be judged.",
            "5项指标：0项达标，2项未达标，3项无法判定。",
            id="none met",
        ),
    ],
)
def test_the_sentence_counts_with_right_plurals(
    met: int, violated: int, unjudged: int, en: str, zh: str
) -> None:
    verdicts = ["met"] * met + ["violated"] * violated + ["insufficient_data", "not_measured", "not_measured"]
    objectives = [
        factories.objective("queue-cap", name=f"o{number}", verdict=verdict)
        for number, verdict in enumerate(verdicts[: met + violated + unjudged])
    ]
    assert en in page(factories.report(objectives=objectives)).text
    assert zh in page(factories.report(objectives=objectives), "zh").text


def test_the_table_of_objectives() -> None:
    assert page().table("Clause") == [
        ["Clause", "Promised", "Delivered", "Counted", "Over / allowed", "Verdict", "Without exclusions"],
        [
            "p99-peak",
            "P99 end to end ≤ 2 s during peak",
            "2.0004",
            "71,233",
            "727 / 712",
            "at risk",
            "at risk",
        ],
        [
            "p95-regular",
            "P95 end to end ≤ 1.5 s outside peak",
            "1.500",
            "225,770",
            "11,288 / 11,288",
            "met",
            "met",
        ],
        [
            "p99-inference",
            "P99 inference ≤ 0.3 s where prompt_tokens < 512",
            "0.287",
            "148,001",
            "1,377 / 1,480",
            "met",
            "met",
        ],
        ["queue-cap", "P95 queueing ≤ 0.5 s", "0.331", "296,768", "9,034 / 14,838", "met", "met"],
        ["availability", "Availability ≥ 99.9%", "99.89%", "297,320", "317 / 297", "at risk", "at risk"],
        [
            "ttft",
            "P99 time to first token ≤ 1 s where stream = true",
            "0.803",
            "61",
            "0 / 0",
            "no verdict",
            "no verdict",
        ],
    ]


@pytest.mark.parametrize(
    ("changes", "delivered"),
    [
        pytest.param({"value": 1.9999999999, "verdict": "met"}, "1.9999999999", id="just below is not 2.000"),
        pytest.param({"value": 2.0, "verdict": "met"}, "2.000", id="equal is equal"),
        pytest.param({"value": 2.000001}, "2.000001", id="a microsecond over is not 2.000"),
        pytest.param({"value": None}, "unanswered", id="a rank beyond the answered requests"),
        pytest.param({"value": None, "n": 0, "verdict": "insufficient_data"}, "–", id="nothing to rank"),
    ],
)
def test_delivered_latency(changes: dict[str, object], delivered: str) -> None:
    report = factories.report(objectives=[factories.objective("p99-peak", **changes)])
    assert page(report).table("Clause")[1][2] == delivered


@pytest.mark.parametrize(
    ("good", "bad", "delivered"),
    [
        pytest.param(998_951, 1_049, "99.895%", id="99.8951 % is never 99.9 %"),
        pytest.param(999_000, 1_000, "99.90%", id="the target itself"),
        pytest.param(
            99_900_000_000 - 1, 100_000_000 + 1, "99.899999999%", id="one request of a hundred billion short"
        ),
        pytest.param(1_000, 0, "100.00%", id="all"),
        pytest.param(999_999, 1, "99.9999%", id="all but one is not 100 %"),
        pytest.param(0, 0, "–", id="none counted"),
    ],
)
def test_delivered_availability_comes_from_the_counts(good: int, bad: int, delivered: str) -> None:
    changed = factories.objective("availability", good=good, bad=bad, n=good + bad, value=0.5)
    assert page(factories.report(objectives=[changed])).table("Clause")[1][2] == delivered


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        pytest.param("draft", "en", "at risk", id="a draft warns"),
        pytest.param("draft", "zh", "有违约风险", id="a draft warns in Chinese"),
        pytest.param("final", "en", "violated", id="an issued report states"),
        pytest.param("final", "zh", "未达标", id="an issued report states in Chinese"),
    ],
)
def test_violations_are_named_by_the_reports_status(status: str, code: str, words: str) -> None:
    report = factories.report(status=status, objectives=[factories.objective("p99-peak")])
    row = page(report, code).table({"en": "Clause", "zh": "条款"}[code])[1]
    assert row[-2:] == [words, words]


def test_only_a_draft_explains_its_wording() -> None:
    assert "Until the report is issued" in page().text
    assert "Until the report is issued" not in page(factories.report(status="final")).text


def test_what_is_accepted_but_not_evaluated_is_named_under_the_table() -> None:
    expected = "In the contract, but not evaluated by this version: exclusions, credits, prices."
    assert expected in page().text
    assert "not evaluated by this version" not in page(factories.all_met()).text


def test_an_objective_of_a_kind_not_evaluated_says_so_and_is_not_judged() -> None:
    blank = dict.fromkeys(("n", "violations", "allowed", "good", "bad", "unknown", "value", "interval"))
    speed = factories.objective(
        "queue-cap",
        **blank,
        name="speed",
        kind="rate",
        clock="output_tokens_per_second",
        percentile=None,
        threshold=80.0,
        verdict="not_measured",
        verdict_without_exclusions="not_measured",
        reason="not_evaluated",
    )
    found = page(factories.report(objectives=[speed]))
    assert found.table("Clause")[1] == [
        "speed",
        "output tokens per second ≥ 80",
        "–",
        "–",
        "– / –",
        "not evaluated",
        "not evaluated",
    ]
    assert "speed: this kind of objective is not evaluated by this version" in found.text
    assert "Of 1 objective 0 were met, 0 were not, 1 could not be judged." in found.text


@pytest.mark.parametrize(
    ("reason", "carried", "remark"),
    [
        pytest.param(
            "below_coverage_floor", 0, "queue-cap: coverage below the contract’s floor", id="coverage"
        ),
        pytest.param("insufficient_volume", 0, "queue-cap: fewer requests counted than", id="too few"),
        pytest.param(
            None,
            12,
            "queue-cap: 12 requests carried over from the month before are counted",
            id="carried over",
        ),
        pytest.param(
            "insufficient_volume",
            1,
            "minimum; 1 request carried over from the month before is counted",
            id="both",
        ),
        pytest.param(
            "a new reason", 0, "queue-cap: a new reason", id="a reason that this version has no words for"
        ),
    ],
)
def test_what_decided_other_than_the_count_is_remarked(reason: str | None, carried: int, remark: str) -> None:
    changed = factories.objective("queue-cap", reason=reason, carried=carried)
    assert remark in page(factories.report(objectives=[changed])).text


def test_one_reason_for_several_objectives_is_given_once() -> None:
    text = page(factories.empty_month()).text
    assert text.count("fewer requests counted than the contract’s minimum") == 1
    assert "p99-peak, p95-regular, p99-inference, queue-cap, availability, ttft: fewer" in text


@pytest.mark.parametrize(
    ("where", "printed"),
    [
        pytest.param({"prompt_tokens": {"at_least": 512, "below": 2048}}, "where prompt_tokens ≥ 512 and prompt_tokens < 2048", id="a range"),
        pytest.param({"models": ["a", "b"], "stream": False}, "where models = a, b and stream = false", id="names and a switch"),
        pytest.param({"completion_tokens": {"above": 9, "at_most": 10}}, "where completion_tokens > 9 and completion_tokens ≤ 10", id="the other comparisons"),
    ],
)  # fmt: skip
def test_conditions_are_written_out(where: dict[str, object], printed: str) -> None:
    changed = factories.objective("queue-cap", where=where)
    assert (
        page(factories.report(objectives=[changed])).table("Clause")[1][1]
        == f"P95 queueing ≤ 0.5 s {printed}"
    )


def test_the_contracts_clock_start_decides_the_sentence_and_the_picture() -> None:
    received, connected = page(), page(factories.report(contract={"clock": {"start": "connected"}}))
    assert "when the connection is established at the gateway" in connected.text
    assert "when the connection is established at the gateway" not in received.text


def test_a_month_in_progress_whose_clocks_change_has_its_own_hours_and_zone() -> None:
    period = {
        "month": "2026-03",
        "from": "2026-03-01T05:00:00Z",
        "to": "2026-04-01T04:00:00Z",
        "time_zone": "America/New_York",
        "hours": 743,
    }
    text = page(factories.report(period=period)).text
    assert "1 March 2026 00:00 to 1 April 2026 00:00 (not included) 743 hours" in text
    assert "As of 2 November 2026 23:12:05" in text


def test_many_tenants_are_counted_on_the_first_page_and_listed_in_the_evidence() -> None:
    names = [f"t{number}" for number in range(100)]
    text = page(factories.report(contract={"customer": {"name": "Acme", "tenants": names}})).text
    assert "Tenants: t0, t1, t2, t3, t4, t5 and 94 more" in text
    assert ", ".join(names) in text
