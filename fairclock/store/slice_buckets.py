"""Own slices added up in the engine by stretches of equal length: for what is summed again and again, or drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Interval, to_us
from fairclock.store.query import Query
from fairclock.store.slices import NEWEST_FIRST, SliceKey, newest_query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Store

ARRAYS = ("good", "bad", "excluded", "unknown")
SUMS = ("requests", "queue_us", "queue_of_us", "gateway_us", "engine_us")
_SUMMED = ", ".join((*ARRAYS, *SUMS))

Sums = tuple[tuple[int, ...], ...]
"""The four arrays (an entry an objective), and the five sums as one more."""


def bucket_sums(
    store: Store, keys: Sequence[SliceKey], window: Interval, *, step_us: int, as_of: datetime
) -> dict[tuple[SliceKey, int], Sums]:
    """Return the sums of each stretch (its number from the start of `window`) that has slices, in one pass."""
    if not keys or not window.length_us:
        return {}
    bucket = "intDiv(toUnixTimestamp64Micro(minute) - {slice_from:Int64}, {step_us:Int64})"
    newest = newest_query(_SUMMED)
    return _sums(store, bucket, newest, {**_parameters(keys, window, as_of), "step_us": step_us})


def segment_sums(
    store: Store, keys: Sequence[SliceKey], starts: Sequence[datetime], end: datetime, *, as_of: datetime
) -> dict[tuple[SliceKey, int], Sums]:
    """Return the sums of each of the segments that begin at `starts`, in time order, the last at `end`, in one pass.

    All together are meant to be hours, not months.
    """
    if not keys or not starts or starts[0] >= end:
        return {}
    window = Interval(start=starts[0], end=end)
    bucket = "arrayFirstIndex(start -> start > toUnixTimestamp64Micro(minute), {segments:Array(Int64)}) - 2"
    # one more at the end, so that the first that is later is always found
    segments = [*(to_us(each) for each in starts), to_us(end)]
    newest = newest_query(_SUMMED, order=NEWEST_FIRST)
    return _sums(store, bucket, newest, {**_parameters(keys, window, as_of), "segments": segments})


def _sums(
    store: Store, bucket: str, newest: str, parameters: dict[str, object]
) -> dict[tuple[SliceKey, int], Sums]:
    summed = [*(f"sumForEach({name})" for name in ARRAYS), *(f"sum(toInt128({name}))" for name in SUMS)]
    found = store.rows(
        Query(
            sql=f"SELECT contract, version, {bucket} AS bucket, {', '.join(summed)} FROM ({newest})"
            " GROUP BY contract, version, bucket",
            parameters=parameters,
        )
    )
    return {
        (SliceKey(contract, version), int(number)): (
            *(tuple(map(int, array)) for array in values[: len(ARRAYS)]),
            tuple(int(value) for value in values[len(ARRAYS) :]),
        )
        for contract, version, number, *values in found
    }


def changed_buckets(
    store: Store,
    keys: Sequence[SliceKey],
    window: Interval,
    *,
    step_us: int,
    after: datetime,
    as_of: datetime,
) -> set[int]:
    """Return the stretches of `window` of which some slice was stored after an instant and by another."""
    if not keys or not window.length_us:
        return set()
    found = store.rows(
        Query(
            sql="SELECT DISTINCT intDiv(toUnixTimestamp64Micro(minute) - {slice_from:Int64}, {step_us:Int64})"
            " FROM sli_slices WHERE contract IN {slice_contracts:Array(String)}"
            " AND minute >= fromUnixTimestamp64Micro({slice_from:Int64}, 'UTC')"
            " AND minute < fromUnixTimestamp64Micro({slice_to:Int64}, 'UTC')"
            " AND toUnixTimestamp64Micro(stored_at) > {after:Int64}"
            " AND toUnixTimestamp64Micro(stored_at) <= {slice_known:Int64}",
            parameters={**_parameters(keys, window, as_of), "step_us": step_us, "after": to_us(after)},
        )
    )
    return {int(row[0]) for row in found}


def _parameters(keys: Sequence[SliceKey], window: Interval, as_of: datetime) -> dict[str, object]:
    return {
        "slice_contracts": [key.contract for key in keys],
        "slice_versions": [key.version for key in keys],
        "slice_from": to_us(window.start),
        "slice_to": to_us(window.end),
        "slice_known": to_us(as_of),
    }
