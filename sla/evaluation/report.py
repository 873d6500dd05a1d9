"""Own the evaluation of one contract and month: what is read, counted, judged, and put under which key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, Outcome
from sla.evaluation.breakdown import breakdown_aggregates, read_breakdown
from sla.evaluation.carried import carried_counts
from sla.evaluation.daily import daily
from sla.evaluation.dataset import rows_of
from sla.evaluation.evidence import rows_sha256
from sla.evaluation.facts import Facts, facts_of
from sla.evaluation.judged import Judged, judge
from sla.evaluation.months import month_of, months_before
from sla.evaluation.numbers import instant
from sla.evaluation.promises import evaluated_objectives
from sla.evaluation.ranking import values_at_ranks
from sla.evaluation.sections import (
    breakdown_section,
    contract_section,
    coverage_section,
    daily_section,
    latency_section,
    objectives_section,
    period_section,
    traffic_section,
    unmeasured_section,
)
from sla.evaluation.traffic import read_traffic, traffic_aggregates
from sla.evaluation.values import (
    clock_ranks,
    known_aggregates,
    objective_ranks,
    read_clock_table,
    read_delivered,
)
from sla.verdicts import Count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.coverage import Coverage
    from sla.evaluation.rows import Requests
    from sla.evaluation.values import ClockRow, Delivered

SCHEMA = "fairclock.report/1"


def evaluate(
    store: Requests,
    contract: Contract,
    *,
    month: str,
    as_of: datetime | None = None,
    software_version: str,
    fonts: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the content of ``report.json`` for `month` (``2026-10``) as it was known at `as_of`.

    Without `as_of` it is the store's watermark. The same store, contract, `as_of`, version and fonts give the
    same content. Raises NotEvaluable for a month outside the term or not yet begun.
    """
    instant_known = store.checked_as_of(as_of)
    facts = facts_of(store, contract, month_of(contract, month, instant_known), instant_known, _others)
    traffic = read_traffic(facts.others)
    objectives = evaluated_objectives(contract)
    carried = carried_counts(store, contract, objectives, facts)
    judged = {
        number: judge(contract, objective, facts, facts.counts[number] + carried[number])
        for number, objective in objectives.items()
    }
    clocks, values = _ranked(store, contract, facts, judged, carried)
    period = facts.month.period
    return {
        "schema": SCHEMA,
        "contract": contract_section(contract),
        "period": period_section(contract, facts.month),
        "as_of": instant(instant_known),
        "revision": None,
        "status": "draft",
        "traffic": traffic_section(traffic),
        "coverage": coverage_section(facts.coverage, traffic, traffic.outcomes[Outcome.OK]),
        "latency": latency_section(clocks),
        "breakdown": breakdown_section(read_breakdown(facts.others)),
        "objectives": objectives_section(contract, judged, values, carried),
        "error_budgets": [],
        "exclusions": [],
        "degradations": [],
        "incidents": [],
        "changes": [],
        "cost": None,
        "credits": [],
        "amounts": None,
        "evidence": {
            "rows": traffic.admitted,
            "rows_sha256": rows_sha256(store, facts.source, period, traffic.admitted),
            "seals": len(store.seals_as_of(period, instant_known)),
            "software_version": software_version,
            "fonts": [dict(font) for font in fonts],
        },
        "simulated": traffic.simulated > 0,
        "daily": daily_section(daily(store, facts.source, period, contract.zone)),
        "unmeasured": unmeasured_section(contract),
        "not_evaluated": contract.not_evaluated(),
    }


def _others(coverage: Coverage) -> dict[str, Query]:
    return {
        **traffic_aggregates(coverage.engine_intervals),
        **known_aggregates(),
        **breakdown_aggregates(),
    }


def _ranked(
    store: Requests,
    contract: Contract,
    facts: Facts,
    judged: Mapping[int, Judged],
    carried: Mapping[int, Count],
) -> tuple[list[ClockRow], dict[int, Delivered]]:
    """Return the table of clocks and each objective's value; carried requests are ranked with their own month."""
    period = facts.month.period
    alone = {number: each for number, each in judged.items() if carried[number] == Count()}
    together = {number: each for number, each in judged.items() if number not in alone}
    ranked = {**clock_ranks(facts.others), **objective_ranks(alone)}
    values = values_at_ranks(store, facts.source, ranked)
    if together:
        (before, *_) = months_before(contract, facts.month.label)
        both = Interval(start=contract.month(before).start, end=period.end)
        source = rows_of(store, contract, both, facts.as_of)
        values |= values_at_ranks(store, source, objective_ranks(together))
    delivered = {number: read_delivered(number, each, values) for number, each in judged.items()}
    return read_clock_table(facts.others, values), delivered
