"""Own the report's error budgets: what each promise allowed, what was spent, and when it was used up."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.model import from_us, utc_text
from sla.budgets import Budget
from sla.contracts.objectives import AvailabilityObjective, LatencyObjective, RateObjective
from sla.evaluation.burn_down import burn_down
from sla.evaluation.failing import failing, refused_rows
from sla.evaluation.fragments import select, separated, sql
from sla.evaluation.numbers import plain
from sla.evaluation.ranking import Ranked, values_at_ranks
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


def error_budgets_section(
    store: Requests, facts: Facts, judged: Mapping[str, Judged], carried: Mapping[str, Tally]
) -> list[dict[str, Any]]:
    """Return the budget of every promise that allows a share to be bad, in the file's order.

    Time is in seconds. `exhausted_at` is when the request was received that was one too many for what the whole
    period allows; None where the budget is not used up, or is one of time or windows. `daily` is what was spent on
    each day, `carried` what came over from the month before; both None for a budget of time or windows.
    """
    budgets = {key: budget for key, each in judged.items() if (budget := budget_of(each)) is not None}
    spent = {key: judged[key] for key, budget in budgets.items() if budget.is_exhausted}
    exhausted = _exhausted_at(store, facts, spent, carried)
    rows = []
    by_day = burn_down(store, facts, judged)
    for key, budget in budgets.items():
        each = judged[key]
        when = exhausted.get(key)
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
                "carried": _carried(facts, carried[key]),
                "daily": by_day.get(key),
                "part": part_of(each.promise.part),
                "version_sha256": facts.subject.contract.version_sha256,
            }
        )
    return rows


def _carried(facts: Facts, carried: Tally) -> int | None:
    """Return what requests of the month before spent; None where the budget is not one of requests."""
    if not isinstance(carried, Count):
        return None
    return carried.over(unknown_is_bad=facts.subject.contract.unmeasured.unknown_clock == "bad")


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


def _exhausted_at(
    store: Requests, facts: Facts, spent: Mapping[str, Judged], carried: Mapping[str, Tally]
) -> dict[str, datetime]:
    """Return when the request was received that was one too many, by promise; carried ones came first.

    Nothing is said of a promise that is judged by time or windows.
    """
    unknown_is_bad = facts.subject.contract.unmeasured.unknown_clock == "bad"
    found: dict[str, datetime] = {}
    ranked: dict[str, Ranked] = {}
    for key, judged in spent.items():
        own, before = facts.counts[key], carried[key]
        if not isinstance(own, Count) or not isinstance(before, Count) or judged.allowed is None:
            continue
        place = judged.allowed - before.over(unknown_is_bad=unknown_is_bad)
        if place < 0:
            found[key] = facts.month.period.start
        elif _counts_refused(facts, judged.promise):
            bad = _bad_and_refused(store, facts, judged.promise)
            last = sql("LIMIT 1 OFFSET {one_too_many:UInt64}", one_too_many=place)
            rows = store.rows(select((sql("at_us"),), bad, sql("ORDER BY at_us"), last))
            if rows:
                found[key] = from_us(int(rows[0][0]))
        else:
            ranked[key] = Ranked(
                column="at_us",
                condition=failing(judged.promise, unknown_is_bad=unknown_is_bad),
                count=own.over(unknown_is_bad=unknown_is_bad),
                ranks=(place + 1,),
            )
    values = values_at_ranks(store, facts.source, ranked)
    one_too_many = {key: values[key].get(each.ranks[0]) for key, each in ranked.items()}
    return found | {key: from_us(at_us) for key, at_us in one_too_many.items() if at_us is not None}


def _counts_refused(facts: Facts, promise: Promise) -> bool:
    """Return whether requests that were refused below the quota may be bad for a promise."""
    return isinstance(promise.objective, AvailabilityObjective) and facts.with_minute_before is not None


def _bad_and_refused(store: Requests, facts: Facts, promise: Promise) -> Query:
    """Return the requests of the month that are bad for an availability, those refused below the quota too."""
    condition = failing(promise, unknown_is_bad=False)
    bad = select((sql("at_us"),), facts.source, sql(f"WHERE {condition.sql}", **condition.parameters))
    refused = refused_rows(store, facts)
    if refused is None:
        return bad
    below = select((sql("at_us"),), refused, sql(f"WHERE {promise.flag}"))
    return separated("\nUNION ALL\n", (bad, renamed(below, "refused_")))
