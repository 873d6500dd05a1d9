"""Own what an outbox is: the place where events, and what became of them at each destination, outlive this process.

Rows are only added. An event without a row of its own at any destination was not routed yet. A kill between any two
writes leaves a state from which the same messages are made again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from exporters.webhooks.event import AlertEvent, State
    from exporters.webhooks.silences import Silence

NOWHERE = ""
"""The destination of the row that says that no destination wants an event."""


class Fate(StrEnum):
    """What became of one event at one destination."""

    QUEUED = "queued"
    PLANNED = "planned"  # its message is made up and may have been sent
    FAILED = "failed"  # an attempt failed; there will be another
    DELIVERED = "delivered"
    DEAD = "dead"  # given up
    DAMPED = "damped"  # it went back to what the destination knows
    SILENCED = "silenced"
    UNCHANGED = "unchanged"  # the destination knows it so
    UNWANTED = "unwanted"


OPEN = frozenset({Fate.QUEUED, Fate.PLANNED, Fate.FAILED})
TOLD = frozenset({Fate.PLANNED, Fate.FAILED, Fate.DELIVERED, Fate.DEAD})
"""The fates after which a destination may know of an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One event at one destination, as of its newest row; `attempt` counts the attempts made."""

    destination: str
    event: AlertEvent
    fate: Fate = Fate.QUEUED
    version: int = 1
    message_id: str = ""
    delivery_id: str = ""
    attempt: int = 0
    http_status: int = 0
    problem: str = ""
    planned_at: datetime | None = None
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """What has to be decided: events not routed, open entries, and what each destination knows of their alerts.

    `known` has the state of the last event of an alert that a destination was told, by (destination, alert id);
    `last` the number of an alert's last event.
    """

    unrouted: Sequence[AlertEvent] = ()
    entries: Sequence[Entry] = ()
    known: Mapping[tuple[str, str], State] = field(default_factory=dict)
    last: Mapping[str, int] = field(default_factory=dict)


class Outbox(Protocol):
    """Where events wait; usable from several threads. Every call may raise `StoreError`."""

    def keep(self, events: Sequence[AlertEvent]) -> int:
        """Keep events, and return how many were new; the first copy of (alert, sequence) stays."""

    def read(self) -> Book:
        """Return what has to be decided."""

    def write(self, entries: Sequence[Entry], *, now: datetime) -> None:
        """Add rows, all of them or none."""

    def silences(self, *, now: datetime) -> Sequence[Silence]:
        """Return the silences that are not over."""

    def mark(self) -> object:
        """Return a value that differs from the last one whenever something was written since."""
