"""Own what a line's `time` says before anything else in it is read: its bucket, and how far the log is read.

A line's bucket is a function of its bytes alone, so equal lines share it. It only has to be near in the file
for lines that are near in time; whether the time makes sense is the store's to judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collectors.gateway.formats import GatewayFormat

_AS_SHIPPED = re.compile(rb'^\{"time":"(\d{10})\.(\d{3})"', re.MULTILINE)
_AS_SHIPPED_BYTES = 24
_NUMBER = re.compile(rb'"time"\s*:\s*"?\s*(\d{1,18})(?:\.(\d{1,6}))?')
_OTHER = re.compile(rb'"time"\s*:\s*"?([^",}]{0,16})')
_NEEDED = b'"time"'
_BUCKET_SECONDS = 10
_US_PER_SECOND = 1_000_000
_US_PER_MS = 1_000
_MS_PER_BUCKET = _BUCKET_SECONDS * 1_000
_OTHER_BUCKETS = 1 << 64
_OTHER_BYTES = 16
_EARLIEST_US = 946_684_800 * _US_PER_SECOND  # 2000-01-01: what is earlier is a clock that is not set
_LATEST_AHEAD_US = 300 * _US_PER_SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimes:
    """What lines say about time.

    buckets: one a line; None for a line that cannot be a request and is never numbered.
    times_us: one a line; None where `time` is no number.
    """

    buckets: Sequence[int | None]
    times_us: Sequence[int | None]


def event_times(lines: Sequence[bytes], form: GatewayFormat | None = None) -> EventTimes:
    """Read the times of `lines`, which are nginx JSON unless `form` says otherwise."""
    if form is not None and not form.passes_through:
        ended_us = [form.ended_us(line) for line in lines]
        return EventTimes(
            buckets=[
                None if each is None else each // (_BUCKET_SECONDS * _US_PER_SECOND) for each in ended_us
            ],
            times_us=ended_us,
        )
    found = _AS_SHIPPED.findall(b"\n".join([line[:_AS_SHIPPED_BYTES] for line in lines]))
    if len(found) == len(lines):
        times_ms = [int(seconds + milliseconds) for seconds, milliseconds in found]
        return EventTimes(
            buckets=[time_ms // _MS_PER_BUCKET for time_ms in times_ms],
            times_us=[time_ms * _US_PER_MS for time_ms in times_ms],
        )
    buckets: list[int | None] = []
    times_us: list[int | None] = []
    for line in lines:
        number = _NUMBER.search(line)
        if number is None:
            buckets.append(_other_bucket(line))
            times_us.append(None)
            continue
        seconds, fraction = number.groups()
        buckets.append(int(seconds) // _BUCKET_SECONDS)
        times_us.append(int(seconds) * _US_PER_SECOND + int((fraction or b"").ljust(6, b"0")))
    return EventTimes(buckets=buckets, times_us=times_us)


def _other_bucket(line: bytes) -> int | None:
    if _NEEDED not in line:
        return None
    other = _OTHER.search(line)
    text = b"" if other is None else other[1]
    return _OTHER_BUCKETS + int.from_bytes(text.ljust(_OTHER_BYTES, b"\0"), "big")


def extended(
    through_us: int | None, times_us: Sequence[int | None], *, now_us: int
) -> tuple[int, int] | None:
    """Return the event time [from, to) that reading `times_us` adds, or None where it adds none.

    A log that was read through to `through_us` is read on from there; one that is begun, or was interrupted
    (None), is read from its first line's time. Times that no clock shows now count for nothing: one wrong
    digit must not declare a month measured.
    """
    possible = possible_times(times_us, now_us=now_us)
    if not possible:
        return None
    start_us = possible[0] if through_us is None else through_us
    return start_us, max(start_us, *possible)


def possible_times(times_us: Sequence[int | None], *, now_us: int) -> list[int]:
    """Return those of `times_us` that a clock can have shown by now."""
    latest_us = now_us + _LATEST_AHEAD_US
    return [each for each in times_us if each is not None and _EARLIEST_US <= each <= latest_us]
