"""Own what is counted of one month in one pass: each objective's requests, and whatever else is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval
from sla.evaluation.counting import (
    add_refused_below_quota,
    objective_aggregates,
    read_count,
)
from sla.evaluation.coverage import Coverage, coverage_of
from sla.evaluation.dataset import rows_of
from sla.evaluation.endings import QUOTA_REJECTED
from sla.evaluation.fragments import count_if
from sla.evaluation.promises import evaluated_objectives
from sla.evaluation.quota import WINDOW_US
from sla.evaluation.rows import single_row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.months import Month
    from sla.evaluation.rows import Requests
    from sla.verdicts import Count

_QUOTA_WINDOW = timedelta(microseconds=WINDOW_US)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One month of a contract: its rows (`source`), its coverage, each objective's count, other aggregates."""

    month: Month
    as_of: datetime
    source: Query
    coverage: Coverage
    counts: Mapping[int, Count]
    others: Mapping[str, Any]


def facts_of(
    store: Requests,
    contract: Contract,
    month: Month,
    as_of: datetime,
    others: Callable[[Coverage], Mapping[str, Query]] = lambda _: {},
) -> Facts:
    """Count one month as it was known at `as_of`; `others` returns further aggregates for the same pass."""
    source = rows_of(store, contract, month.period, as_of)
    coverage = coverage_of(store, month.elapsed, as_of)
    further = others(coverage)
    objectives = evaluated_objectives(contract)
    aggregates = {
        **further,
        "refused_for_quota": count_if(QUOTA_REJECTED),
    }
    for number, objective in objectives.items():
        aggregates |= objective_aggregates(number, objective)
    row = single_row(store, aggregates, source)
    counts = {number: read_count(number, row) for number in objectives}
    if row["refused_for_quota"]:
        counts = add_refused_below_quota(
            store, contract, _with_the_minute_before(store, contract, month, as_of), month.period, counts
        )
    return Facts(
        month=month,
        as_of=as_of,
        source=source,
        coverage=coverage,
        counts=counts,
        others={name: row[name] for name in further},
    )


def _with_the_minute_before(store: Requests, contract: Contract, month: Month, as_of: datetime) -> Query:
    """Return the rows of the month and of the quota's window before it, within the term."""
    before = timedelta(0) if month.is_first else _QUOTA_WINDOW
    window = Interval(start=month.period.start - before, end=month.period.end)
    return rows_of(store, contract, window, as_of)
