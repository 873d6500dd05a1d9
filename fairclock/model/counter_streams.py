"""Own how readings of a counter are told apart by process, and what each process counted from reading to reading."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Number: TypeAlias = "int | float"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One reading of a counter; times are µs since 1970.

    value: None where it was no number. since_us: since when it counts; the start of its process does as well.
    """

    at_us: int
    value: Number | None
    since_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was counted after `from_us` and up to `to_us`.

    increase: None where no reading tells. is_lossy: there may have been more. is_reset: the counter began anew.
    """

    from_us: int
    to_us: int
    increase: Number | None
    is_lossy: bool = False
    is_reset: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    at_us: int
    value: Number


def steps_of(points: Iterable[Point], *, watched_from_us: int) -> list[Step]:
    """Return every step of every process; a process that began before `watched_from_us` has no step to its first reading.

    The order of `points` is of no account.
    """
    streams = _streams(points)
    if not streams:
        return []
    first_us = min(readings[0].at_us for _, readings in streams)
    last_us = max(readings[-1].at_us for _, readings in streams)
    beginnings = sorted(since for since, _ in streams if since is not None)
    steps: list[Step] = []
    for since_us, readings in streams:
        steps.append(
            _head(since_us, readings[0], watched_from_us=min(watched_from_us, first_us), first_us=first_us)
        )
        may_hide = since_us is None  # a restart between two readings that shows in neither
        steps += [_between(earlier, later, may_hide=may_hide) for earlier, later in pairwise(readings)]
        ended_us = readings[-1].at_us
        if ended_us < last_us:  # the others go on: it ended, or was not asked again
            until_us = next((each for each in beginnings if ended_us < each <= last_us), last_us)
            steps.append(Step(from_us=ended_us, to_us=until_us, increase=None, is_lossy=True))
    return steps


def _head(since_us: int | None, first: _Reading, *, watched_from_us: int, first_us: int) -> Step:
    """Return the step from the beginning of a process to its first reading."""
    if since_us is None or since_us < watched_from_us:
        is_late = (
            first.at_us > first_us
        )  # others were read before: what this one counted meanwhile is not known
        from_us = first_us if is_late else first.at_us - 1
        return Step(from_us=from_us, to_us=first.at_us, increase=None, is_lossy=is_late)
    from_us = min(since_us, first.at_us)  # the host's clock may be ahead of ours
    return Step(from_us=from_us, to_us=first.at_us, increase=first.value, is_reset=since_us > first_us)


def _between(earlier: _Reading, later: _Reading, *, may_hide: bool) -> Step:
    is_reset = later.value < earlier.value
    return Step(
        from_us=earlier.at_us,
        to_us=later.at_us,
        increase=later.value if is_reset else later.value - earlier.value,
        is_lossy=is_reset or may_hide,
        is_reset=is_reset,
    )


def _streams(points: Iterable[Point]) -> list[tuple[int | None, list[_Reading]]]:
    """Return the readings of each process in order of time, those that are numbers."""
    by_since: defaultdict[int | None, set[tuple[int, Number]]] = defaultdict(set)
    for point in points:
        if point.value is not None:
            by_since[point.since_us].add((point.at_us, point.value))
    streams: list[tuple[int | None, list[_Reading]]] = []
    for since_us, found in by_since.items():
        readings = [_Reading(at_us=at, value=value) for at, value in sorted(found)]
        if since_us is None and _is_mixed(readings):
            streams += [(None, each) for each in _parted(readings)]
        else:
            streams.append((since_us, readings))
    return streams


def _is_mixed(readings: list[_Reading]) -> bool:
    """Return whether two processes answer in turn: the value drops, returns, drops again, and neither ever shrinks."""
    values = [reading.value for reading in readings]
    return any(
        second < first <= third and second <= fourth < third
        for first, second, third, fourth in zip(values, values[1:], values[2:], values[3:], strict=False)
    )


def _parted(readings: list[_Reading]) -> Iterator[list[_Reading]]:
    """Give each reading to the process whose last value it follows most closely."""
    streams: list[list[_Reading]] = []
    for reading in readings:
        fitting = [stream for stream in streams if stream[-1].value <= reading.value]
        if fitting:
            max(fitting, key=lambda stream: stream[-1].value).append(reading)
        else:
            streams.append([reading])
    yield from streams
