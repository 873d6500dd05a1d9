"""Own the steps of the evaluator that seal days, and that send the seals."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock, Thread
from typing import TYPE_CHECKING

from exporters.prometheus import Figure
from fairclock.store.issued_reports import day_seal_rows, day_seals_mark, hour_seals_mark
from sla.issuing.chains import Chain, chains_of
from sla.issuing.sealing import HourSeals, due_days, seal_days

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairclock.store import Store
    from fairclock.store.issued_reports import DaySealRow
    from sla.issuing.carrying import Carrier
    from sla.slices import InForce

_LOG = logging.getLogger(__name__)
_LOOK_EVERY = timedelta(minutes=1)
_MOST_DAYS_A_PASS = 31


@dataclass(slots=True)
class DayChains:
    """The chains of days' seals, read again where one was added."""

    _mark: tuple[object, ...] | None = None
    _chains: dict[str, Chain[DaySealRow]] = field(default_factory=dict)

    def current(self, store: Store, as_of: datetime) -> dict[str, Chain[DaySealRow]]:
        """Return each contract's chain as it was known at `as_of`."""
        mark = day_seals_mark(store, as_of)
        if mark != self._mark:
            self._chains, self._mark = chains_of(day_seal_rows(store, as_of)), mark
        return self._chains


@dataclass(slots=True)
class DaySealsStep:
    """Seal the days that closed, and anew those of which an hour was sealed anew; at most a month's days a pass."""

    _store: Callable[[], Store]
    _versions: Callable[[], Sequence[InForce] | None]
    _software_version: str
    _chains: DayChains = field(default_factory=DayChains)
    _seals: HourSeals | None = None
    _mark: tuple[object, ...] | None = None
    _looked_at: datetime | None = None
    _written: int = 0

    def step(self, now: datetime) -> None:
        """Look every minute, and at once where there is more to do."""
        versions = self._versions()
        if not versions or (
            self._looked_at is not None and timedelta() <= now - self._looked_at < _LOOK_EVERY
        ):
            return
        store = self._store()
        as_of = store.watermark()
        mark = hour_seals_mark(store, as_of)
        if self._seals is None or mark != self._mark:
            self._seals, self._mark = HourSeals.read(store, as_of), mark
        left = _MOST_DAYS_A_PASS
        chains = self._chains.current(store, as_of)
        for contract in dict.fromkeys(each.contract.id for each in versions):
            mine = [each for each in versions if each.contract.id == contract]
            due = list(due_days(mine, chains.get(contract, Chain()), self._seals, as_of=as_of))[:left]
            if not due:
                continue
            left -= len(due)
            for row in seal_days(
                store, due, self._seals, as_of=as_of, software_version=self._software_version
            ):
                self._written += 1
                _LOG.info("%s %s: sealed, revision %d, %s", row.contract, row.day, row.revision, row.sha256)
            if left <= 0:
                return
        self._looked_at = now

    def figures(self) -> Iterator[Figure]:
        """Yield how many days were sealed since the start."""
        yield Figure(
            name="fairclock_day_seals", about="Seals of days written since the start, revisions among them.",
            value=self._written, kind="counter",
        )  # fmt: skip


@dataclass(slots=True)
class SealDeliveryStep:
    """Let a thread send what is due, so that no slow receiver holds up the alerts."""

    _store: Callable[[], Store]
    _carrier: Carrier
    _guard: Lock = field(default_factory=Lock)
    _thread: Thread | None = None
    _failure: Exception | None = None

    def step(self, now: datetime) -> None:
        """Begin to send, unless it goes on; raises what the last time ended with."""
        if self._thread is not None and self._thread.is_alive():
            return
        with self._guard:
            failure, self._failure = self._failure, None
        if failure is not None:
            self._thread = None
            raise failure
        self._thread = Thread(target=self._send, args=(now,), name="seals", daemon=True)
        self._thread.start()

    def figures(self) -> Iterator[Figure]:
        """Yield how the receivers fare."""
        return self._carrier.figures()

    def _send(self, now: datetime) -> None:
        try:
            self._carrier.carry(self._store(), now)
        # told by the next step, whatever it is
        except Exception as error:  # noqa: BLE001
            with self._guard:
                self._failure = error
