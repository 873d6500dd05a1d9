"""Own what engines said of themselves: a full KV cache, preemptions, starts and stops."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sla.incidents.evidence.finding import Evidence, per_minute, seconds

if TYPE_CHECKING:
    from sla.incidents.observations import EngineHappening, Observed

FULL = 0.9
_STARTS = frozenset({"started", "reloaded"})


def kv_cache(seen: Observed) -> Evidence | None:
    """Tell that an engine's KV cache was above 0.9: of the fullest one, and of how many engines that is true."""
    full = [each for each in seen.fills if each.peak >= FULL]
    if not full:
        return None
    fullest = max(full, key=lambda each: (each.peak, each.full_scrapes, each.engine))
    return Evidence(
        kind="kv_cache",
        numbers={
            "engines": len(full),
            "of_engines": len(seen.fills),
            "engine": fullest.engine,
            "peak_ratio": _exact(fullest.peak),
            "full_scrapes": fullest.full_scrapes,
            "scrapes": fullest.scrapes,
            "before_ratio": None if fullest.before is None else _exact(fullest.before),
        },
        sources=("engine_samples",),
    )


def preemptions(seen: Observed) -> Evidence | None:
    """Tell that engines preempted requests more often than before."""
    count = seen.preemptions
    if not count:
        return None
    rate = per_minute(count, seen.during.minutes) or Fraction(0)
    before = seen.preemptions_before
    rate_before = None if before is None else per_minute(before, seen.before.minutes)
    if rate_before is not None and rate < 2 * rate_before:
        return None
    return Evidence(
        kind="preemptions",
        numbers={"count": count, "during_per_minute": rate, "before_per_minute": rate_before},
        sources=("engine_samples",),
    )


def cold_start(seen: Observed) -> Evidence | None:
    """Tell that engines started or came back: how many, and the longest time to the first served request."""
    starts = [each for each in seen.engine_happenings if each.kind in _STARTS]
    if not starts:
        return None
    served = [each.until_us - each.at_us for each in starts if each.until_us is not None]
    first = min(starts, key=_order)
    return Evidence(
        kind="cold_start",
        numbers={
            "engines": len({each.engine for each in starts}),
            "engine": first.engine,
            "after_seconds": seconds(first.at_us - seen.start_us),
            "longest_seconds": seconds(max(served)) if served else None,
        },
        sources=("engine_samples", "engine_states", "engine_requests"),
    )


def restarts(seen: Observed) -> Evidence | None:
    """Tell that engines ended, were replaced, or could not be reached."""
    ends = sorted((each for each in seen.engine_happenings if each.kind not in _STARTS), key=_order)
    if not ends:
        return None
    return Evidence(
        kind="restarts",
        numbers={
            "engines": len({each.engine for each in ends}),
            "engine": ends[0].engine,
            "kinds": tuple(sorted({each.kind for each in ends})),
            "after_seconds": seconds(ends[0].at_us - seen.start_us),
        },
        sources=("engine_samples", "engine_states"),
    )


def _order(each: EngineHappening) -> tuple[int, str, str]:
    return (each.at_us, each.engine, each.kind)


def _exact(value: float) -> Fraction:
    return Fraction(str(value))
