"""Own the exclusion that needs nobody's word: an engine from its start to its first served request.

Only requests that were routed to that engine are left out. An engine that has not served yet, or that started
again before it did, has no such time: nothing shows that it was starting rather than broken.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.model.remedies import ExclusionState
from sla.exclusions.claims import Claim, ClaimedWindow
from sla.exclusions.rules import COLD_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from sla.exclusions.claims import MonthSpan
    from sla.exclusions.rules import ClauseRule


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStart:
    """One start of one engine. upstream: what the gateway calls it; evidence: the series that shows it."""

    instance: str
    upstream: str
    started_at: datetime
    first_served_at: datetime | None
    evidence: str


def cold_start_claims(
    starts: Iterable[EngineStart], rules: Mapping[str, ClauseRule], month: MonthSpan
) -> list[Claim]:
    """Return one claim a start that the contract excludes; none where it has no such clause."""
    if COLD_START not in rules:
        return []
    by_engine: dict[tuple[str, str], list[EngineStart]] = {}
    for start in starts:
        by_engine.setdefault((start.instance, start.upstream), []).append(start)
    claims = []
    for engine_starts in by_engine.values():
        ordered = sorted(set(engine_starts), key=lambda each: each.started_at)
        followed = [*pairwise(ordered), (ordered[-1], None)]
        claims += [
            claim
            for start, after in followed
            if after is None or (start.first_served_at or after.started_at) < after.started_at
            for claim in _claims(start, month.elapsed)
        ]
    return sorted(claims, key=lambda each: (each.windows[0].time.start, each.id))


def _claims(start: EngineStart, window: Interval) -> list[Claim]:
    if start.first_served_at is None or not start.upstream or start.first_served_at <= start.started_at:
        return []
    begin, end = max(start.started_at, window.start), min(start.first_served_at, window.end)
    if begin >= end:
        return []
    return [
        Claim(
            id=f"{COLD_START}:{start.instance}:{start.started_at:%Y%m%dT%H%M%S.%fZ}",
            clause=COLD_START,
            state=ExclusionState.AUTOMATIC,
            windows=(ClaimedWindow(time=Interval(start=begin, end=end)),),
            upstream=start.upstream,
            evidence=start.evidence,
        )
    ]
