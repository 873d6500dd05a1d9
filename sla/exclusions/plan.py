"""Own which instants of a month are left out, and under whose name.

Each clause is dealt its cap by itself, over the union of its windows in time order; time that two clauses
claim uses up both caps and is left out once, under the name of the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.model import Interval, clip, merge, total_us
from sla.exclusions.caps import cap_us, first_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from sla.exclusions.claims import Claim, MonthSpan
    from sla.exclusions.rules import ClauseRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """An interval that is left out for the claim called `id`, for requests to `upstream` (empty: all)."""

    id: str
    time: Interval
    upstream: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What of a month is left out: pieces, disjoint for each upstream; how much each clause and claim used up.

    caps_us: by clause; None where there is no limit. used_us: by clause. granted: by claim, before overlaps with
    other claims are taken off.
    """

    pieces: tuple[Piece, ...] = ()
    caps_us: Mapping[str, int | None] = field(default_factory=dict)
    used_us: Mapping[str, int] = field(default_factory=dict)
    granted: Mapping[str, tuple[Interval, ...]] = field(default_factory=dict)

    @property
    def times(self) -> list[Interval]:
        """Return when all requests are left out, whatever engine they went to: disjoint, in time order."""
        return merge(each.time for each in self.pieces if not each.upstream)

    def holds(self, instant: datetime, upstream: str) -> bool:
        """Say whether a request received at `instant` and sent to `upstream` is left out."""
        return any(
            each.time.start <= instant < each.time.end and each.upstream in ("", upstream)
            for each in self.pieces
        )


NOTHING = Plan()


def plan_of(claims: Sequence[Claim], rules: Mapping[str, ClauseRule], month: MonthSpan) -> Plan:
    """Return what is left out if exactly `claims` are granted, whatever their state."""
    caps = {
        name: None
        if rule.cap is None
        else cap_us(
            rule.cap, period_us=month.period.length_us, whole_us=month.whole_us, is_prorated=month.is_prorated
        )
        for name, rule in rules.items()
    }
    dealt = {
        name: first_of((time for each in claims if each.clause == name for time in each.times), caps[name])
        for name in rules
    }
    granted: dict[str, tuple[Interval, ...]] = {}
    for claim in claims:
        mine = merge(claim.times)
        within = [part for time in mine for part in clip(dealt.get(claim.clause, ()), time)]
        granted[claim.id] = tuple(within)
    return Plan(
        pieces=tuple(_pieces(claims, granted)),
        caps_us=caps,
        used_us={name: total_us(times) for name, times in dealt.items()},
        granted=granted,
    )


def _pieces(claims: Sequence[Claim], granted: Mapping[str, Sequence[Interval]]) -> Iterable[Piece]:
    """Yield disjoint pieces for each upstream, those for all requests first; the earlier claim gets the overlap."""
    upstreams = sorted({each.upstream for each in claims})
    for upstream in upstreams:
        times = [(time, each.id) for each in claims if each.upstream == upstream for time in granted[each.id]]
        times.sort(key=lambda each: (each[0].start, each[1]))
        edges = sorted({edge for time, _ in times for edge in (time.start, time.end)})
        last: Piece | None = None
        for start, end in pairwise(edges):
            owner = next((id_ for time, id_ in times if time.start <= start < time.end), None)
            if owner is None:
                continue
            if last is not None and (last.id, last.time.end) == (owner, start):
                last = Piece(id=owner, time=Interval(start=last.time.start, end=end), upstream=upstream)
                continue
            if last is not None:
                yield last
            last = Piece(id=owner, time=Interval(start=start, end=end), upstream=upstream)
        if last is not None:
            yield last
