"""Own how each promise is counted: its aggregates over rows of the dataset, and the count read from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sla.contracts.objectives import AvailabilityObjective, LatencyObjective
from sla.evaluation.clocks import column_of
from sla.evaluation.endings import BAD, GOOD_OR_BAD
from sla.evaluation.fragments import all_of, count_if, sql
from sla.evaluation.judging import judged_by, judged_by_speed
from sla.evaluation.quota import refused_below_quota
from sla.evaluation.ranking import Ranked
from sla.evaluation.rows import single_row
from sla.verdicts import Count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests


def promise_aggregates(promise: Promise) -> dict[str, Query]:
    """Return the aggregates that `read_count` reads for a promise."""
    objective = promise.objective
    conditions: dict[str, Query | None]
    if isinstance(objective, AvailabilityObjective):
        conditions = {"valued": GOOD_OR_BAD, "over": BAD}
    else:
        judged = (
            judged_by(
                objective.latency.clock,
                threshold=f"objective_{promise.key}_at_most",
                threshold_us=objective.latency.at_most_us,
            )
            if isinstance(objective, LatencyObjective)
            else judged_by_speed()
        )
        conditions = {
            "valued": judged.valued,
            "over": judged.valued_over,
            "unanswered": judged.unanswered,
            "unknown": judged.unknown,
        }
    belongs = sql(promise.flag)
    return {
        f"objective_{promise.key}_{name}": count_if(all_of([belongs, condition]))
        for name, condition in conditions.items()
        if condition is not None
    }


def read_count(promise: Promise, row: Mapping[str, Any]) -> Count:
    """Return the count of one promise from a row of its aggregates."""
    name = f"objective_{promise.key}"
    return Count(
        valued=row[f"{name}_valued"],
        valued_over=row.get(f"{name}_over", 0),
        unanswered=row.get(f"{name}_unanswered", 0),
        unknown=row.get(f"{name}_unknown", 0),
    )


def ranked_by(promise: Promise, objective: LatencyObjective, *, ranks: tuple[int, ...], count: int) -> Ranked:
    """Return what a latency objective ranks: the measured values that judge, `count` of them."""
    clock = objective.latency.clock
    judged = judged_by(clock, threshold="", threshold_us=0)
    return Ranked(
        column=column_of(clock),
        condition=all_of([sql(promise.flag), judged.valued]),
        count=count,
        ranks=ranks,
    )


def add_refused_below_quota(
    store: Requests,
    contract: Contract,
    source: Query,
    *,
    period: Interval,
    promises: Mapping[str, Promise],
    counts: Mapping[str, Count],
) -> dict[str, Count]:
    """Return `counts` with the quota rejections that the contract calls bad added to each availability.

    `source` is the dataset of `period` and of the minute before it, whose requests fill the first windows.
    """
    quota = contract.quota
    ratios = [key for key in counts if isinstance(promises[key].objective, AvailabilityObjective)]
    if quota is None or quota.rejected_below != "bad" or not ratios:
        return dict(counts)
    aggregates = {f"objective_{key}_refused": count_if(sql(promises[key].flag)) for key in ratios}
    row = single_row(store, aggregates, refused_below_quota(quota, source, period))
    return {
        key: count + _bad(row[f"objective_{key}_refused"]) if key in ratios else count
        for key, count in counts.items()
    }


def _bad(count: int) -> Count:
    return Count(valued=count, valued_over=count)
