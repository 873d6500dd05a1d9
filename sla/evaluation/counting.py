"""Own how each objective is counted: its aggregates over the dataset, and the count read from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sla.contracts.objectives import AvailabilityObjective, LatencyObjective
from sla.evaluation.clocks import column_of
from sla.evaluation.endings import BAD, GOOD_OR_BAD
from sla.evaluation.fragments import all_of, count_if, sql
from sla.evaluation.judging import judged_by
from sla.evaluation.promises import flag_of
from sla.evaluation.quota import refused_below_quota
from sla.evaluation.ranking import Ranked
from sla.evaluation.rows import single_row
from sla.verdicts import Count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.promises import Evaluated
    from sla.evaluation.rows import Requests


def objective_aggregates(number: int, objective: Evaluated) -> dict[str, Query]:
    """Return the aggregates that `read_count` reads for the objective at place `number`."""
    conditions: dict[str, Query | None]
    if isinstance(objective, LatencyObjective):
        judged = judged_by(
            objective.latency.clock,
            threshold=f"objective_{number}_at_most",
            threshold_us=objective.latency.at_most_us,
        )
        conditions = {
            "valued": judged.valued,
            "over": judged.valued_over,
            "unanswered": judged.unanswered,
            "unknown": judged.unknown,
        }
    else:
        conditions = {"valued": GOOD_OR_BAD, "over": BAD}
    belongs = sql(flag_of(number))
    return {
        f"objective_{number}_{name}": count_if(all_of([belongs, condition]))
        for name, condition in conditions.items()
        if condition is not None
    }


def read_count(number: int, row: Mapping[str, Any]) -> Count:
    """Return the count of one objective from a row of its aggregates."""
    return Count(
        valued=row[f"objective_{number}_valued"],
        valued_over=row[f"objective_{number}_over"],
        unanswered=row.get(f"objective_{number}_unanswered", 0),
        unknown=row.get(f"objective_{number}_unknown", 0),
    )


def ranked_by(number: int, objective: LatencyObjective, *, ranks: tuple[int, ...], count: int) -> Ranked:
    """Return what a latency objective ranks: the measured values that judge, `count` of them."""
    clock = objective.latency.clock
    judged = judged_by(clock, threshold="", threshold_us=0)
    return Ranked(
        column=column_of(clock),
        condition=all_of([sql(flag_of(number)), judged.valued]),
        count=count,
        ranks=ranks,
    )


def add_refused_below_quota(
    store: Requests, contract: Contract, source: Query, period: Interval, counts: Mapping[int, Count]
) -> dict[int, Count]:
    """Return `counts` with the quota rejections that the contract calls bad added to each availability.

    `source` is the dataset of `period` and of the minute before it, whose requests fill the first windows.
    """
    quota = contract.quota
    ratios = [number for number in counts if isinstance(contract.objectives[number], AvailabilityObjective)]
    if quota is None or quota.rejected_below != "bad" or not ratios:
        return dict(counts)
    aggregates = {f"objective_{number}_refused": count_if(sql(flag_of(number))) for number in ratios}
    row = single_row(store, aggregates, refused_below_quota(quota, source, period))
    return {
        number: count + _bad(row[f"objective_{number}_refused"]) if number in ratios else count
        for number, count in counts.items()
    }


def _bad(count: int) -> Count:
    return Count(valued=count, valued_over=count)
