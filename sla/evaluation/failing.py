"""Own which requests of a month are bad for a promise that is judged by requests."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval
from sla.contracts.objectives import LatencyObjective
from sla.evaluation.dataset import rows_of
from sla.evaluation.endings import BAD
from sla.evaluation.fragments import all_of, separated, sql
from sla.evaluation.judging import judged_by
from sla.evaluation.quota import WINDOW_US, refused_below_quota

if TYPE_CHECKING:
    from fairclock.store import Query
    from sla.evaluation.facts import Facts
    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests

_QUOTA_WINDOW = timedelta(microseconds=WINDOW_US)


def failing(promise: Promise, *, unknown_is_bad: bool) -> Query:
    """Return the condition under which a row is bad for `promise`; those refused below the quota are apart."""
    belongs = sql(promise.flag)
    objective = promise.objective
    if not isinstance(objective, LatencyObjective):
        return all_of([belongs, BAD])
    judged = judged_by(
        objective.latency.clock,
        threshold=f"objective_{promise.key}_at_most",
        threshold_us=objective.latency.at_most_us,
    )
    bad = [judged.valued_over, judged.unanswered, judged.unknown if unknown_is_bad else None]
    any_of = separated(" OR ", [sql(f"({each.sql})", **each.parameters) for each in bad if each])
    return all_of([belongs, any_of])


def refused_rows(store: Requests, facts: Facts) -> Query | None:
    """Return the month's requests that were refused below the quota; None where the contract lets that pass."""
    quota = facts.subject.contract.quota
    if quota is None or quota.rejected_below != "bad":
        return None
    period = facts.month.period
    before = timedelta(0) if facts.month.is_first else _QUOTA_WINDOW
    window = Interval(start=period.start - before, end=period.end)
    return refused_below_quota(quota, rows_of(store, facts.subject, window, facts.as_of), period)
