"""Own what is counted interval by interval: one pass over the rows for each length that promises ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sla.contracts.objectives import AvailabilityObjective, LatencyObjective, RateObjective
from sla.evaluation.clocks import SPEED, column_of
from sla.evaluation.counting import promise_aggregates, read_count
from sla.evaluation.fragments import all_of, count_if, named, select, sql
from sla.evaluation.judging import judged_by, judged_by_speed
from sla.evaluation.quota import refused_below_quota
from sla.percentiles import percentile_of
from sla.windows import Window, WindowCount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests
    from sla.grids import Grid
    from sla.verdicts import Count

Row = dict[str, Any]


def cell_rows(store: Requests, grid: Grid, aggregates: Mapping[str, Query], source: Query) -> dict[int, Row]:
    """Return the named aggregates of each interval of `grid` that has rows, by its place, in time order."""
    if not aggregates or grid.count == 0:
        return {}
    found = store.rows(cells_query(grid, aggregates, source))
    return {place: dict(zip(aggregates, values, strict=True)) for place, *values in found}


def cells_query(grid: Grid, aggregates: Mapping[str, Query], source: Query) -> Query:
    """Return the query for (place, aggregates) of the intervals of `grid` that have rows."""
    bounds = {"cells_from": grid.start_us, "cells_to": grid.end_us}
    return select(
        (
            named(
                sql(
                    "intDiv(at_us - {cells_from:Int64}, {cells_step:Int64})",
                    cells_from=grid.start_us,
                    cells_step=grid.step_us,
                ),
                "cell",
            ),
            *(named(expression, name) for name, expression in aggregates.items()),
        ),
        source,
        sql("WHERE at_us >= {cells_from:Int64} AND at_us < {cells_to:Int64}", **bounds),
        sql("GROUP BY cell"),
        sql("ORDER BY cell"),
    )


def cell_aggregates(promise: Promise, *, unknown_is_bad: bool) -> dict[str, Query]:
    """Return what `read_windows` and `read_errors` read of each interval."""
    aggregates = promise_aggregates(promise)
    name = f"objective_{promise.key}"
    match promise.objective:
        case LatencyObjective(latency=latency):
            judged = judged_by(latency.clock, threshold=f"{name}_at_most", threshold_us=latency.at_most_us)
            last = _failing(promise, judged.unanswered, judged.unknown if unknown_is_bad else None)
            value = _at_rank(
                column_of(latency.clock),
                all_of([sql(promise.flag), judged.valued]),
                latency.percentile,
                behind=last,
                name=name,
            )
        case RateObjective(rate=rate):
            judged = judged_by_speed()
            valued = all_of([sql(promise.flag), judged.valued])
            first = _failing(promise, judged.unanswered, judged.unknown if unknown_is_bad else None)
            percentile = percentile_of(rate.statistic)
            if percentile is None:
                value = sql(f"sumIf(toInt128(ifNull({SPEED}, 0)), {valued.sql})", **valued.parameters)
            else:
                value = _at_rank(SPEED, valued, percentile, before=first, name=name)
        case AvailabilityObjective():
            return aggregates
    return {**aggregates, f"{name}_value": value}


def read_windows(
    promise: Promise, rows: Mapping[int, Mapping[str, Any]], *, unknown_is_bad: bool
) -> WindowCount:
    """Return the windows in which something counts, in time order."""
    windows: list[Window] = []
    unknown = 0
    for row in rows.values():
        count = read_count(promise, row)
        unknown += count.unknown
        counted = count.counted(unknown_is_bad=unknown_is_bad)
        if counted:
            value = int(row[f"objective_{promise.key}_value"])
            windows.append(Window(counted=counted, value=_value(promise, count, counted, value)))
    return WindowCount(windows=tuple(windows), unknown=unknown)


def _value(promise: Promise, count: Count, counted: int, value: int) -> int | None:
    """Return a window's value from what the engine found: the element at the rank, or the sum of speeds."""
    if isinstance(promise.objective, LatencyObjective):
        return value if _rank(counted, promise.objective.latency.percentile) <= count.valued else None
    assert isinstance(promise.objective, RateObjective)  # noqa: S101 - availability has no windows
    percentile = percentile_of(promise.objective.rate.statistic)
    if percentile is None:
        return value // counted
    return value if _rank(counted, percentile) > counted - count.valued else None


def refused_by_cell(
    store: Requests,
    contract: Contract,
    source: Query,
    *,
    period: Interval,
    grid: Grid,
    promises: Sequence[Promise],
) -> dict[int, Row]:
    """Return the quota rejections that the contract calls bad, by interval, one key a promise."""
    if contract.quota is None or contract.quota.rejected_below != "bad":
        return {}
    aggregates = {promise.key: count_if(sql(promise.flag)) for promise in promises}
    refused = {f"refused_{key}": expression for key, expression in aggregates.items()}
    rows = cell_rows(store, grid, refused, refused_below_quota(contract.quota, source, period))
    return {place: {key: row[f"refused_{key}"] for key in aggregates} for place, row in rows.items()}


def _rank(count: int, percentile: Fraction) -> int:
    return -(-percentile.numerator * count // (percentile.denominator * 100))


def _failing(promise: Promise, *conditions: Query | None) -> Query:
    """Return the number of requests without a value that count, as an aggregate."""
    counted = [
        count_if(all_of([sql(promise.flag), condition])) for condition in conditions if condition is not None
    ]
    if not counted:
        return sql("0")
    parameters = {name: value for each in counted for name, value in each.parameters.items()}
    return sql(" + ".join(each.sql for each in counted), **parameters)


def _at_rank(
    column: str,
    condition: Query,
    percentile: Fraction,
    *,
    name: str,
    before: Query | None = None,
    behind: Query | None = None,
) -> Query:
    """Return the value at the percentile's rank among the rows that meet `condition` and those without a value.

    `before` of them rank first, `behind` last. Where the rank falls on one of those, what comes back means
    nothing: the counts say so.
    """
    others = before or behind or sql("0")
    share = percentile / 100
    rank = (
        f"intDiv({{{name}_rank_of:UInt64}} * (countIf({condition.sql}) + {others.sql})"
        f" + {{{name}_rank_in:UInt64}} - 1, {{{name}_rank_in:UInt64}})"
    )
    place = rank if before is None else f"greatest(toInt64({rank}) - toInt64({before.sql}), 1)"
    return sql(
        f"arraySort(groupArrayIf(assumeNotNull({column}), {condition.sql}))[{place}]",
        **condition.parameters,
        **{
            **others.parameters,
            f"{name}_rank_of": share.numerator,
            f"{name}_rank_in": share.denominator,
        },
    )
