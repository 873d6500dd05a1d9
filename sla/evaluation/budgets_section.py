"""Own the report's error budgets: what each promise allowed, what was spent, and when it was used up."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, from_us, utc_text
from sla.budgets import Budget
from sla.contracts.objectives import AvailabilityObjective, LatencyObjective, RateObjective
from sla.evaluation.dataset import rows_of
from sla.evaluation.endings import BAD
from sla.evaluation.fragments import all_of, select, separated, sql
from sla.evaluation.judging import judged_by
from sla.evaluation.numbers import plain
from sla.evaluation.quota import WINDOW_US, refused_below_quota
from sla.evaluation.together import renamed
from sla.evaluation.verdict_rows import part_of
from sla.interval_formulas import TimeCount
from sla.verdicts import Count

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from fairclock.store import Query
    from sla.evaluation.facts import Facts, Tally
    from sla.evaluation.judged import Judged
    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests

_MICROSECONDS = 1_000_000
_QUOTA_WINDOW = timedelta(microseconds=WINDOW_US)


def error_budgets_section(
    store: Requests, facts: Facts, judged: Mapping[str, Judged], carried: Mapping[str, Tally]
) -> list[dict[str, Any]]:
    """Return the budget of every promise that allows a share to be bad, in the file's order.

    Time is in seconds. `exhausted_at` is when the request was received that was one too many for what the whole
    period allows; None where the budget is not used up, or is one of time or windows.
    """
    rows = []
    for key, each in judged.items():
        budget = budget_of(each)
        if budget is None:
            continue
        when = _exhausted_at(store, facts, each, carried[key]) if budget.is_exhausted else None
        unit = _MICROSECONDS if budget.kind == "time" else 1
        ratio = budget.remaining_ratio
        rows.append(
            {
                "objective": each.promise.objective.name,
                "kind": budget.kind,
                "allowed": plain(Fraction(budget.allowed) / unit),
                "spent": plain(Fraction(budget.spent) / unit),
                "remaining": plain(Fraction(budget.remaining) / unit),
                "remaining_ratio": None if ratio is None else float(ratio),
                "is_exhausted": budget.is_exhausted,
                "exhausted_at": None if when is None else utc_text(when),
                "part": part_of(each.promise.part),
                "version_sha256": facts.subject.contract.version_sha256,
            }
        )
    return rows


def budget_of(judged: Judged) -> Budget | None:
    """Return the budget behind a verdict; None where no share decides: a mean, or the worst window."""
    objective = judged.promise.objective
    match objective, judged.count:
        case LatencyObjective(latency=latency), Count():
            share = 1 - latency.percentile / 100
            return _share(share, "requests", judged.counted, judged.over)
        case AvailabilityObjective(availability=availability), Count():
            return _share(1 - availability.target, "requests", judged.counted, judged.over)
        case AvailabilityObjective(availability=availability), TimeCount() as count:
            # an interval's error ratio is the part of it that was lost
            unit = 1 if availability.formula == "downtime" else judged.promise.step_us or 1
            return _share(1 - availability.target, "time", count.whole * unit, count.lost * unit)
        case RateObjective(rate=rate), _:
            return _share(1 - rate.windows_met, "windows", judged.counted, judged.over)
    return None


def _share(share: Fraction, kind: Any, counted: int, spent: Fraction | int) -> Budget | None:
    """Return a budget; None for a promise of everything, which has none."""
    return Budget(kind=kind, share=share, counted=counted, spent=spent) if 0 < share < 1 else None


def _exhausted_at(store: Requests, facts: Facts, judged: Judged, carried: Tally) -> datetime | None:
    """Return when the request was received that was one too many; carried ones came first."""
    if not isinstance(judged.count, Count) or not isinstance(carried, Count) or judged.allowed is None:
        return None
    unknown_is_bad = facts.subject.contract.unmeasured.unknown_clock == "bad"
    place = judged.allowed - carried.over(unknown_is_bad=unknown_is_bad)
    if place < 0:
        return facts.month.period.start
    bad = _bad_requests(store, facts, judged.promise, unknown_is_bad=unknown_is_bad)
    found = store.rows(
        select(
            (sql("at_us"),),
            bad,
            sql("ORDER BY at_us"),
            sql("LIMIT 1 OFFSET {one_too_many:UInt64}", one_too_many=place),
        )
    )
    return from_us(int(found[0][0])) if found else None


def _bad_requests(store: Requests, facts: Facts, promise: Promise, *, unknown_is_bad: bool) -> Query:
    """Return the requests of the month that are bad for a promise, those refused below the quota too."""
    belongs = sql(promise.flag)
    objective = promise.objective
    if isinstance(objective, LatencyObjective):
        judged = judged_by(
            objective.latency.clock,
            threshold=f"objective_{promise.key}_at_most",
            threshold_us=objective.latency.at_most_us,
        )
        failing = [judged.valued_over, judged.unanswered, judged.unknown if unknown_is_bad else None]
        any_of = separated(" OR ", [sql(f"({each.sql})", **each.parameters) for each in failing if each])
        condition = all_of([belongs, any_of])
        return select((sql("at_us"),), facts.source, sql(f"WHERE {condition.sql}", **condition.parameters))
    condition = all_of([belongs, BAD])
    bad = select((sql("at_us"),), facts.source, sql(f"WHERE {condition.sql}", **condition.parameters))
    quota = facts.subject.contract.quota
    if quota is None or quota.rejected_below != "bad":
        return bad
    period = facts.month.period
    before = timedelta(0) if facts.month.is_first else _QUOTA_WINDOW
    window = Interval(start=period.start - before, end=period.end)
    wider = rows_of(store, facts.subject, window, facts.as_of)
    refused = select((sql("at_us"),), refused_below_quota(quota, wider, period), sql(f"WHERE {belongs.sql}"))
    return separated("\nUNION ALL\n", (bad, renamed(refused, "refused_")))
