"""Own the look back: what the months before hand to this one, where the contract carries requests over."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sla.carry_over import carried_in
from sla.evaluation.facts import Facts, Tally, facts_of
from sla.evaluation.judged import is_left_open, is_void, judge
from sla.evaluation.months import month_of, months_before
from sla.interval_formulas import TimeCount
from sla.verdicts import Count
from sla.windows import WindowCount

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests
    from sla.evaluation.subject import Subject

    Earlier = Callable[[str], Facts]
    """The facts of an earlier month by its label."""


def earlier_months(store: Requests, subject: Subject, as_of: datetime) -> Earlier:
    """Return how earlier months are looked up; each is counted once, however often it is asked for."""

    @cache
    def earlier(label: str) -> Facts:
        return facts_of(store, subject, month_of(subject.contract, label, as_of, subject.in_force), as_of)

    return earlier


def carried_counts(store: Requests, facts: Facts, earlier: Earlier | None = None) -> dict[str, Tally]:
    """Return what each promise's requests of earlier months add to the month of `facts`.

    Earlier months are read as of the same instant, only as far back as the answer depends on them, and only
    under the version of the contract that judges this month. Time is never carried over. `earlier` looks them up for
    whoever judges one month in several ways.
    """
    subject = facts.subject
    contract = subject.contract
    nothing = {key: _nothing(count) for key, count in facts.counts.items()}
    if contract.insufficient.verdict != "carry_over" or is_void(contract, facts):
        return nothing

    looked_up = earlier or earlier_months(store, subject, facts.as_of)

    def carried(key: str, promise: Promise) -> Tally:
        def own(label: str) -> Tally:
            return nothing[key] if is_void(contract, looked_up(label)) else looked_up(label).counts[key]

        def left_open(label: str, count: Tally) -> bool:
            return is_left_open(contract, judge(promise, looked_up(label), count))

        before = months_before(contract, facts.month.label, subject.in_force)
        return carried_in(before, own, left_open, nothing=nothing[key])

    return {
        key: nothing[key] if isinstance(nothing[key], TimeCount) else carried(key, promise)
        for key, promise in subject.promises.items()
    }


def with_carried(count: Tally, carried: Tally) -> Tally:
    """Return a promise's count together with what was carried over to it."""
    match count, carried:
        case Count(), Count():
            return count + carried
        case WindowCount(), WindowCount():
            return count + carried
    return count


def carried_requests(carried: Tally, *, unknown_is_bad: bool) -> int:
    """Return how many requests were carried over."""
    match carried:
        case Count():
            return carried.counted(unknown_is_bad=unknown_is_bad)
        case WindowCount():
            return carried.requests
    return 0


def _nothing(count: Tally) -> Tally:
    return type(count)()
