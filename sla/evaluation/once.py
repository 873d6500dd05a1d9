"""Own that an evaluation joins what is not sealed yet once, and not again for each of its questions."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from fairclock.errors import StoreError
from fairclock.model import Interval
from fairclock.store import Store
from sla.contracts import Contract

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sla.evaluation.rows import Requests

T = TypeVar("T")

_BEFORE = timedelta(hours=1)
"""What is looked at of the time before a month: the quota's minute, and what was true before an incident."""


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
