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

Speeds (output tokens per second) are judged as every other clock is; an aborted request has no time to hold
against a speed and is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import Clock
from sla.evaluation.clocks import NEVER_UNKNOWN, SPEED, column_of
from sla.evaluation.endings import ABORTED, FAILED, OK
from sla.evaluation.fragments import ALWAYS, all_of, sql

if TYPE_CHECKING:
    from fairclock.store import Query

MEASURED_WHATEVER_THE_END = frozenset({Clock.QUEUE, Clock.PREFILL, Clock.TIME_TO_FIRST_TOKEN})
"""Clocks that may have stopped before the answer went wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBy:
    """Four disjoint conditions; `valued_over` is part of `valued`. None: it never holds."""

    valued: Query
    valued_over: Query | None
    unanswered: Query | None
    unknown: Query | None


def judged_by(clock: Clock, *, threshold: str, threshold_us: int) -> JudgedBy:
    """Return how `clock` judges against `threshold_us`, bound to the parameter `threshold`."""
    value = column_of(clock)
    limit = f"{{{threshold}:Int64}}"
    known = ALWAYS if clock in NEVER_UNKNOWN else sql(f"{value} IS NOT NULL")
    whose, unanswered = OK, None
    if clock in MEASURED_WHATEVER_THE_END:
        whose = sql(f"{OK.sql} OR {FAILED.sql} OR {ABORTED.sql}")
    else:
        late = f"{ABORTED.sql} AND {column_of(Clock.END_TO_END)} > {limit}"
        unanswered = sql(f"{FAILED.sql} OR ({late})", **{threshold: threshold_us})
    over = sql(f"ifNull({value} > {limit}, 0)", **{threshold: threshold_us})
    return JudgedBy(
        valued=all_of([whose, known]),
        valued_over=all_of([whose, over]),
        unanswered=unanswered,
        unknown=None if clock in NEVER_UNKNOWN else all_of([whose, sql(f"{value} IS NULL")]),
    )


def judged_by_speed() -> JudgedBy:
    """Return who is judged by the speed of its tokens; windows are compared with the threshold, not requests."""
    return JudgedBy(
        valued=all_of([OK, sql(f"{SPEED} IS NOT NULL")]),
        valued_over=None,
        unanswered=FAILED,
        unknown=all_of([OK, sql(f"{SPEED} IS NULL")]),
    )
