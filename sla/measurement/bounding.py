"""Own what nesting says of two hosts' clocks: a request's inner part lies within its outer part, whatever clocks show.

An engine's interval lies within its gateway's, and that within its client's. If the inner clock is ahead of the outer one
by θ, then of each request

    inner begin - outer begin >= θ >= inner end - outer end,

up to what the two can resolve. So every request bounds θ from both sides, and all of them together narrowly. A stamp on a busy
host is now and then late by many milliseconds (nginx takes its time from the beginning of a turn of its loop): the most extreme
twentieth of the bounds is passed over on either side, which only ever makes them wider. If they still contradict each other, then no one θ fits: the clocks drifted apart meanwhile, or one was set. θ is told, and taken off
nothing: every duration stays on the clock that took it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import to_us
from fairclock.model.probes import ProbeOutcome
from fairclock.model.sightings import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairclock.model.sightings import Reconciled, Sighting

RESOLUTION_US = 2_000
"""What a log's milliseconds can hide, of a beginning and of an end."""

PASSED_OVER = 20
"""One in so many of the narrowest bounds is passed over on either side."""

NESTED = (
    (Source.GATEWAY, Source.CLIENT),
    (Source.SPAN, Source.GATEWAY),
    (Source.PLUGIN, Source.GATEWAY),
    (Source.TRUTH, Source.GATEWAY),
    (Source.SPAN, Source.CLIENT),
    (Source.PLUGIN, Source.CLIENT),
    (Source.TRUTH, Source.CLIENT),
)
"""Which source's interval lies within which other's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockBounds:
    """Between what the clock of `source` is ahead of that of `against`, by `count` requests; negative: behind.

    low_us, high_us: the narrowest bounds. They cross where no constant does justice to all: `drift_us` is then by how much
    the clocks have moved against each other at least. first and last bounds: of the first and last third of the requests,
    by which the direction of a drift shows.
    """

    source: Source
    instance: str
    against: Source
    against_instance: str
    count: int
    low_us: int
    high_us: int
    first_us: tuple[int, int]
    last_us: tuple[int, int]

    @property
    def drift_us(self) -> int:
        """Return by how much the clocks moved against each other at least; 0 where they may have stood still."""
        return max(0, self.low_us - self.high_us)

    @property
    def apart_us(self) -> int:
        """Return how far the clocks were apart at least, at some time."""
        return max(0, self.low_us, -self.high_us)


def clock_bounds(found: Iterable[Reconciled]) -> list[ClockBounds]:
    """Return the bounds of every pair of clocks that answered probes passed through, one of each kind of source."""
    spans: defaultdict[tuple[Source, str, Source, str], list[tuple[int, int]]] = defaultdict(list)
    for each in sorted(found, key=lambda one: (one.probe.intended_at, one.probe.id)):
        if each.probe.outcome is not ProbeOutcome.OK:
            continue
        for inner, outer in NESTED:
            pair = _bounds(each.by(inner), each.by(outer))
            if pair is not None:
                key, span = pair
                spans[key].append(span)
    order = {pair: place for place, pair in enumerate(NESTED)}
    return [
        _clock_bounds(*key, spans[key])
        for key in sorted(spans, key=lambda key: (order[key[0], key[2]], key[1], key[3]))
    ]


def _bounds(
    inner: Sighting | None, outer: Sighting | None
) -> tuple[tuple[Source, str, Source, str], tuple[int, int]] | None:
    """Return whose clocks a request bounds, and between what; None where one of its ends is not known."""
    if inner is None or outer is None or inner.began_at is None or outer.began_at is None:
        return None
    if inner.end_to_end_us is None or outer.end_to_end_us is None:
        return None
    began_us = to_us(inner.began_at) - to_us(outer.began_at)
    ended_us = began_us + inner.end_to_end_us - outer.end_to_end_us
    return (
        (inner.source, inner.instance, outer.source, outer.instance),
        (ended_us - RESOLUTION_US, began_us + RESOLUTION_US),
    )


def _clock_bounds(
    source: Source, instance: str, against: Source, against_instance: str, spans: Sequence[tuple[int, int]]
) -> ClockBounds:
    third = max(1, len(spans) // 3)
    low_us, high_us = _narrowest(spans)
    return ClockBounds(
        source=source,
        instance=instance,
        against=against,
        against_instance=against_instance,
        count=len(spans),
        low_us=low_us,
        high_us=high_us,
        first_us=_narrowest(spans[:third]),
        last_us=_narrowest(spans[-third:]),
    )


def _narrowest(spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the narrowest bounds but for the most extreme twentieth of either side."""
    passed_over = len(spans) // PASSED_OVER
    lows, highs = sorted(low for low, _ in spans), sorted(high for _, high in spans)
    return lows[-1 - passed_over], highs[passed_over]
