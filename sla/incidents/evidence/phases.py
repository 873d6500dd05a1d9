"""Own where the time of the bad requests went: waiting, inference, or neither. The greater half is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.incidents.evidence.finding import Evidence, mean, part

if TYPE_CHECKING:
    from sla.incidents.observations import Observed, Phases

_SOURCES = ("requests",)


def queue(seen: Observed) -> Evidence | None:
    """Tell that at least half of their time was waiting."""
    return _told("queue", seen, seen.over.queue_us, seen.usual.queue_us)


def inference(seen: Observed) -> Evidence | None:
    """Tell that at least half of their time was inference."""
    return _told("inference", seen, seen.over.inference_us, seen.usual.inference_us)


def outside(seen: Observed) -> Evidence | None:
    """Tell that at least half of their time was neither: network, parsing, the engine's frontend."""
    return _told("outside", seen, seen.over.outside_us, seen.usual.outside_us)


def _told(kind: str, seen: Observed, spent_us: int, usually_us: int) -> Evidence | None:
    over: Phases = seen.over
    if not over.known or 2 * spent_us < over.elapsed_us:
        return None
    return Evidence(
        kind=kind,
        numbers={
            "bad": over.requests,
            "known": over.known,
            "share_ratio": part(spent_us, over.elapsed_us),
            "mean_seconds": mean(spent_us, over.known),
            "before_ratio": part(usually_us, seen.usual.elapsed_us),
            "before_seconds": mean(usually_us, seen.usual.known),
        },
        sources=_SOURCES,
    )
