"""Own the requests that a month too small to judge leaves to the next one, once.

A month that ends without a verdict for want of requests hands its own requests on; what it had been handed
itself is spent. So each request takes part in at most two months, and is judged in at most one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Counted = TypeVar("Counted", bound=Any)
"""Anything that adds up: counts of requests, or windows."""


def carried_in(
    before: Sequence[str],
    own: Callable[[str], Counted],
    open_: Callable[[str, Counted], bool],
    *,
    nothing: Counted,
) -> Counted:
    """Return what the months `before` (the latest first) leave to the month after them.

    `own` counts a month's own requests. `open_` says whether a month would end without a verdict for want of
    requests if it had a given count: its own, with or without what it was handed.
    """
    chain: list[str] = []
    for month in before:
        chain.append(month)
        if not open_(month, own(month)):
            break
    carried = nothing
    for month in reversed(chain):
        counted = own(month)
        carried = counted if open_(month, counted) and open_(month, counted + carried) else nothing
    return carried
