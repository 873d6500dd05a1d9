"""Own which months of contracts have to be evaluated again: those that are over and rest on something new."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval, clip, from_us, merge, to_us
from fairclock.store.evaluations import latest_evaluations
from fairclock.store.ledger import changed_charges
from fairclock.store.slices import changed_hours
from sla.evaluation.months import months_before
from sla.slices.versions import latest_month

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.slices import InForce

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueMonth:
    """A month of a contract: all versions of that, and the hash of what the month rests on beside the rows."""

    versions: tuple[InForce, ...]
    month: str
    period: Interval
    inputs: str

    @property
    def contract(self) -> str:
        """Return the contract's id."""
        return self.versions[0].contract.id

    @property
    def contracts(self) -> list[Contract]:
        """Return the contract's versions."""
        return [each.contract for each in self.versions]

    @property
    def key(self) -> tuple[str, str]:
        """Return contract and month."""
        return self.contract, self.month

    @property
    def rests_on(self) -> Interval:
        """Return in which time rows matter to it: its own, and what is looked back at."""
        carries = any(each.insufficient.verdict == "carry_over" for each in self.contracts)
        first = _first(self.versions) if carries else self.period.start
        return Interval(start=min(first, self.period.start) - _HOUR, end=self.period.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Up to which instant a month is known to rest on nothing new, and the hash of what it rested on beside rows."""

    as_of: datetime
    inputs: str


def months_within(versions: Sequence[InForce], window: Interval | None, as_of: datetime) -> list[DueMonth]:
    """Return the months of one contract that are over by `as_of` and lie in `window` as a whole, in time order."""
    found = []
    for label in _labels(versions, as_of):
        period = _period(versions, label)
        if period is None or period.end > as_of:
            continue
        if window is None or (window.start <= period.start and period.end <= window.end):
            due = DueMonth(
                versions=tuple(versions), month=label, period=period, inputs=_inputs(versions, period)
            )
            found.append(due)
    return found


def due_months(
    store: Store,
    contracts: Sequence[Sequence[InForce]],
    as_of: datetime,
    looked: MutableMapping[tuple[str, str], Looked],
) -> list[DueMonth]:
    """Return the months that are over and rest on something that was not there when they were last looked at.

    `looked` says what is known already, and is brought up to date for those that are not due; where it says
    nothing the latest revision does. A month of which nothing was ever stored is never due.
    """
    months = [each for versions in contracts for each in months_within(versions, None, as_of)]
    _recall(store, months, looked)
    changed: dict[int, list[int]] = {}
    charged: dict[int, set[tuple[str, int]]] = {}
    due = []
    for each in months:
        known = looked.get(each.key)
        since_us = 0 if known is None else to_us(known.as_of)
        if since_us not in changed:
            changed[since_us] = changed_hours(store, since_us, as_of)
            charged[since_us] = changed_charges(store, since_us, as_of)
        inside = each.rests_on
        first_us, last_us = to_us(inside.start), to_us(inside.end)
        is_touched = any(first_us <= hour < last_us for hour in changed[since_us])
        tenants = {tenant for contract in each.contracts for tenant in contract.customer.tenants}
        is_charged = known is not None and any(
            tenant in tenants and to_us(each.period.start) <= at_us < to_us(each.period.end)
            for tenant, at_us in charged[since_us]
        )
        if is_touched or is_charged or (known is not None and known.inputs != each.inputs):
            due.append(each)
        else:
            looked[each.key] = Looked(as_of=as_of, inputs=each.inputs)
    return due


def _recall(
    store: Store, months: Sequence[DueMonth], looked: MutableMapping[tuple[str, str], Looked]
) -> None:
    new = [each.key for each in months if each.key not in looked]
    if new:
        kept: Mapping[tuple[str, str], tuple[datetime, str]] = latest_evaluations(
            store, sorted({contract for contract, _ in new})
        )
        for key in new:
            if key in kept:
                looked[key] = Looked(as_of=kept[key][0], inputs=kept[key][1])


def _labels(versions: Sequence[InForce], as_of: datetime) -> list[str]:
    """Return every month in which one of the versions was in force and that had begun, in time order."""

    def of(version: InForce) -> Iterator[str]:
        latest = latest_month(version.contract, as_of, version.within)
        if latest is not None:
            yield latest
            yield from months_before(version.contract, latest, version.within)

    return sorted({label for version in versions for label in of(version)})


def _period(versions: Sequence[InForce], label: str) -> Interval | None:
    """Return the part of a month in which a version judges; None where none does."""
    parts = []
    for version in versions:
        interval = version.interval
        if interval is not None:
            parts += clip([interval], version.contract.whole_month(label))
    return (
        Interval(start=min(each.start for each in parts), end=max(each.end for each in parts))
        if parts
        else None
    )


def _first(versions: Sequence[InForce]) -> datetime:
    return min((each.interval.start for each in versions if each.interval), default=from_us(0))


def _inputs(versions: Sequence[InForce], period: Interval) -> str:
    """Return the hash of what the month rests on beside the rows: versions, and what is left out of it."""
    said = []
    for version in versions:
        interval = version.interval
        if interval is None or not clip([interval], period):
            continue
        left_out = clip(merge(version.excluded.instants), period)
        requests = version.excluded.requests
        said.append(
            (
                version.contract.version_sha256,
                [(to_us(each.start), to_us(each.end)) for each in clip([interval], period)],
                [(to_us(each.start), to_us(each.end)) for each in left_out],
                requests.sql,
                sorted(requests.parameters.items()),
            )
        )
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]
