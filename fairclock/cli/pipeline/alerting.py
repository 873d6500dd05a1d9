"""Own the way of alert events from the store to the configured destinations, in a long-running command."""

from __future__ import annotations

import os
import random
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exporters.webhooks.configuration import WebhooksSection
    from exporters.webhooks.courier import Courier
    from fairclock.cli.pipeline.store_link import StoreLink


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
