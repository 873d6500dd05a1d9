"""Own that what is not sealed yet is joined once: not again for each question of an evaluation, nor for each of many."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, TypeVar

from fairclock.errors import StoreError
from fairclock.model import Interval
from fairclock.store import Store
from sla.calendars.months import days_of_month
from sla.contracts import Contract

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from fairclock.store.joining_once import JoinedOnce
    from sla.evaluation.rows import Requests

T = TypeVar("T")

_BEFORE = timedelta(hours=1)
"""What is looked at of the time before a month: the quota's minute, and what was true before an incident."""


_FARTHEST_ZONE = timedelta(hours=14)
"""How far a calendar month of any time zone lies from the one of UTC."""


def asked_together(store: Store, month: str, as_of: datetime) -> AbstractContextManager[JoinedOnce]:
    """Return what holds, for the calendar `month` in any zone, all that many contracts' evaluations as of `as_of` ask alike."""
    first, first_after = days_of_month(month)
    start = datetime.combine(first, time(), UTC) - _FARTHEST_ZONE - _BEFORE
    end = datetime.combine(first_after, time(), UTC) + _FARTHEST_ZONE
    return store.joined_once(Interval(start=start, end=end), as_of)


def once(
    store: Requests,
    contract: Contract | Sequence[Contract],
    month: str,
    as_of: datetime,
    evaluate: Callable[[], T],
) -> T:
    """Return what `evaluate` says of `month` as of `as_of`, the month's open hours joined once.

    Where the rows so kept went away meanwhile it is asked again without them: what it said may rest on half of them.
    """
    first = contract if isinstance(contract, Contract) else contract[0]
    if not isinstance(store, Store):
        return evaluate()
    whole = first.whole_month(month)
    window = Interval(start=whole.start - _BEFORE, end=whole.end)
    with store.joined_once(window, as_of) as joined:
        try:
            found = evaluate()
        except StoreError:
            if joined.is_whole(store):
                raise
        else:
            if joined.is_whole(store):
                return found
    return evaluate()
