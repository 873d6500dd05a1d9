"""Own alerts about what is not there: time nobody read through, a source gone silent, probes without an answer."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Interval, clip, total_us
from sla.alerts.conditions import Condition, Finding, Holds, age_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

_MICROSECONDS = 1_000_000


def unexplained_gap(
    window: Interval,
    *,
    covered: Iterable[Interval],
    explained: Iterable[Interval],
    longest_us: int,
    now: datetime,
) -> Condition:
    """Say whether a stretch of `window` longer than `longest_us` was neither read through nor explained.

    explained: accepted exclusions, announced maintenance of the collection, times before it began. The value
    and the threshold are seconds. This condition always knows.
    """
    read = clip(covered, window)
    longest = max((each.length_us for each in _outside([*read, *explained], window)), default=0)
    newest = max((each.end for each in read), default=None)
    finding = Finding(
        rule="measurement-gap",
        window=window,
        value=Fraction(longest, _MICROSECONDS),
        threshold=Fraction(longest_us, _MICROSECONDS),
        data_age_seconds=age_seconds(newest, now),
        coverage=Fraction(total_us(read), window.length_us) if window.length_us else None,
    )
    return Condition(holds=Holds.YES if longest > longest_us else Holds.NO, finding=finding)


def silent_source(newest_at: datetime | None, *, now: datetime, limit_us: int, is_suspect: bool) -> Condition:
    """Say whether a source said nothing for longer than `limit_us`, or contradicts itself (`is_suspect`)."""
    age = age_seconds(newest_at, now)
    finding = Finding(
        rule="source-suspect" if is_suspect else "source-silent",
        value=age,
        threshold=Fraction(limit_us, _MICROSECONDS),
        data_age_seconds=age,
    )
    silent = age is None or age * _MICROSECONDS > limit_us
    return Condition(holds=Holds.YES if silent or is_suspect else Holds.NO, finding=finding)


def failed_probes(
    window: Interval, *, sent: int, failed: int, requests: int, min_failed: int = 2
) -> Condition:
    """Say whether probes failed where no request was logged: an outage that silences the gateway is no quiet time.

    Without a probe nothing is known.
    """
    finding = Finding(
        rule="probes-failed", window=window, bad=failed, counted=sent, threshold=Fraction(min_failed)
    )
    if failed >= min_failed and requests == 0:
        return Condition(holds=Holds.YES, finding=finding)
    if sent == 0:
        return Condition(holds=Holds.UNKNOWN, finding=finding, why_unknown="no probe was sent in the window")
    return Condition(holds=Holds.NO, finding=finding)


def _outside(known: Iterable[Interval], window: Interval) -> Iterable[Interval]:
    start = window.start
    for each in clip(known, window):
        if each.start > start:
            yield Interval(start=start, end=each.start)
        start = max(start, each.end)
    if start < window.end:
        yield Interval(start=start, end=window.end)
