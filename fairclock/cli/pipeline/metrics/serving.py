"""Own the publisher of a long-running command: put together from its settings, begun and ended with it."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exporters.prometheus.snapshot import Snapshots
from fairclock.cli.pipeline.endpoint import is_loopback
from fairclock.cli.pipeline.metrics.position import Position
from fairclock.cli.pipeline.metrics.publisher import Publisher, Source
from fairclock.cli.pipeline.metrics.sources import sources_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairclock.cli.configuration import Configuration
    from fairclock.cli.pipeline.looked import Looked
    from fairclock.cli.pipeline.parts import Pipeline
    from fairclock.store import Store

POSITION_FILE = "metrics-position.json"


def why_untold(settings: Configuration) -> str:
    """Return why tenants and their money are told to nobody at ``/metrics``; an empty text where they are told.

    An address that others reach needs a token, as its console does.
    """
    if settings.metrics.token_file is not None or is_loopback(settings.http.address):
        return ""
    return f"/metrics says nothing of tenants and money: others reach {settings.http.address}, and metrics.token_file names no token"


@contextmanager
def publishing(
    settings: Configuration, looked: Looked, pipeline: Pipeline, *, directory: Path
) -> Iterator[Publisher]:
    """Work out what is published of the store until the end of ``with``; `directory` is where the position is kept."""
    link = pipeline.link
    assert link is not None  # noqa: S101 - whoever publishes what a store says has one

    snapshots = pipeline.snapshots = Snapshots()

    def own(_: Store, __: datetime) -> tuple[()]:
        pipeline.read_store()
        return ()

    publisher = Publisher(
        store=lambda: link.current,
        sources=[
            *sources_of(
                settings, looked, snapshots, Position(directory / POSITION_FILE, begun=pipeline.begun)
            ),
            Source(name="dead letters", read=own),
        ],
        snapshots=snapshots,
        every_seconds=settings.metrics.every,
        now=lambda: datetime.now(UTC),
        aliases=settings.metrics.aliases,
    )
    publisher.start()
    try:
        yield publisher
    finally:
        publisher.stop()
