"""Own which days have to be sealed: those that closed, and closed ones of which an hour was sealed anew."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from billing.ledger.entries import NO_HASH
from fairclock.model import Interval, from_us, to_us
from fairclock.store.issued_reports import DaySealRow, day_seal_rows, hour_seals, keep_day_seals
from fairclock.store.ledger import wait_until_settled
from fairclock.store.requests import HOUR_US, open_hours_of
from sla.evaluation.dataset import rows_of
from sla.evaluation.evidence import hours_query
from sla.evaluation.subject import subject_of
from sla.issuing.chains import Chain, chain_of
from sla.issuing.day_seals import Hour, Place, closed_days, day_seal, rests_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.slices import InForce

CLOSED_AFTER = timedelta(hours=1)
"""How long after its end a day is sealed: rows of its last minutes have arrived by then."""
AGAIN_AFTER = timedelta(minutes=10)
"""How long a seal stands before the next revision of it, so that rows which trickle in make few of them."""
_NOTHING = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class HourSeals:
    """The latest seal of every hour of the store, in time order."""

    hours: tuple[datetime, ...]
    seals: tuple[tuple[int, int], ...]
    _rests_on: dict[Interval, str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, store: Store, as_of: datetime) -> HourSeals:
        """Return them as they were known at `as_of`."""
        found = hour_seals(store, as_of)
        return cls(tuple(hour for hour, _, _ in found), tuple((seal, digest) for _, seal, digest in found))

    def within(self, window: Interval) -> dict[datetime, tuple[int, int]]:
        """Return (seal, digest) of the hours that `window` touches."""
        first = bisect_left(self.hours, from_us(to_us(window.start) // HOUR_US * HOUR_US))
        last = bisect_left(self.hours, window.end)
        return dict(zip(self.hours[first:last], self.seals[first:last], strict=True))

    def rests_on(self, window: Interval) -> str:
        """Return the hash of which hours and seals a day is made of; contracts of one zone share it."""
        if window not in self._rests_on:
            self._rests_on[window] = rests_on((hour, seal) for hour, (seal, _) in self.within(window).items())
        return self._rests_on[window]


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDay:
    """A day that has no seal, or one that does not rest on its hours' latest seals; `last` is that one."""

    contract: Contract
    day: date
    interval: Interval
    rests_on: str
    last: DaySealRow | None


def due_days(
    versions: Sequence[InForce], chain: Chain[DaySealRow], seals: HourSeals, *, as_of: datetime
) -> Iterator[DueDay]:
    """Yield what of one contract is due, in time order; a day before the store's first hour never is."""
    if not seals.hours:
        return
    last = {row.day: row for row in chain.rows}
    for version in versions:
        within = version.interval
        if within is None:
            continue
        since = max(within.start, seals.hours[0])
        for day, interval in closed_days(version.contract, since=since, until=as_of - CLOSED_AFTER):
            if not within.start <= interval.start < within.end:
                continue
            now = seals.rests_on(interval)
            known = last.get(day.isoformat())
            if known is None or (known.rests_on != now and as_of - known.stored_at >= AGAIN_AFTER):
                yield DueDay(contract=version.contract, day=day, interval=interval, rests_on=now, last=known)


def seal_days(
    store: Store, due: Sequence[DueDay], seals: HourSeals, *, as_of: datetime, software_version: str
) -> list[DaySealRow]:
    """Seal days of one contract whose hours are all sealed at `as_of`; return the rows that hold.

    Where another program sealed days of the contract meanwhile, what this one added is void; it is due again, if at all.
    """
    ready = [each for each in due if not open_hours_of(store, each.interval, as_of)]
    if not ready:
        return []
    contract = ready[0].contract.id
    chain = _chain(store, contract)
    rows: list[tuple[DaySealRow, bytes]] = []
    last = {row.day: row for row in chain.rows}
    for each in ready:
        if last.get(each.day.isoformat()) != each.last:
            continue
        place = Place(
            sequence=chain.next_sequence + len(rows),
            revision=1 if each.last is None else each.last.revision + 1,
            previous=rows[-1][0].sha256 if rows else (chain.head if chain.rows else None),
            supersedes=None if each.last is None else each.last.sha256,
        )
        content = day_seal(
            each.contract,
            each.day,
            each.interval,
            hours_of(store, each.contract, each.interval, seals.within(each.interval), as_of),
            place=place,
            as_of=as_of,
            software_version=software_version,
        )
        rows.append((_row(each, place, content, as_of), content))
    if not rows:
        return []
    wait_until_settled(store, keep_day_seals(store, rows))
    ours = {row.sha256 for row, _ in rows}
    return [row for row in _chain(store, contract).rows if row.sha256 in ours]


def hours_of(
    store: Store,
    contract: Contract,
    interval: Interval,
    seals: Mapping[datetime, tuple[int, int]],
    as_of: datetime,
) -> list[Hour]:
    """Return the hours of a day with a contract's requests as they were known at `as_of`; `seals` as `HourSeals.within` gives them."""
    source = rows_of(store, subject_of(contract), interval, as_of)
    found = {
        from_us(int(hour_us)): (int(rows), str(sha256))
        for hour_us, rows, sha256 in store.rows(hours_query(source, interval))
    }
    hours = []
    for hour in sorted({*seals, *found}):
        seal, digest = seals.get(hour, (0, 0))
        rows, sha256 = found.get(hour, (0, _NOTHING))
        hours.append(
            Hour(start=hour.astimezone(UTC), seal=seal, digest=digest, rows=rows, rows_sha256=sha256)
        )
    return hours


def _chain(store: Store, contract: str) -> Chain[DaySealRow]:
    return chain_of(day_seal_rows(store, store.watermark(), contract=contract), contract)


def _row(due: DueDay, place: Place, content: bytes, as_of: datetime) -> DaySealRow:
    return DaySealRow(
        contract=due.contract.id,
        sequence=place.sequence,
        day=due.day.isoformat(),
        revision=place.revision,
        starts_at=due.interval.start.astimezone(UTC),
        ends_at=due.interval.end.astimezone(UTC),
        as_of=as_of,
        rests_on=due.rests_on,
        previous=place.previous or NO_HASH,
        sha256=hashlib.sha256(content).hexdigest(),
    )
