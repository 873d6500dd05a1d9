"""Own what counted minute by minute for each objective of a contract: out of slices, or out of the rows themselves.

Requests whose value is not known decide nothing here: they make no minute bad, and none good.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Interval, clip, merge, to_us
from fairclock.store.slices import slices_query
from sla.contracts.objectives import AvailabilityObjective, Downtime, LatencyObjective
from sla.incidents.grouping import MINUTE_US, Minute
from sla.slices.counting import counted_by_minute

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.contracts.objectives import Objective
    from sla.evaluation.rows import Requests
    from sla.slices.evaluator import InForce


@dataclass(slots=True, kw_only=True)
class Minutes:
    """The minutes of each objective (by its name) in which something counted, and those that were read through (starts, µs).

    An objective that had nothing bad is left out: it has no incident.
    """

    by_objective: dict[str, list[Minute]] = field(default_factory=dict)
    read_us: list[int] = field(default_factory=list)

    def add(self, version: InForce, counted: Sequence[tuple[int, Sequence[int], Sequence[int]]]) -> None:
        """Add what `version` counted: minutes (starts, µs), each with good and bad requests of every objective of its file."""
        if not counted:
            return
        most_bad = [max(of_objective) for of_objective in zip(*(bad for _, _, bad in counted), strict=True)]
        for place, objective in enumerate(version.contract.objectives):
            share = allowed_share(objective)
            if share is None or not most_bad[place]:
                continue
            self.by_objective.setdefault(objective.name, []).extend(
                Minute(start_us, good[place] + bad[place], bad[place], share)
                for start_us, good, bad in counted
                if good[place] or bad[place]
            )

    def whole(self) -> Mapping[str, list[Minute]]:
        """Return the minutes of each objective that has a bad one; where two versions judged in one, both together."""
        return {
            name: _together(found)
            for name, found in self.by_objective.items()
            if any(each.is_bad for each in found)
        }


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
            rows = store.rows(query)
            found.add(version, [(int(minute_us), good, bad) for _, minute_us, _, good, bad, *_ in rows])
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


def _together(minutes: Sequence[Minute]) -> list[Minute]:
    """Return one entry a minute; of two shares the smaller holds."""
    found: dict[int, Minute] = {}
    for each in minutes:
        other = found.get(each.start_us)
        found[each.start_us] = (
            each
            if other is None
            else Minute(
                each.start_us,
                other.counted + each.counted,
                other.bad + each.bad,
                min(other.share, each.share),
            )
        )
    return list(found.values())
