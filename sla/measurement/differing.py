"""Own how far two sources are apart about one duration of the same probes, each having taken it on its own clock."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model.probes import ProbeOutcome
from fairclock.model.sightings import Source
from sla.percentiles import rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairclock.model.sightings import Reconciled, Sighting

ENGINE_TOLERANCE_US = 1_000
"""What the engine's own words about queue, prefill and decode may differ by, whoever carried them."""

GATEWAY_TOLERANCE_US = 5_000
"""What a gateway's time may differ from its client's at the median: between them lie a network and the client's lateness."""

_MEDIAN, _P95, _P99 = Fraction(50), Fraction(95), Fraction(99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One duration that two sources have: `clock` of `source` is held against that of `against`.

    tolerance_us: what a difference may be; None where nothing is asked of it. may_be_beyond: of what share of the probes
    it may be more.
    """

    clock: str
    source: Source
    against: Source
    tolerance_us: int | None = None
    may_be_beyond: Fraction = Fraction(0)


def _of_engine(source: Source, against: Source) -> tuple[Comparison, ...]:
    return (
        *(
            Comparison(clock=clock, source=source, against=against, tolerance_us=ENGINE_TOLERANCE_US)
            for clock in ("queue", "prefill", "decode")
        ),
        # where an engine's own end to end begins and ends is each source's own idea
        Comparison(clock="time_to_first_token", source=source, against=against),
        Comparison(clock="end_to_end", source=source, against=against),
    )


COMPARED = (
    Comparison(
        clock="end_to_end",
        source=Source.GATEWAY,
        against=Source.CLIENT,
        tolerance_us=GATEWAY_TOLERANCE_US,
        may_be_beyond=Fraction(1, 2),
    ),
    Comparison(clock="time_to_first_token", source=Source.GATEWAY, against=Source.CLIENT),
    *_of_engine(Source.PLUGIN, Source.TRUTH),
    *_of_engine(Source.SPAN, Source.TRUTH),
    *_of_engine(Source.SPAN, Source.PLUGIN),
)
"""What is held against what, in the order in which it is shown."""

_FIELDS = {
    "end_to_end": "end_to_end_us",
    "queue": "queue_us",
    "prefill": "prefill_us",
    "decode": "decode_us",
    "time_to_first_token": "first_token_us",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far the source's duration lies above the other's, over the probes that have both; microseconds.

    median_us: of the differences with their signs. The rest is of their sizes. beyond: how many are larger than the
    tolerance; None where there is none.
    """

    comparison: Comparison
    count: int
    least_us: int
    median_us: int
    greatest_us: int
    size_p50_us: int
    size_p95_us: int
    size_p99_us: int
    beyond: int | None


def differences(found: Iterable[Reconciled]) -> list[Difference]:
    """Return every comparison for which there is a probe that was answered and that both sources saw."""
    answered = [each for each in found if each.probe.outcome is ProbeOutcome.OK]
    shown = (_difference(comparison, answered) for comparison in COMPARED)
    return [each for each in shown if each is not None]


def _difference(comparison: Comparison, answered: Sequence[Reconciled]) -> Difference | None:
    apart = sorted(
        mine - theirs
        for each in answered
        if (mine := _duration(each.by(comparison.source), comparison.clock)) is not None
        and (theirs := _duration(each.by(comparison.against), comparison.clock)) is not None
    )
    if not apart:
        return None
    sizes = sorted(map(abs, apart))
    limit = comparison.tolerance_us
    return Difference(
        comparison=comparison,
        count=len(apart),
        least_us=apart[0],
        median_us=_at(apart, _MEDIAN),
        greatest_us=apart[-1],
        size_p50_us=_at(sizes, _MEDIAN),
        size_p95_us=_at(sizes, _P95),
        size_p99_us=_at(sizes, _P99),
        beyond=None if limit is None else sum(size > limit for size in sizes),
    )


def _duration(seen: Sighting | None, clock: str) -> int | None:
    return None if seen is None else getattr(seen, _FIELDS[clock])


def _at(ascending: Sequence[int], percentile: Fraction) -> int:
    return ascending[rank(len(ascending), percentile) - 1]
