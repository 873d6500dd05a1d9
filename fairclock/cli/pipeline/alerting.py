"""Own how alerts are made and carried in a long-running command: from slices into the store, and from there to people."""

from __future__ import annotations

import os
import random
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fairclock.store.incidents import open_incidents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exporters.webhooks.configuration import WebhooksSection
    from exporters.webhooks.courier import Courier
    from fairclock.cli.pipeline.parts import Pipeline
    from fairclock.cli.pipeline.prices import FollowedPrices
    from fairclock.cli.pipeline.store_link import StoreLink
    from fairclock.store import Store
    from sla.alerting.configuration import AlertsSection
    from sla.alerting.engine import AlertEngine
    from sla.slices import InForce


@contextmanager
def carrying(webhooks: WebhooksSection, link: StoreLink) -> Iterator[Courier]:
    """Deliver alert events until the end of ``with``; raises `ConfigurationError` where certificates cannot be used."""
    from exporters.webhooks.courier import Courier  # noqa: PLC0415 - needs Jinja2, which a sidecar has not
    from exporters.webhooks.destination import destinations  # noqa: PLC0415
    from exporters.webhooks.store_outbox import StoreOutbox  # noqa: PLC0415

    def now() -> datetime:
        return datetime.now(UTC)

    courier = Courier(
        StoreOutbox(link.open),
        destinations(webhooks, environment=os.environ, now=now),
        now=now,
        random=random.random,
        give_up=timedelta(seconds=webhooks.give_up),
    )
    courier.start()
    try:
        yield courier
    finally:
        courier.stop()


def watching(
    section: AlertsSection,
    store: Callable[[], Store],
    pipeline: Pipeline,
    versions: Callable[[], Sequence[InForce] | None],
    *,
    prices: FollowedPrices | None = None,
) -> AlertEngine:
    """Return the engine that alerts by the slices of `versions` and the limits of `prices`, and wakes the pipeline's courier."""
    from billing.bookkeeping.limits import KnownLimits  # noqa: PLC0415
    from exporters.webhooks.store_outbox import StoreOutbox  # noqa: PLC0415 - only where there are contracts
    from sla.alerting.engine import AlertEngine  # noqa: PLC0415

    def told() -> None:
        if pipeline.courier is not None:
            pipeline.courier.wake()

    limits = None if prices is None else KnownLimits(prices.book)
    if prices is not None and limits is not None:
        prices.tell(limits.go_by)
    return AlertEngine(
        store=store,
        outbox=StoreOutbox(store),
        section=section,
        versions=versions,
        incident=OpenIncidents(store),
        quiet=lambda: is_quiet(pipeline),
        told=told,
        costs=limits,
    )


@dataclass(slots=True)
class OpenIncidents:
    """Names the incidents that go on; all of them are read once for an instant, however many alerts ask."""

    _store: Callable[[], Store]
    _at: datetime | None = None
    _found: dict[tuple[str, str], str] = field(default_factory=dict)

    def __call__(self, contract_id: str, objective: str, at: datetime) -> str | None:
        """Return the open incident of an objective at `at`; raises `StoreError`."""
        if at != self._at:
            store = self._store()
            self._found = open_incidents(store, at=at, as_of=store.watermark())
            self._at = at
        return self._found.get((contract_id, objective))


def is_quiet(pipeline: Pipeline) -> bool:
    """Return whether all logs are this process's own and read to their ends, so that no line is quiet time."""
    if pipeline.tail is None or pipeline.syslog is not None or pipeline.received_frames:
        return False
    tail = pipeline.tail.statistics()
    is_read = tail.files > 0 and not tail.missing and not tail.unread_bytes and not tail.paused
    waiting = pipeline.spool.statistics(time.time_ns() // 1_000).frames_waiting
    return is_read and pipeline.tail.is_alive and not waiting
