"""Own which range of each contract's minutes has to be grouped anew: wide enough that no incident is cut."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.store.incidents import changed_minutes, incident_progress, note_incident_progress
from fairclock.store.slices import MINUTE_US
from sla.incidents.grouping import LEAST_BAD, REACH_MINUTES
from sla.slices.reading import sums_as_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from fairclock.store.incidents import IncidentEntry
    from sla.slices.evaluator import InForce

_MINUTE = timedelta(microseconds=MINUTE_US)
_REACH = REACH_MINUTES * _MINUTE
_MARGIN = LEAST_BAD * _REACH
"""So far a bad minute may hang together with others of too few bad requests to be stored."""


def ranges_to_group(
    store: Store,
    by_contract: Mapping[str, Sequence[InForce]],
    told: Mapping[str, Sequence[IncidentEntry]],
    window: Interval | None,
    as_of: datetime,
) -> dict[str, Interval]:
    """Return, for each contract of which something may be found otherwise, the range to group anew."""
    keys = {each.key: contract for contract, versions in by_contract.items() for each in versions}
    changed: dict[str, Interval] = {}
    if window is not None:
        changed = dict.fromkeys(by_contract, window)
    else:
        for key, (first, last) in changed_minutes(store, list(keys), incident_progress(store), as_of).items():
            changed[keys[key]] = hull_of([Interval(start=first, end=last + _MINUTE)], changed.get(keys[key]))
    ranges: dict[str, Interval] = {}
    for contract in by_contract:
        stored = [each for each in told[contract] if each.state != "withdrawn"]
        # one that goes on ends by itself where nothing more is heard
        going_on = [
            Interval(start=each.starts_at, end=each.ends_at) for each in stored if each.state == "ongoing"
        ]
        touched = [*going_on, *([changed[contract]] if contract in changed else [])]
        if touched:
            hull = hull_of(touched)
            span = Interval(start=hull.start - _MARGIN, end=hull.end + _MARGIN)
            ranges[contract] = _whole(span, stored)
    return _worth_it(store, by_contract, told, ranges=ranges, changed=changed, as_of=as_of)


def _worth_it(
    store: Store,
    by_contract: Mapping[str, Sequence[InForce]],
    told: Mapping[str, Sequence[IncidentEntry]],
    *,
    ranges: Mapping[str, Interval],
    changed: Mapping[str, Interval],
    as_of: datetime,
) -> dict[str, Interval]:
    """Return the ranges less those without any bad request and any incident; of those only the progress is noted."""
    quiet = [
        contract
        for contract, span in ranges.items()
        if not any(
            each.state != "withdrawn" and each.starts_at < span.end and each.ends_at > span.start
            for each in told[contract]
        )
    ]
    if not quiet:
        return dict(ranges)
    keys = {each.key: contract for contract in quiet for each in by_contract[contract]}
    hull = hull_of([ranges[contract] for contract in quiet])
    sums = sums_as_of(store, list(keys), [hull], as_of)
    bad = {keys[key] for key, (one,) in sums.items() if any(tally.bad for tally in one.tallies)}
    note_incident_progress(store, [each for each in quiet if each not in bad and each in changed], as_of)
    return {contract: span for contract, span in ranges.items() if contract not in quiet or contract in bad}


def _whole(span: Interval, stored: Sequence[IncidentEntry]) -> Interval:
    """Return `span`, wider by the incidents that it would cut."""
    while True:
        wider = hull_of(
            [
                Interval(start=each.starts_at, end=each.ends_at)
                for each in stored
                if each.starts_at < span.end and each.ends_at > span.start
            ],
            span,
        )
        if wider == span:
            return span
        span = wider


def hull_of(intervals: Sequence[Interval], other: Interval | None = None) -> Interval:
    """Return the time from the first start to the last end."""
    every = [*intervals, *([other] if other is not None else [])]
    return Interval(start=min(each.start for each in every), end=max(each.end for each in every))
