"""Own what counted minute by minute for each objective of a contract: out of slices, or out of the rows themselves.

Requests whose value is not known decide nothing here: they make no minute bad, and none good.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fairclock.model import Interval, clip, merge, to_us
from fairclock.store.slices import slices_query
from sla.contracts.objectives import AvailabilityObjective, Downtime, LatencyObjective
from sla.evaluation.fragments import select, sql
from sla.incidents.grouping import GOOD_MINUTES, MINUTE_US, Minute
from sla.slices.counting import counted_by_minute

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.contracts.objectives import Objective
    from sla.evaluation.rows import Requests
    from sla.slices.evaluator import InForce

_Shared: TypeAlias = tuple[int, int, int, Fraction]
"""A minute's start in µs, its requests, the bad ones, and the share that may be bad."""
_ONLY = (sql("minute_us"), sql("good"), sql("bad"))


@dataclass(slots=True, kw_only=True)
class Minutes:
    """What the minutes of each objective (by its name) counted, version by version, and which were read through (starts, µs)."""

    by_objective: dict[str, list[_Counted]] = field(default_factory=dict)
    read_us: list[int] = field(default_factory=list)

    def add(self, version: InForce, counted: Iterable[Sequence[Any]]) -> None:
        """Add what `version` counted: minutes (starts, µs), each with good and bad requests of every objective of its file."""
        ordered = sorted(counted, key=lambda minute: minute[0])
        for place, objective in enumerate(version.contract.objectives):
            share = allowed_share(objective)
            if share is not None:
                self.by_objective.setdefault(objective.name, []).append(_Counted(share, place, ordered))

    def whole(self) -> Mapping[str, list[Minute]]:
        """Return the minutes of each objective that has a bad one, in time order; where two versions judged in one, both together.

        Left out are minutes in which nothing was bad with so many of that kind on both sides that they end what came
        before them and are no part of what comes after.
        """
        return {
            name: minutes
            for name, versions in self.by_objective.items()
            if any(version.has_bad() for version in versions)
            for minutes in [_near_bad(_together(versions))]
            if any(each.is_bad for each in minutes)
        }


class _Counted(NamedTuple):
    """What one version counted for the objective at a place of its file: minutes with good and bad ones of each, in order."""

    share: Fraction
    place: int
    counted: Sequence[Sequence[Any]]

    def has_bad(self) -> bool:
        place = self.place
        return any(bad[place] for _, _, bad in self.counted)

    def minutes(self) -> list[_Shared]:
        share, place = self.share, self.place
        return [
            (start_us, good[place] + bad[place], bad[place], share)
            for start_us, good, bad in self.counted
            if good[place] or bad[place]
        ]


def _near_bad(minutes: Sequence[_Shared]) -> list[Minute]:
    """Return those that have a bad request, and those so near one that they may matter."""
    near = bytearray(len(minutes))
    for place, (_, _, bad, _) in enumerate(minutes):
        if bad:
            first, last = max(place - GOOD_MINUTES, 0), min(place + GOOD_MINUTES, len(minutes) - 1)
            near[first : last + 1] = b"\x01" * (last + 1 - first)
    return [Minute(*each) for each in itertools.compress(minutes, near)]


def _together(versions: Sequence[_Counted]) -> list[_Shared]:
    """Return one entry a minute; of two shares the smaller holds."""
    if len(versions) == 1:
        return versions[0].minutes()
    found: dict[int, _Shared] = {}
    for version in versions:
        for start_us, counted, bad, share in version.minutes():
            _, counted_too, bad_too, other = found.get(start_us, (start_us, 0, 0, share))
            found[start_us] = (start_us, counted + counted_too, bad + bad_too, min(share, other))
    return [found[start_us] for start_us in sorted(found)]


def allowed_share(objective: Objective) -> Fraction | None:
    """Return the share of an objective's requests that may be bad; None where it judges no single requests."""
    if isinstance(objective, LatencyObjective):
        return 1 - Fraction(objective.latency.percentile) / 100
    if isinstance(objective, AvailabilityObjective):
        availability = objective.availability
        if isinstance(availability, Downtime) and availability.bad_above is not None:
            return Fraction(availability.bad_above)
        return 1 - Fraction(availability.target)
    return None


def minutes_of_slices(
    store: Store, versions: Iterable[InForce], window: Interval, as_of: datetime
) -> Minutes:
    """Return what the slices of one contract's versions say of `window`, as they were known at `as_of`."""
    found = Minutes()
    read = set()
    for version in versions:
        counted = []
        for minute, _, good, bad, _, _, _, _, _, gateway_us, *_ in store.rows(
            slices_query(version.key, window, as_of)
        ):
            start_us = to_us(minute)
            if gateway_us >= MINUTE_US:
                read.add(start_us)
            if good:
                counted.append((start_us, good, bad))
        found.add(version, counted)
    found.read_us = sorted(read)
    return found


def minutes_of_rows(
    store: Requests, versions: Iterable[InForce], window: Interval, as_of: datetime
) -> Minutes:
    """Return what the requests received in `window` say, as they were known at `as_of`: what slices would say."""
    found = Minutes()
    for version in versions:
        interval = version.interval
        for inside in clip([interval], window) if interval is not None else ():
            query = counted_by_minute(store, [version.contract], inside, as_of, excluded=version.excluded)
            found.add(version, store.rows(select(_ONLY, query)))
    found.read_us = read_minutes(store.covered("gateway", window, as_of))
    return found


def read_minutes(covered: Iterable[Interval]) -> list[int]:
    """Return the starts, in µs, of the minutes that lie wholly in `covered`."""
    return [
        minute_us
        for each in merge(covered)
        for minute_us in range(
            -(-to_us(each.start) // MINUTE_US) * MINUTE_US,
            to_us(each.end) // MINUTE_US * MINUTE_US,
            MINUTE_US,
        )
    ]
