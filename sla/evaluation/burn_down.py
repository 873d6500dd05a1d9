"""Own how budgets were used up: what was bad for each promise on each local day, in one pass over the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import to_us
from sla.contracts.objectives import AvailabilityObjective
from sla.evaluation.daily import days_of
from sla.evaluation.failing import failing, refused_rows
from sla.evaluation.fragments import count_if, named, select, sql
from sla.verdicts import Count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.store import Query
    from sla.evaluation.facts import Facts
    from sla.evaluation.judged import Judged
    from sla.evaluation.rows import Requests


def burn_down(store: Requests, facts: Facts, judged: Mapping[str, Judged]) -> dict[str, list[dict[str, Any]]]:
    """Return, for every promise whose budget is one of requests, what was spent on each day of the month.

    Days are those of the contract's zone. What was carried over from the month before is in no day.
    """
    counted = [each for each in judged.values() if isinstance(each.count, Count)]
    days = days_of(facts.month.period, facts.subject.contract.zone)
    starts = {to_us(interval.start): day for day, interval in days.items()}
    if not counted or not starts:
        return {}
    spent = {each.promise.key: dict.fromkeys(days, 0) for each in counted}
    unknown_is_bad = facts.subject.contract.unmeasured.unknown_clock == "bad"
    passes = [
        (
            counted,
            [failing(each.promise, unknown_is_bad=unknown_is_bad) for each in counted],
            facts.source,
        )
    ]
    timed = [each for each in counted if isinstance(each.promise.objective, AvailabilityObjective)]
    refused = refused_rows(store, facts) if timed else None
    if refused is not None:
        passes.append((timed, [sql(each.promise.flag) for each in timed], refused))
    for promises, conditions, source in passes:
        for start, bad in _bad_by_day(store, conditions, source, sorted(starts)):
            for each, of_day in zip(promises, bad, strict=True):
                spent[each.promise.key][starts[start]] += of_day
    return {
        key: [{"date": day.isoformat(), "spent": of_day} for day, of_day in by_day.items()]
        for key, by_day in spent.items()
    }


def _bad_by_day(
    store: Requests, conditions: Sequence[Query], source: Query, starts_us: list[int]
) -> list[tuple[int, list[int]]]:
    """Return each day's start and how many rows meet each of `conditions`."""
    query = select(
        (
            named(sql("roundDown(at_us, {day_starts:Array(Int64)})", day_starts=starts_us), "day_us"),
            *(count_if(condition) for condition in conditions),
        ),
        source,
        sql("GROUP BY day_us"),
    )
    return [(int(start), [int(each) for each in bad]) for start, *bad in store.rows(query)]
