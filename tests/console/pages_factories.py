"""Readings of every page, made by hand: an ordinary day, an empty one, and names that try to break out."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from fairclock.console.readings.models.base import Anchor, Basis, Lack, Measured, Part, Range, RangeName
from fairclock.console.readings.models.cost import (
    ChargeLine,
    ContractCharges,
    CostBookFigures,
    CostPage,
    EngineCostFigures,
)
from fairclock.console.readings.models.exclusions import (
    CapUse,
    ChangePage,
    ChangeRow,
    ClauseRule,
    ExclusionPage,
    ExclusionProposed,
    ExclusionRow,
)
from fairclock.console.readings.models.exclusions import Mark as DoubtMark
from fairclock.console.readings.models.figures import (
    AlertFigures,
    BudgetFigures,
    Burn,
    BurnDown,
    BurnDownPoint,
    ClockFigures,
    CoverageFigures,
    CreditFigures,
    GaugePoint,
    GaugeSeries,
    LatencyPoint,
    OutcomeCount,
    PhaseFigures,
    PromiseFigures,
    TrafficFigures,
)
from fairclock.console.readings.models.incidents import IncidentFigures, IncidentPage
from fairclock.console.readings.models.overview import ContractCard, Overview, StandingFigures, State
from fairclock.console.readings.models.probes import ProbeComparison, ProbePage, ProbeTarget
from fairclock.console.readings.models.reports import IssuedReport, ReportMonth, ReportPage
from fairclock.console.readings.models.requests import (
    EngineSequence,
    Mark,
    RequestClock,
    RequestList,
    RequestPage,
    RequestPhase,
    RequestRow,
)
from fairclock.console.readings.models.sources import DeadLetters, Gap, SourcePage, SourceRow
from fairclock.console.readings.models.tenant import TenantContract, TenantPage

NOW = datetime(2026, 10, 12, 1, 40, tzinfo=UTC)
"""A Monday, 9:40 in Shanghai."""
START = NOW - timedelta(hours=24)
MONTH = (datetime(2026, 9, 30, 16, tzinfo=UTC), datetime(2026, 10, 31, 16, tzinfo=UTC))
ZONE = "Asia/Shanghai"
HOSTILE = "<script>alert(1)</script>\u202egnp.\u2066 «" + "שלום مرحبا 云帆 🏦 " + "W" * 150
SHA = "5b6f8c1e0d9a47c3b2e1f00d9c8b7a6f5e4d3c2b1a09182736455463728190ab"


def measured(anchor: str = "clocks", basis: str = "rows") -> Measured:
    return Measured(anchor=Anchor(anchor), basis=Basis(basis), as_of=NOW)


def day_range() -> Range:
    return Range(name=RangeName.DAY, starts_at=START, ends_at=NOW, elapsed_to=NOW, time_zone=ZONE)


def month_range() -> Range:
    return Range(
        name=RangeName.MONTH,
        starts_at=MONTH[0],
        ends_at=MONTH[1],
        elapsed_to=NOW,
        month="2026-10",
        time_zone=ZONE,
    )


def empty_range() -> dict[str, Any]:
    return {"range": day_range(), "as_of": NOW}


def coverage() -> CoverageFigures:
    return CoverageFigures(
        gateway_ratio=1.0, engine_ratio=0.998611, joined_ratio=0.99921, measured=measured("coverage")
    )


def alerts(name: str = "p99-peak") -> tuple[AlertFigures, ...]:
    return (
        AlertFigures(
            id="a1",
            state="firing",
            severity="critical",
            contract="acme-2026",
            objective=name,
            since=NOW - timedelta(minutes=11),
            summary={
                "en": "p99-peak is at risk: its budget burns 14 times as fast as it may.",
                "zh": "p99-peak 有违约风险：预算正以允许速度的 14 倍消耗。",
            },
            measured=measured("alerts", "notes"),
        ),
        AlertFigures(
            id="a2",
            state="frozen",
            severity="warning",
            contract=None,
            objective=None,
            since=NOW - timedelta(hours=3),
            summary={
                "en": "GPU 3 of host gpu-07 is throttled by heat.",
                "zh": "gpu-07 主机的 3 号 GPU 因高温降频。",
            },
            measured=measured("alerts", "notes"),
        ),
    )


def _standing(
    objective: str, verdict: str | None, left: float, burn: float, counts: tuple[int, int]
) -> StandingFigures:
    return StandingFigures(
        objective=objective, kind="latency", part=None, verdict=verdict, n=80_000, over=counts[0], allowed=counts[1],
        unknown=12, excluded=0, remaining_ratio=left,
        burns=(Burn(window_seconds=3600, n=900, spent=9, rate=burn),),
    )  # fmt: skip


def _card(contract: str, customer: str, state: State, standings: Any, **changes: Any) -> ContractCard:
    given: dict[str, Any] = {
        "contract": contract,
        "title": {"en": "Inference service agreement", "zh": "推理服务协议"},
        "customer": customer,
        "tenants": (customer,),
        "time_zone": ZONE,
        "month": "2026-10",
        "month_starts_at": MONTH[0],
        "month_ends_at": MONTH[1],
        "state": state,
        "standings": standings,
        "worst_burn": 0.4,
        "requests": 101_542,
        "queue_share_ratio": 0.0941,
        "coverage": coverage(),
        "firing_alerts": 0,
        "ongoing_incidents": 0,
        "counted_to": NOW,
        "evaluated_as_of": NOW - timedelta(minutes=9),
        "measured": measured("budgets", "slices"),
    }
    return ContractCard(**(given | changes))


def overview() -> Overview:
    return Overview(
        range=month_range(),
        as_of=NOW,
        contracts=(
            _card(
                "yunfan-2026", "云帆金融", State.AT_RISK,
                (_standing("p99-peak", "violated", -0.62, 14.2, (1153, 712)), _standing("availability", "met", 0.4, 0.6, (20, 34))),
                worst_burn=14.2, firing_alerts=1, ongoing_incidents=1, queue_share_ratio=0.3127,
                title={"en": "Inference for risk labels", "zh": "风险标签推理服务"},
            ),
            _card(
                "acme-2026", "Acme Finance", State.VIOLATED, (_standing("availability", "violated", -0.07, 0.2, (320, 300)),)
            ),
            _card(
                "harbour-logistics", "Harbour Logistics", State.UNKNOWN, (), worst_burn=None, requests=None,
                queue_share_ratio=None, coverage=None, counted_to=None, evaluated_as_of=None,
            ),
            _card("lumen-search", "Lumen Search", State.MET, (_standing("ttft", "met", 0.83, 0.31, (8, 48)),)),
            _card("borealis-legal", HOSTILE, State.NOT_BEGUN, (), month=None, worst_burn=0.0, requests=0),
        ),
        alerts=alerts(),
    )  # fmt: skip


def _latency() -> tuple[LatencyPoint, ...]:
    points = []
    for index in range(96):
        at = START + timedelta(minutes=15 * index)
        busy = math.exp(-(((index - 80) / 7) ** 2)) + 0.4 * math.exp(-(((index - 30) / 9) ** 2))
        without = 0.81 + 0.12 * math.sin(index / 6) + 0.2 * busy
        silent = 50 <= index < 55
        points.append(
            LatencyPoint(
                starts_at=at,
                ends_at=at + timedelta(minutes=15),
                n=0 if silent else int(200 + 900 * busy),
                p99_with_queue_seconds=None
                if silent
                else round(without + 3.4 * busy + 0.04 * (index % 5), 6),
                p99_without_queue_seconds=None if silent else round(without, 6),
            )
        )
    return tuple(points)


CLOCKS = (
    ("end_to_end", 0.841, 1.502, 2.0004, (1.973, 2.031), 48.21),
    ("excluding_queue", 0.802, 1.19, 1.297, (1.281, 1.312), 9.004),
    ("queue", 0.000096, 0.33127, 0.98112, (0.9612, 1.00217), 46.88),
    ("inference", 0.771233, 1.151, 1.248112, (1.23, 1.26), 8.901),
    ("prefill", 0.0385, 0.12, 0.19, (0.18, 0.2), 1.002),
    ("decode", 0.7305, 1.09, 1.18, (1.17, 1.19), 8.441),
    ("outside", 0.031, 0.366, 1.021, (1.001, 1.044), 46.97),
    ("time_to_first_token", 0.0966, 0.46, 1.1, (1.08, None), 47.0),
    ("time_per_output_token", 0.0182, 0.0244, 0.0291, (0.0289, 0.0293), 0.31),
)
PHASES = (
    ("network", 0.011, 0.0118),
    ("frontend", 0.019, 0.0203),
    ("queue", 0.288, 0.2541),
    ("prefill", 0.046, 0.0492),
    ("decode", 0.771, 0.6646),
)
OUTCOMES = {
    "ok": 297003, "incomplete": 61, "substituted": 0, "client_error": 1204, "quota_rejected": 1711,
    "capacity_rejected": 138, "server_error": 96, "timeout": 22, "client_aborted": 1307,
}  # fmt: skip


def traffic(*, admitted: int | None = None) -> TrafficFigures:
    counts = OUTCOMES if admitted is None else dict.fromkeys(OUTCOMES, 0)
    total = sum(counts.values())
    return TrafficFigures(
        admitted=total,
        outcomes=tuple(
            OutcomeCount(outcome=name, count=count, share_ratio=count / total if total else None)
            for name, count in counts.items()
        ),
        unconfirmed=211 if total else 0,
        quarantined=17 if total else 0,
        ambiguous=4 if total else 0,
        retried=1290 if total else 0,
        is_simulated=bool(total),
        measured=measured("outcomes"),
    )


def _promise(objective: str, **changes: Any) -> PromiseFigures:
    given: dict[str, Any] = {
        "contract": "acme-2026", "version_sha256": SHA, "objective": objective, "kind": "latency",
        "clause": "objectives[0]", "clock": "end_to_end", "percentile": 99.0, "threshold": 2.0,
        "threshold_unit": "seconds", "during": None, "part": None, "unit": "requests", "n": 71233, "over": 727.0,
        "allowed": 712.0, "unknown": 0, "value": 2.0004, "value_interval": (1.961, 2.044), "verdict": "violated",
        "verdict_without_exclusions": "violated", "reason": None, "is_issued": False, "measured": measured("promises"),
    }  # fmt: skip
    return PromiseFigures(**(given | changes))


def promises() -> tuple[PromiseFigures, ...]:
    return (
        _promise("p99-peak", during="peak"),
        _promise(
            "p95-regular", percentile=95.0, threshold=1.5, during="not peak", n=225770, over=11288.0, allowed=11288.0,
            value=1.5, verdict="met", verdict_without_exclusions="violated",
        ),
        _promise("queue-cap", clock="queue", percentile=95.0, threshold=0.5, over=9034.0, allowed=14838.0, value=0.33127,
                 verdict="met", verdict_without_exclusions="met", part=Part(model="deepseek-v4")),
        _promise(
            "availability", kind="availability", clock=None, percentile=None, threshold=0.999, threshold_unit="ratio",
            n=297320, over=317.0, allowed=297.0, value=0.998933808691, is_issued=True,
        ),
        _promise(
            "uptime", kind="availability", clock=None, percentile=None, threshold=0.995, threshold_unit="ratio",
            unit="time", n=1_000_000_000_000, over=900_000_000.0, allowed=5_000_000_000.0, value=0.9991, verdict="met",
            verdict_without_exclusions="met",
        ),
        _promise("speed", kind="rate", clock="output_tokens_per_second", percentile=None, threshold=80.0, threshold_unit="number",
                 unit="windows", n=8928, over=31.0, allowed=89.0, value=91.25, verdict="met", verdict_without_exclusions="met"),
        _promise("cost-short", kind="cost", clock=None, percentile=None, threshold=0.0015, threshold_unit="number", n=None,
                 over=None, allowed=None, unknown=None, value=None, unit=None, verdict="not_measured",
                 verdict_without_exclusions="not_measured", reason="not_evaluated"),
        _promise("ttft", clock="time_to_first_token", threshold=1.0, n=61, over=0.0, allowed=0.0, value=None,
                 verdict="insufficient_data", verdict_without_exclusions="insufficient_data", reason="insufficient_volume"),
    )  # fmt: skip


def _budget(objective: str, allowed: float, spent: float, **changes: Any) -> BudgetFigures:
    given: dict[str, Any] = {
        "contract": "acme-2026", "objective": objective, "part": None, "kind": "requests", "allowed": allowed,
        "spent": spent, "remaining": allowed - spent, "remaining_ratio": (allowed - spent) / allowed,
        "is_exhausted": spent > allowed, "exhausted_at": NOW - timedelta(hours=2) if spent > allowed else None,
        "measured": measured("budgets"),
    }  # fmt: skip
    return BudgetFigures(**(given | changes))


def _gauges() -> tuple[GaugeSeries, ...]:
    series = []
    for engine in range(3):
        for gauge, unit in (("waiting", "requests"), ("running", "requests"), ("kv_cache", "ratio")):
            points = []
            for index in range(96):
                busy = math.exp(-(((index - 80) / 7) ** 2))
                level = {"waiting": 42 * busy, "running": 12 + 20 * busy, "kv_cache": 0.3 + 0.6 * busy}[gauge]
                value = level * (1 + 0.1 * engine) * 0.9
                value = min(value, 1.0) if unit == "ratio" else float(round(value))
                if not 40 <= index < 46:
                    points.append(
                        GaugePoint(
                            starts_at=START + timedelta(minutes=15 * index), last=value, greatest=value
                        )
                    )
            series.append(
                GaugeSeries(
                    gauge=gauge,
                    unit=unit,
                    target=f"http://gpu-0{engine}:8000",
                    engine="0",
                    model="deepseek-v4",
                    points=tuple(points),
                    measured=measured("gauges", "engines"),
                )
            )
    return tuple(series)


def tenant(name: str = "云帆金融") -> TenantPage:
    days = 11
    return TenantPage(
        range=day_range(),
        as_of=NOW,
        tenant=name,
        contract="acme-2026",
        contracts=(
            TenantContract(contract="acme-2026", title={"en": "Inference service agreement", "zh": "推理服务协议"}, time_zone=ZONE, months=("2026-10",)),
            TenantContract(contract="acme-trial", title={"en": "Trial", "zh": "试用"}, time_zone=ZONE, months=("2026-10",)),
        ),
        clocks=tuple(
            ClockFigures(clock=clock, n=297003, p50_seconds=p50, p95_seconds=p95, p99_seconds=p99, p99_interval_seconds=interval, max_seconds=most)
            for clock, p50, p95, p99, interval, most in CLOCKS
        ),
        clocks_measured=measured("clocks"),
        phases=tuple(PhaseFigures(phase=phase, mean_seconds=mean, share_ratio=share) for phase, mean, share in PHASES),
        latency=_latency(),
        traffic=traffic(),
        coverage=coverage(),
        promises=promises(),
        budgets=(
            _budget("p99-peak", 712, 727),
            _budget("p95-regular", 11288, 11288),
            _budget("availability", 297, 317),
            _budget("uptime", 5000, 900, kind="time"),
            _budget("speed", 89, 31, kind="windows"),
        ),
        burn_downs=tuple(
            BurnDown(
                contract="acme-2026",
                objective=objective,
                points=tuple(
                    BurnDownPoint(at=START + timedelta(hours=2 * step), n=600 * step, spent=int(most * (step / days) ** 2))
                    for step in range(1, days + 1)
                ),
                measured=measured("budgets", "slices"),
            )
            for objective, most in (("p99-peak", 727), ("availability", 140))
        ),
        gauges=_gauges(),
        alerts=alerts(),
    )  # fmt: skip


def empty_tenant() -> TenantPage:
    return TenantPage(
        **empty_range(), lacking=(Lack.NOT_COUNTED_YET,), tenant="nobody", contract=None, contracts=(), clocks=(),
        clocks_measured=measured(), phases=(), latency=(), traffic=None, coverage=None, promises=(), budgets=(),
        burn_downs=(), gauges=(), alerts=(),
    )  # fmt: skip


def silent_tenant() -> TenantPage:
    """Return a tenant whose range was read, and had no request."""
    points = tuple(
        LatencyPoint(starts_at=START + timedelta(hours=hour), ends_at=START + timedelta(hours=hour + 1), n=0,
                     p99_with_queue_seconds=None, p99_without_queue_seconds=None)
        for hour in range(24)
    )  # fmt: skip
    return tenant().model_copy(
        update={
            "traffic": traffic(admitted=0),
            "latency": points,
            "clocks": (),
            "phases": (),
            "gauges": (),
            "alerts": (),
        }
    )


def request_row(index: int = 0, **changes: Any) -> RequestRow:
    given: dict[str, Any] = {
        "key": f"20261012T0140-{index}", "request_id": f"order-{index:05d}", "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "tenant": "云帆金融", "received_at": NOW - timedelta(minutes=index + 1), "model": "deepseek-v4",
        "route": "/v1/chat/completions", "outcome": "ok", "status": 200, "end_to_end_seconds": 5.21 - 0.2 * index,
        "queue_seconds": 3.9 - 0.21 * index, "excluding_queue_seconds": 1.31 + 0.01 * index,
        "time_to_first_token_seconds": 4.1 - 0.2 * index, "attempts": 1, "engine": "joined",
    }  # fmt: skip
    return RequestRow(**(given | changes))


def request_list(*, name: str = "") -> RequestList:
    rows = (
        request_row(0, attempts=2),
        *(request_row(index) for index in range(1, 9)),
        request_row(
            9, outcome="timeout", status=504, queue_seconds=None, end_to_end_seconds=2.5, excluding_queue_seconds=2.5,
            time_to_first_token_seconds=None, engine="none",
        ),
        request_row(10, outcome="client_aborted", status=499, engine="ambiguous", request_id=HOSTILE),
        request_row(11, outcome="quota_rejected", status=429, engine="quarantined", request_id=""),
    )  # fmt: skip
    return RequestList(
        range=day_range(), as_of=NOW, lacking=(Lack.CUT_SHORT,), order="end_to_end", tenant=None, name=name,
        outcome=None, requests=rows, measured=measured("requests"),
    )  # fmt: skip


def no_requests(name: str = "") -> RequestList:
    return request_list(name=name).model_copy(update={"requests": (), "lacking": ()})


MARKS = (
    ("connected", -0.004, "gateway"),
    ("received", 0.0, "gateway"),
    ("forwarded", 0.002, "gateway"),
    ("arrived", 0.0061, "engine"),
    ("queued", 0.0113, "engine"),
    ("scheduled", 3.9113, "engine"),
    ("first_token", 4.102, "engine"),
    ("last_token", 5.19, "engine"),
    ("responded", 5.21, "gateway"),
)


def request() -> RequestPage:
    phases = (
        ("network", 0.0262),
        ("frontend", 0.0051),
        ("queue", 3.9),
        ("prefill", 0.1907),
        ("decode", 1.088),
    )
    return RequestPage(
        range=day_range(),
        as_of=NOW,
        request=request_row(0, attempts=2),
        region="cn-north",
        upstream="10.0.0.7:8000",
        error_code="",
        stream=True,
        inference_mode="fp16",
        model_version="",
        prompt_tokens=412,
        cached_tokens=None,
        completion_tokens=64,
        marks=tuple(Mark(mark=mark, after_seconds=after, measured_by=by) for mark, after, by in MARKS),
        phases=tuple(RequestPhase(phase=phase, seconds=seconds, share_ratio=seconds / 5.21) for phase, seconds in phases),
        clocks=tuple(RequestClock(clock=clock, seconds=value) for clock, value, *_ in CLOCKS),
        sequences=tuple(
            EngineSequence(
                instance=f"gpu-0{index}", request_id=f"chatcmpl-order-00000-{index}", sequence=index, arrived_at=NOW,
                end_to_end_seconds=5.1, queue_seconds=1.9, prefill_seconds=0.19, decode_seconds=1.088,
                preemptions=index or None, completion_tokens=64, finish_reason="stop",
                reporter="plugin" if index else "span", is_final=bool(index),
            )
            for index in range(2)
        ),
        flags=("simulated", "retried", "preempted", "quarantined", "ambiguous", "unconfirmed"),
        measured=measured("requests"),
    )  # fmt: skip


def unmeasured_request() -> RequestPage:
    return request().model_copy(
        update={
            "request": request_row(9, outcome="timeout", engine="none", queue_seconds=None),
            "lacking": (Lack.NOT_JOINED,),
            "marks": tuple(
                Mark(
                    mark=mark, after_seconds=after if by == "gateway" and after >= 0 else None, measured_by=by
                )
                for mark, after, by in MARKS
            ),
            "phases": (
                RequestPhase(phase="network", seconds=None, share_ratio=None),
                RequestPhase(phase="unmeasured", seconds=3.41, share_ratio=1.0),
            ),
            "sequences": (),
            "flags": (),
            "stream": None,
        }
    )


def _incident(index: int, *, ongoing: bool, evidence: tuple[dict[str, Any], ...]) -> IncidentFigures:
    begins = NOW - timedelta(hours=1 + 20 * index)
    return IncidentFigures(
        id=f"inc-{index}", contract="acme-2026", objective="p99-peak", state="ongoing" if ongoing else "ended",
        starts_at=begins, ends_at=begins + timedelta(minutes=41), requests=4119, bad=731, bad_minutes=33,
        tenants=("云帆金融",) if index else ("云帆金融", HOSTILE), clock="end_to_end", worst_seconds=48.21 if index else None,
        unanswered=0 if index else 4, worst_minute_bad=61, worst_minute_requests=131, evidence=evidence,
        measured=measured("incidents", "notes"),
    )  # fmt: skip


def incidents() -> IncidentPage:
    queue = {
        "kind": "queue",
        "numbers": {
            "known": 690, "share_ratio": 0.74, "mean_seconds": 2.91, "before_ratio": 0.04, "before_seconds": 0.03,
        },
        "sources": ["requests"],
    }  # fmt: skip
    burst = {
        "kind": "burst",
        "numbers": {
            "busiest": 1211,
            "during_per_minute": 801.5,
            "before_per_minute": 120.0,
            "own_ratio": 0.91,
        },
        "sources": ["requests"],
    }
    return IncidentPage(
        range=day_range(),
        as_of=NOW,
        incidents=(
            _incident(0, ongoing=True, evidence=(queue, burst)),
            _incident(1, ongoing=False, evidence=()),
        ),
    )


def many_incidents() -> IncidentPage:
    return incidents().model_copy(
        update={"incidents": tuple(_incident(index, ongoing=not index, evidence=()) for index in range(240))}
    )


def no_incidents() -> IncidentPage:
    return IncidentPage(**empty_range(), incidents=())


def cost() -> CostPage:
    line = {"inference_mode": "", "prompt_tokens": 31_000_000, "completion_tokens": 2_100_000}
    return CostPage(
        range=month_range(),
        as_of=NOW,
        charges=(
            ContractCharges(
                contract="acme-2026", month="2026-10", currency="CNY", net="18211.40", tax="1092.68", gross="19304.08",
                per_1000_requests="60.39", credits_granted="0", credits_claimed="0", credits_claimable="910.57",
                lines=(
                    ChargeLine(model="deepseek-v4", length_class="short", treatment="completed", requests=201_000, net="12011.11", **line),
                    ChargeLine(model="deepseek-v4", length_class="medium", treatment="aborted", requests=990, net="6200.29", **(line | {"inference_mode": "fp8"})),
                ),
                credits=(
                    CreditFigures(id="c1", objective="availability", basis="month", tier="below 99.9%", currency="CNY", amount="910.57",
                                  state="claimable", claim_opens_at=MONTH[1], claim_closes_at=MONTH[1] + timedelta(days=60)),
                ),
                measured=measured("charges", "ledger"),
            ),
            ContractCharges(
                contract="harbour-logistics", month="2026-10", currency=None, net=None, tax=None, gross=None,
                per_1000_requests=None, credits_granted=None, credits_claimed=None, credits_claimable=None, lines=(),
                credits=(), measured=measured("charges", "ledger"),
            ),
        ),
        cost_book=CostBookFigures(
            month="2026-10",
            currency="CNY",
            engines=tuple(
                EngineCostFigures(
                    engine=f"gpu-0{index}", machine="h200x8" if index else None, gpu_seconds=7_900_000.0, cost="41000.5" if index else "0",
                    tenants_cost="29000.25" if index else "0", probes_cost="12.25" if index else "0", idle_cost="11000" if index else "0",
                    unattributed_cost="988" if index else "0", unpriced_gpu_seconds=0.0 if index else 7_900_000.0,
                    by_tenant={"云帆金融": "19000.25", HOSTILE: "10000"} if index else {},
                )
                for index in range(3)
            ),
            measured=measured("cost-book", "ledger"),
        ),
    )  # fmt: skip


def no_cost() -> CostPage:
    return CostPage(
        **empty_range(), lacking=(Lack.NO_PRICES, Lack.NOT_FOR_TENANTS), charges=(), cost_book=None
    )


def probes() -> ProbePage:
    target = {
        "probe": "outside-hz", "target": "https://llm.example.com/v1", "model": "deepseek-v4", "sent": 1440, "answered": 1433,
        "failed": 7, "unsent": 2, "answered_ratio": 1433 / 1440, "p50_seconds": 0.92, "p99_seconds": 2.4,
        "lateness_p99_seconds": 0.0004, "last_at": NOW, "last_outcome": "ok",
    }  # fmt: skip
    return ProbePage(
        range=day_range(),
        as_of=NOW,
        targets=(
            ProbeTarget(
                **target,
                comparisons=(
                    ProbeComparison(clock="end_to_end", n=1420, probe_p50_seconds=0.92, probe_p99_seconds=2.4, measured_p50_seconds=0.905,
                                    measured_p99_seconds=2.381, difference_p50_seconds=0.013, difference_p99_seconds=0.041),
                    ProbeComparison(clock="time_to_first_token", n=1420, probe_p50_seconds=0.2, probe_p99_seconds=1.4, measured_p50_seconds=None,
                                    measured_p99_seconds=None, difference_p50_seconds=None, difference_p99_seconds=None),
                ),
            ),
            ProbeTarget(
                **(target | {"probe": HOSTILE, "sent": 0, "answered": 0, "failed": 0, "unsent": 0, "answered_ratio": None,
                             "p50_seconds": None, "p99_seconds": None, "lateness_p99_seconds": None, "last_at": None, "last_outcome": None}),
                comparisons=(),
            ),
            ProbeTarget(**(target | {"probe": "second", "last_outcome": "timeout"}), comparisons=()),
        ),
        measured=measured("probes", "probes"),
    )  # fmt: skip


def no_probes() -> ProbePage:
    return ProbePage(**empty_range(), targets=(), measured=measured("probes", "probes"))


def sources() -> SourcePage:
    return SourcePage(
        range=day_range(),
        as_of=NOW,
        gateway_ratio=1.0,
        engine_ratio=0.948,
        gaps=(Gap(side="engine", starts_at=START + timedelta(hours=10), ends_at=START + timedelta(hours=11, minutes=15)),),
        sources=(
            SourceRow(kind="gateway", source="/var/log/nginx/fairclock.log", newest_at=NOW, covered_to=NOW, covered_ratio=1.0, dead_letters=()),
            SourceRow(kind="otlp", source="0.0.0.0:4317", newest_at=NOW, covered_to=NOW - timedelta(seconds=4), covered_ratio=0.948,
                      dead_letters=(DeadLetters(reason="no trace id", count=3), DeadLetters(reason=HOSTILE, count=1))),
            SourceRow(kind="metrics", source=HOSTILE, newest_at=None, covered_to=None, covered_ratio=None, dead_letters=()),
        ),
        measured=measured("sources", "notes"),
    )  # fmt: skip


def no_sources() -> SourcePage:
    return SourcePage(
        **empty_range(),
        gateway_ratio=None,
        engine_ratio=None,
        gaps=(),
        sources=(),
        measured=measured("sources"),
    )


def reports() -> ReportPage:
    def month(contract: str, label: str, **changes: Any) -> ReportMonth:
        given: dict[str, Any] = {
            "contract": contract, "title": {"en": "Inference service agreement", "zh": "推理服务协议"}, "month": label,
            "starts_at": MONTH[0], "ends_at": MONTH[1], "is_over": False, "revision": 3, "evaluated_as_of": NOW, "met": 4,
            "violated": 1, "undecided": 1, "issued": (),
        }  # fmt: skip
        return ReportMonth(**(given | changes))

    issued = IssuedReport(
        number="FC-2026-0007", revision=2, as_of=NOW, issued_at=NOW, sha256=SHA, is_signed=True
    )
    return ReportPage(
        range=month_range(),
        as_of=NOW,
        months=(
            month("acme-2026", "2026-10"),
            month("acme-2026", "2026-09", is_over=True, issued=(issued, issued.model_copy(update={"is_signed": False}))),
            month("acme-2026", "2026-08", is_over=True, revision=None, evaluated_as_of=None, met=None, violated=None, undecided=None),
            month("harbour-logistics", "2026-10", revision=None, evaluated_as_of=None, met=None, violated=None, undecided=None),
        ),
        formats=("html", "pdf", "json", "csv"),
        measured=measured("reports", "revision"),
    )  # fmt: skip


def no_reports() -> ReportPage:
    return ReportPage(**empty_range(), months=(), formats=("html",), measured=measured("reports"))


def exclusion_row(**changes: Any) -> ExclusionRow:
    given: dict[str, Any] = {
        "id": "x-7f3a", "contract": "acme-2026", "clause": "maintenance", "state": "accepted",
        "starts_at": NOW - timedelta(days=2), "ends_at": NOW - timedelta(days=2) + timedelta(hours=1), "recurrence": "",
        "time_zone": ZONE, "reason": "Driver update on gpu-07", "evidence": "CHG-1123", "author": "ops@example.com",
        "recorded_at": NOW - timedelta(days=6), "notice_at": NOW - timedelta(days=6), "notice_to": ("sla@acme.example",),
        "answer_by": NOW, "answered_by": "sla@acme.example", "answered_at": NOW - timedelta(days=5),
        "answer_comment": "Agreed.", "answer_evidence": "mail",
    }  # fmt: skip
    return ExclusionRow(**(given | changes))


RULES = (
    ClauseRule(contract="acme-2026", clause="maintenance", may_propose=True, notice_seconds=259200, notice_to=("sla@acme.example",),
               cap_seconds_per_month=14400.0, cap_ratio_per_month=None, is_automatic=False),
    ClauseRule(contract="acme-2026", clause="client_network", may_propose=True, notice_seconds=None, notice_to=(),
               cap_seconds_per_month=None, cap_ratio_per_month=0.001, is_automatic=False),
    ClauseRule(contract="acme-2026", clause="cold_start", may_propose=False, notice_seconds=None, notice_to=(),
               cap_seconds_per_month=1800.0, cap_ratio_per_month=None, is_automatic=True),
    ClauseRule(contract="acme-2026", clause="force_majeure", may_propose=True, notice_seconds=None, notice_to=(),
               cap_seconds_per_month=None, cap_ratio_per_month=None, is_automatic=False),
)  # fmt: skip


def exclusions() -> ExclusionPage:
    return ExclusionPage(
        range=month_range(),
        as_of=NOW,
        exclusions=(
            exclusion_row(
                id="x-9c01", state="proposed", ends_at=None, answered_by=None, answered_at=None, answer_comment=None,
                notice_at=None, notice_to=(), reason=HOSTILE, evidence="",
            ),
            exclusion_row(),
            exclusion_row(id="x-1", state="disputed", clause="client_network", recurrence="FREQ=WEEKLY;BYDAY=SU"),
            exclusion_row(id="x-2", state="automatic", clause="cold_start", answered_by=None, answer_comment=None),
            exclusion_row(id="x-3", state="expired", clause="force_majeure", answered_by=None, answer_comment=None),
        ),
        rules=RULES,
        caps=(
            CapUse(contract="acme-2026", clause="maintenance", month="2026-10", used_seconds=3600.0, allowed_seconds=14400.0),
            CapUse(contract="acme-2026", clause="force_majeure", month="2026-10", used_seconds=0.0, allowed_seconds=None),
        ),
        may_propose=True,
        measured=measured("exclusions", "notes"),
    )  # fmt: skip


def no_exclusions() -> ExclusionPage:
    return exclusions().model_copy(update={"exclusions": (), "rules": (), "caps": ()})


def proposed() -> ExclusionProposed:
    return ExclusionProposed(
        exclusion=exclusion_row(),
        marks=tuple(DoubtMark(kind=kind, sentence=kind) for kind in ("late", "retroactive", "open_ended")),
    )


def changes() -> ChangePage:
    row = ChangeRow(
        at=NOW, who="ops", scope="operator", address="10.0.0.9", action="exclusion proposed", subject="x-7f3a",
        outcome="kept", detail='{"clause": "maintenance"}',
    )  # fmt: skip
    return ChangePage(**empty_range(), changes=(row,), most=100, measured=measured("changes", "notes"))


def no_changes() -> ChangePage:
    return changes().model_copy(update={"changes": ()})


def no_contracts() -> Overview:
    return Overview(**empty_range(), lacking=(Lack.NO_CONTRACTS,), contracts=(), alerts=())
