"""Own the thread that works out what is published: source by source, so that one that fails takes no other with it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Protocol

from exporters.prometheus import Figure
from exporters.prometheus.aliases import with_aliases
from fairclock.cli.pipeline.trying import Tried, Voice
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from exporters.prometheus import Published
    from exporters.prometheus.snapshot import Snapshots
    from fairclock.store import Store

_LOG = logging.getLogger(__name__)
_VOICE = Voice(log=_LOG, whose="metrics", failing="is as it was last read")
_STOP_SECONDS = 30.0


class Read(Protocol):
    """What works out some figures from the store."""

    def __call__(self, store: Store, as_of: datetime, /) -> Iterable[Published]:
        """Return the figures as of an instant."""


@dataclass(slots=True, kw_only=True)
class Source(Tried):
    """Some figures: how they are read, how often, and for how long the last ones stand where that fails (None: for good)."""

    read: Read
    every_seconds: float = 0.0
    keep_seconds: float | None = None
    close: Callable[[], None] = lambda: None
    figures: Sequence[Published] = ()
    read_at: float | None = None

    def is_due(self, monotonic: float) -> bool:
        """Return whether it is to be read again."""
        return self.read_at is None or bool(self.problem) or monotonic - self.read_at >= self.every_seconds

    def current(self, monotonic: float) -> Sequence[Published]:
        """Return what is published of it."""
        is_old = self.read_at is None or (
            self.keep_seconds is not None
            and monotonic - self.read_at > self.every_seconds + self.keep_seconds
        )
        return () if is_old else self.figures


@dataclass(slots=True, kw_only=True)
class Publisher:
    """Reads the sources every so often and publishes what they say; a scrape never waits for it."""

    store: Callable[[], Store | None]
    sources: Sequence[Source]
    snapshots: Snapshots
    every_seconds: float
    now: Callable[[], datetime]
    aliases: Sequence[str] = ()
    monotonic: Callable[[], float] = time.monotonic
    _stop: Event = field(default_factory=Event)
    _thread: Thread | None = None
    _refreshes: int = 0
    _seconds: float = 0.0

    def start(self) -> None:
        """Begin."""
        self._thread = Thread(target=self._run, name="metrics", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, once what is being worked out is."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)
        for each in self.sources:
            each.close()

    @property
    def is_alive(self) -> bool:
        """Return whether it goes on."""
        return self._thread is not None and self._thread.is_alive()

    def refresh(self) -> None:
        """Read what is due and publish all there is."""
        begun = self.monotonic()
        store = self.store()
        as_of = None
        if store is not None:
            try:
                as_of = store.watermark()
            except FairclockError as error:
                for each in self.sources:
                    each.failed(str(error), _VOICE)
            else:
                for each in self.sources:
                    if self._stop.is_set():
                        return
                    if each.is_due(self.monotonic()):
                        self._read(each, store, as_of)
        figures = [figure for each in self.sources for figure in each.current(self.monotonic())]
        self.snapshots.publish(list(with_aliases(figures, self.aliases)), as_of or self.snapshots.at)
        self._refreshes += 1
        self._seconds = self.monotonic() - begun

    def figures(self) -> Iterator[Figure]:
        """Yield how old what is published is, and how working it out fares."""
        at = self.snapshots.at
        if at is not None:
            yield Figure(
                name="fairclock_snapshot_age_seconds",
                about="Age of what is published of the store.",
                value=max(0.0, (self.now() - at).total_seconds()),
            )
        yield Figure(
            name="fairclock_snapshots", about="How often what is published of the store was worked out.",
            value=self._refreshes, kind="counter",
        )  # fmt: skip
        yield Figure(
            name="fairclock_snapshot_seconds", about="How long that took the last time.", value=self._seconds
        )
        for each in self.sources:
            labels = {"source": each.name}
            yield Figure(
                name="fairclock_snapshot_source_failures", about="Failures of working out a part of it.",
                value=each.failures, labels=labels, kind="counter",
            )  # fmt: skip
            yield Figure(
                name="fairclock_snapshot_source_failing",
                about="1 where a part is not what it would be now, since working it out failed; else 0.",
                value=bool(each.problem), labels=labels,
            )  # fmt: skip
            yield Figure(
                name="fairclock_snapshot_source_seconds", about="How long a part of it took the last time.",
                value=each.seconds, labels=labels,
            )  # fmt: skip

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.refresh()
            # whatever it is, the age of what is published tells, and the next time may be better
            except Exception:  # noqa: BLE001 - nobody else would see it
                _LOG.exception("what is published could not be worked out")
            self._stop.wait(self.every_seconds)

    def _read(self, source: Source, store: Store, as_of: datetime) -> None:
        begun = self.monotonic()

        def read() -> None:
            source.figures = list(source.read(store, as_of))

        if source.run(read, _VOICE, monotonic=self.monotonic):
            source.read_at = begun
