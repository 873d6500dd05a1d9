"""Own slices as they are read back: minute by minute, or added up over windows in the engine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, from_us
from fairclock.store.slices import MINUTE_US, SliceKey, slices_query, window_sums_query
from sla.tallies import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Store

_MINUTE = timedelta(microseconds=MINUTE_US)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What one version of a contract counted in `window`, an entry of `tallies` an objective of its file.

    gateway_us, engine_us: how much of the window each side was read through.
    queue_us, queue_of_us: the waiting and the whole time of the `ok` requests whose waiting is known.
    newest_minute: the newest minute that has a row; None if there is none.
    seal: the seal that the rows come from, 0 where they were joined live or come from several.
    """

    window: Interval
    tallies: tuple[Tally, ...]
    requests: int = 0
    queue_us: int = 0
    queue_of_us: int = 0
    gateway_us: int = 0
    engine_us: int = 0
    newest_minute: datetime | None = None
    seal: int = 0
    as_of: datetime | None = None


def slices_as_of(store: Store, key: SliceKey, window: Interval, as_of: datetime) -> list[Slice]:
    """Return the slices of the minutes that begin in `window`, as they were known at `as_of`, in time order.

    A minute without one had no request, and nothing was read through in it.
    """
    return [
        Slice(
            window=Interval(start=minute, end=minute + _MINUTE),
            tallies=_tallies(*arrays),
            requests=requests,
            queue_us=queue_us,
            queue_of_us=queue_of_us,
            gateway_us=gateway_us,
            engine_us=engine_us,
            newest_minute=minute,
            seal=seal,
            as_of=counted_as_of,
        )
        for (
            minute, *arrays, requests, queue_us, queue_of_us, gateway_us, engine_us, seal, counted_as_of,
        ) in store.rows(slices_query(key, window, as_of))
    ]  # fmt: skip


def sums_as_of(
    store: Store, keys: Sequence[SliceKey], windows: Sequence[Interval], as_of: datetime
) -> dict[SliceKey, tuple[Slice, ...]]:
    """Return the sums over each of `windows` for those of `keys` that have slices in them, in one pass."""
    if not windows or not keys:
        return {}
    return {
        SliceKey(contract, version): tuple(
            _sum(window, found) for window, found in zip(windows, sums, strict=True)
        )
        for contract, version, *sums in store.rows(window_sums_query(keys, windows, as_of))
    }


def _sum(window: Interval, found: Sequence[Any]) -> Slice:
    *arrays, requests, queue_us, queue_of_us, gateway_us, engine_us, newest_us = found
    return Slice(
        window=window,
        tallies=_tallies(*arrays),
        requests=int(requests),
        queue_us=int(queue_us),
        queue_of_us=int(queue_of_us),
        gateway_us=int(gateway_us),
        engine_us=int(engine_us),
        newest_minute=from_us(int(newest_us)) if newest_us else None,
    )


def _tallies(
    total: Sequence[int],
    good: Sequence[int],
    bad: Sequence[int],
    excluded: Sequence[int],
    unknown: Sequence[int],
) -> tuple[Tally, ...]:
    tallies = tuple(
        Tally(good=one, bad=two, excluded=three, unknown=four)
        for one, two, three, four in zip(good, bad, excluded, unknown, strict=True)
    )
    if [each.total for each in tallies] != list(total):
        raise ValueError("a slice does not add up; throw the slices away and count them anew")
    return tallies
