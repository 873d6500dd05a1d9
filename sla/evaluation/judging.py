"""Own who is judged by a latency objective, and by what, as SQL conditions over the dataset.

=============================  =====================================  =================================
outcome                        queue, prefill, time_to_first_token    every other clock
=============================  =====================================  =================================
ok                             its value, else unknown                its value, else unknown
timeout, substituted,          its value, else unknown                over, without a value to rank
incomplete
client_aborted                 its value, else unknown                over without a value if its elapsed
                                                                      time exceeds the threshold, else
                                                                      not counted
every other                    not counted                            not counted
=============================  =====================================  =================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import Clock, Outcome
from sla.evaluation.clocks import NEVER_UNKNOWN, column_of
from sla.evaluation.fragments import sql

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairclock.store import Query

MEASURED_WHATEVER_THE_END = frozenset({Clock.QUEUE, Clock.PREFILL, Clock.TIME_TO_FIRST_TOKEN})
"""Clocks that may have stopped before the answer went wrong."""

FAILED = (Outcome.TIMEOUT, Outcome.SUBSTITUTED, Outcome.INCOMPLETE)
"""Answers that are over on a clock that did not stop before them."""

GOOD = (Outcome.OK,)
BAD = (
    Outcome.INCOMPLETE,
    Outcome.SUBSTITUTED,
    Outcome.SERVER_ERROR,
    Outcome.TIMEOUT,
    Outcome.CAPACITY_REJECTED,
)
"""What a request_ratio counts; `quota_rejected` is bad only below the quota (see `sla.evaluation.quota`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBy:
    """Four disjoint conditions; `valued_over` is part of `valued`. None: it never holds."""

    valued: Query
    valued_over: Query
    unanswered: Query | None
    unknown: Query | None


def ended(outcomes: Iterable[Outcome]) -> str:
    """Return the condition that the judged outcome is one of `outcomes`."""
    names = ", ".join(f"'{outcome}'" for outcome in outcomes)
    return f"judged_outcome IN ({names})"


def judged_by(clock: Clock, *, threshold: str, threshold_us: int) -> JudgedBy:
    """Return how `clock` judges against `threshold_us`, bound to the parameter `threshold`."""
    value = column_of(clock)
    limit = f"{{{threshold}:Int64}}"
    whose = [Outcome.OK]
    if clock in MEASURED_WHATEVER_THE_END:
        whose += [*FAILED, Outcome.CLIENT_ABORTED]
    ends = ended(whose)
    known = "1" if clock in NEVER_UNKNOWN else f"{value} IS NOT NULL"
    unanswered = None
    if clock not in MEASURED_WHATEVER_THE_END:
        elapsed = column_of(Clock.END_TO_END)
        unanswered = sql(
            f"({ended(FAILED)} OR ({ended([Outcome.CLIENT_ABORTED])} AND {elapsed} > {limit}))",
            **{threshold: threshold_us},
        )
    return JudgedBy(
        valued=sql(f"{ends} AND {known}"),
        valued_over=sql(f"{ends} AND ifNull({value} > {limit}, 0)", **{threshold: threshold_us}),
        unanswered=unanswered,
        unknown=None if clock in NEVER_UNKNOWN else sql(f"{ends} AND {value} IS NULL"),
    )
