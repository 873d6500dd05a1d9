"""Own the way from the spool into the store: batches, retries for ever, acknowledgement."""

from __future__ import annotations

import logging
import random
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Protocol

from exporters.back_off import BackOff
from exporters.clickhouse.batches import Gathering
from exporters.clickhouse.delivery import Delivery
from exporters.clickhouse.verdicts import sentence_of
from fairclock.store import IngestCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from exporters.clickhouse.batches import Adapter, RowStore
    from exporters.spool import Position
    from fairclock.model import Frame
    from fairclock.store import Kind

_LOG = logging.getLogger(__name__)
_FLUSH_SECONDS = 5.0
_LOAD_BYTES = 24 << 20  # about 50,000 rows: worth a batch at once
_READ_BYTES = 4 << 20
_LARGEST_GATHERING_BYTES = 96 << 20
_ENOUGH_ROWS = 75_000
_IDLE_SECONDS = 3_600.0
_GRACE_SECONDS = 30.0
_FIRST_RETRY_SECONDS = 0.5
_LAST_RETRY_SECONDS = 30.0
_SAY_AGAIN_SECONDS = 300.0


class FrameSource(Protocol):
    """What a writer needs of `exporters.spool.Spool`."""

    @property
    def position(self) -> Position:
        """Return where reading begins."""
        ...

    def unread_bytes(self, after: Position) -> int:
        """Return how much follows `after`."""
        ...

    def read(self, after: Position, *, max_bytes: int) -> tuple[list[Frame], Position]:
        """Return frames that follow `after`, and the position behind them."""
        ...

    def acknowledge(self, position: Position) -> None:
        """Note that everything before `position` was delivered."""
        ...

    def wait(
        self, after: Position, *, timeout_seconds: float, at_least_bytes: int, interrupted: Callable[[], bool]
    ) -> None:
        """Return when enough follows `after`, time is up, or `interrupted` is true."""
        ...

    def wake(self) -> None:
        """Let whoever waits look whether it is interrupted."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterStatistics:
    """What a writer has done since it started, and how it fares.

    counts: what became of the rows, by kind and source.
    refused: rows that became dead letters because the store did not take them, by reason.
    inserts: how many batches were handed to the store.
    failures_in_a_row, latest_error: 0 and "" while all is well.
    """

    counts: dict[tuple[Kind, str], IngestCounts]
    refused: dict[str, int]
    inserts: int
    failures_in_a_row: int
    latest_error: str


@dataclass(frozen=True, slots=True)
class Rest:
    """How long nothing is to be done, unless as many bytes wait."""

    seconds: float
    unless_bytes: int | None = None


@dataclass(slots=True)
class _Totals:
    counts: dict[tuple[Kind, str], IngestCounts] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    inserts: int = 0


class Writer:
    """Write what the spool holds into a store, in a thread of its own from `start` to `stop`.

    `open_store` gives a context manager whose value is the store; it is called until it succeeds, and closed at the
    end. `adapters` make canonical lines of each frame format. `monotonic` and `random` are there to be replaced.
    """

    def __init__(
        self,
        spool: FrameSource,
        open_store: Callable[[], AbstractContextManager[RowStore]],
        *,
        adapters: Mapping[str, Adapter],
        monotonic: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._spool = spool
        self._open_store = open_store
        self._adapters = adapters
        self._monotonic = monotonic
        self._back_off = BackOff(
            first_seconds=_FIRST_RETRY_SECONDS, most_seconds=_LAST_RETRY_SECONDS, random=random
        )
        self._position = spool.position
        self._delivery: Delivery | None = None
        self._noticed_at: float | None = None
        self._retry_at = self._quiet_until = 0.0
        self._latest_error = ""
        self._totals = _Totals()
        self._guard = Lock()
        self._stack = ExitStack()
        self._store: RowStore | None = None
        self._stopping = Event()
        self._grace_seconds = _GRACE_SECONDS
        self._thread = Thread(target=self._run, name="store-writer", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self, *, grace_seconds: float = _GRACE_SECONDS) -> None:
        """Write what waits, as far as that goes without a failure in `grace_seconds`; the rest stays in the spool."""
        self._grace_seconds = grace_seconds
        self._stopping.set()
        self._spool.wake()
        if self._thread.ident is not None:
            self._thread.join(grace_seconds)

    def statistics(self) -> WriterStatistics:
        """Return what was done so far."""
        with self._guard:
            return WriterStatistics(
                counts=dict(self._totals.counts),
                refused=dict(self._totals.refused),
                inserts=self._totals.inserts,
                failures_in_a_row=self._back_off.failures,
                latest_error=self._latest_error,
            )

    def turn(self, *, at_once: bool = False) -> Rest:
        """Do what is due, or anything that waits if `at_once`; return when to come again."""
        now = self._monotonic()
        if self._delivery is None:
            unread_bytes = self._spool.unread_bytes(self._position)
            if not unread_bytes:
                self._noticed_at = None
                return Rest(_IDLE_SECONDS, unless_bytes=1)
            if self._noticed_at is None:
                self._noticed_at = now
            due_in = self._noticed_at + _FLUSH_SECONDS - now
            if due_in > 0 and unread_bytes < _LOAD_BYTES and not at_once:
                return Rest(due_in, unless_bytes=_LOAD_BYTES)
        elif now < self._retry_at and not at_once:
            return Rest(self._retry_at - now)
        return self._write(now)

    def _write(self, now: float) -> Rest:
        delivery = self._delivery = self._delivery or Delivery()
        try:
            is_all = self._gather(delivery)
            if self._store is None:
                self._store = self._stack.enter_context(self._open_store())
            delivery.run(self._store)
            self._spool.acknowledge(self._position)
        except Exception as error:  # noqa: BLE001 - rows wait in the spool for whatever it is to pass
            return self._note_failure(now, error)
        finally:
            self._take_totals(delivery)
        self._note_success()
        self._delivery = None
        if is_all:
            self._noticed_at = None
        return Rest(0.0)

    def _gather(self, delivery: Delivery) -> bool:
        """Read on until the delivery is as large as it should be; return whether nothing more waits."""
        gathering = Gathering(self._adapters)
        position, size_bytes = self._position, delivery.size_bytes
        is_all = False
        while (
            not is_all
            and size_bytes < _LARGEST_GATHERING_BYTES
            and delivery.waiting_rows + gathering.rows < _ENOUGH_ROWS
        ):
            frames, position = self._spool.read(position, max_bytes=_READ_BYTES)
            gathering.add(frames)
            size_bytes += sum(len(frame.payload) for frame in frames)
            is_all = not frames
        delivery.add(gathering, size_bytes=size_bytes)
        self._position = position
        return is_all

    def _take_totals(self, delivery: Delivery) -> None:
        counts, refused, inserts = delivery.take_figures()
        with self._guard:
            for key, more in counts.items():
                self._totals.counts[key] = self._totals.counts.get(key, IngestCounts()) + more
            self._totals.refused.update(refused)
            self._totals.inserts += inserts

    def _note_failure(self, now: float, error: Exception) -> Rest:
        delay = self._back_off.failed()
        self._retry_at = now + delay
        self._latest_error = sentence_of(error)
        if now >= self._quiet_until:
            self._quiet_until = now + _SAY_AGAIN_SECONDS
            _LOG.warning("rows wait in the spool (try %d): %s", self._back_off.failures, self._latest_error)
        return Rest(delay)

    def _note_success(self) -> None:
        if self._back_off.failures:
            _LOG.info("the store takes rows again, after %d tries", self._back_off.failures)
        self._back_off.succeeded()
        self._quiet_until = 0.0
        self._latest_error = ""

    def _run(self) -> None:
        with self._stack:
            while not self._stopping.is_set():
                rest = self.turn()
                if rest.seconds:
                    self._spool.wait(
                        self._position,
                        timeout_seconds=rest.seconds,
                        at_least_bytes=rest.unless_bytes or sys.maxsize,
                        interrupted=self._stopping.is_set,
                    )
            self._finish()

    def _finish(self) -> None:
        """Write what waits, until nothing does, something fails, or time is up."""
        until = self._monotonic() + self._grace_seconds
        while self._monotonic() < until and not self.turn(at_once=True).seconds:
            pass
