"""Own which events follow from an engine's starts and ends. Nothing here reads a store or a clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import utc_text
from sla.engines.events import EngineEvent, EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from fairclock.model.engine_signs import LastSign, Outage
    from sla.engines.lives import Life
    from sla.engines.starts import Start

MEMORY_FULL = 0.98
"""From this part of a memory on an engine that vanished is suspected to have run out of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What else was read around the end of an engine that had not said that it stops.

    sign: the last that was heard of it. gpu: the fullest GPU of its host then, and what part of its memory was in use.
    xids: what its host's GPUs reported meanwhile.
    """

    sign: LastSign | None = None
    gpu: tuple[str, float] | None = None
    xids: Sequence[int] = ()


def events_of_start(start: Start, around: Surroundings) -> Iterator[EngineEvent]:
    """Yield what a start says: that the engine started, and where it took another's place, how that one had ended."""
    life, served = start.life, start.first_served
    upstream = start.route.upstream
    yield EngineEvent(
        kind=EventKind.STARTED,
        engine=life.engine,
        at=life.began,
        until=served,
        evidence=start.evidence,
        upstream=upstream,
        start=life.began,
    )
    before = life.before
    if before is None:
        return
    gone = _gone_at(before, around)
    yield EngineEvent(
        kind=EventKind.RESTARTED,
        engine=life.engine,
        at=min(gone, life.began),
        until=served,
        evidence=f"{_how_it_ended(before, gone)}; {start.brief}",
        suspected=not life.is_exact,
        upstream=upstream,
        start=life.began,
    )
    if life.is_exact and served is not None:
        seconds = (served - life.began).total_seconds()
        yield EngineEvent(
            kind=EventKind.RELOADED,
            engine=life.engine,
            at=life.began,
            until=served,
            evidence=f"{seconds:.3f} s from its start to the first request that it served; {start.brief}",
            upstream=upstream,
            start=life.began,
        )
    if before.by_plugin and before.ended is None:
        yield from _vanished(life, gone, around, upstream)


def events_of_ends(lives: Sequence[Life]) -> Iterator[EngineEvent]:
    """Yield the ends that engines told of."""
    for life in lives:
        if life.ended is not None:
            yield EngineEvent(
                kind=EventKind.STOPPED,
                engine=life.engine,
                at=life.ended,
                evidence=f"the plugin of {life.engine} said at {utc_text(life.ended)} that it stops",
            )


def event_of_outage(outage: Outage) -> EngineEvent:
    """Return that metrics could not be read; whether the engine was away or only its metrics, nothing here says."""
    reason = f": {outage.reason}" if outage.reason else ""
    return EngineEvent(
        kind=EventKind.UNREACHABLE,
        engine=outage.target,
        at=outage.began_at,
        until=outage.ended_at,
        evidence=f"{outage.tries} scrapes of {outage.target} in a row failed{reason}",
    )


def _vanished(life: Life, gone: datetime, around: Surroundings, upstream: str) -> Iterator[EngineEvent]:
    words = (
        f"the plugin of {life.engine} was last heard at {utc_text(gone)}, did not say that the engine stops,"
        f" and said at {utc_text(life.began)} that it had started"
    )
    if around.xids:
        words += f"; GPUs of its host reported XID {', '.join(map(str, around.xids))}"
    yield EngineEvent(
        kind=EventKind.VANISHED,
        engine=life.engine,
        at=min(gone, life.began),
        until=life.began,
        evidence=words,
        upstream=upstream,
        start=life.began,
    )
    full = list(_full(around))
    if full:
        yield EngineEvent(
            kind=EventKind.OUT_OF_MEMORY,
            engine=life.engine,
            at=min(gone, life.began),
            until=life.began,
            evidence=f"suspected, no more: {'; '.join(full)}; {words}",
            suspected=True,
            upstream=upstream,
            start=life.began,
        )


def _full(around: Surroundings) -> Iterator[str]:
    usage = None if around.sign is None else around.sign.kv_cache_usage_ratio
    if usage is not None and usage >= MEMORY_FULL:
        yield f"its KV cache was last said to be {usage:.1%} full"
    if around.gpu is not None and around.gpu[1] >= MEMORY_FULL:
        yield f"{around.gpu[1]:.1%} of the memory of {around.gpu[0]} was in use"


def _gone_at(before: Life, around: Surroundings) -> datetime:
    """Return the last sign of the life before."""
    if before.ended is not None:
        return before.ended
    signs = [before.seen_to or before.began]
    if around.sign is not None:
        signs.append(around.sign.at)
    return max(signs)


def _how_it_ended(before: Life, gone: datetime) -> str:
    if before.ended is not None:
        return f"the process before it said at {utc_text(gone)} that it stops"
    if before.by_plugin:
        return f"the process before it was last heard at {utc_text(gone)} and did not say that it stops"
    return f"the process before it last answered at {utc_text(gone)}; nothing tells how it ended"
