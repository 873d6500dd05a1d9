"""Own what is said of an engine's life: that it started, ended, came back; when, and what shows it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class EventKind(StrEnum):
    """What happened to an engine.

    STARTED: a process began. STOPPED: it said that it ends. VANISHED: it was replaced and had not said so.
    RESTARTED: another process took its place, from the last sign of the old one to the first request served by the new.
    OUT_OF_MEMORY: it vanished while memory was at its limit; a suspicion, and the evidence says so.
    RELOADED: how long the new process took from its start to its first served request.
    UNREACHABLE: its metrics could not be read, from the first failure to the next answer.
    """

    STARTED = "started"
    STOPPED = "stopped"
    VANISHED = "vanished"
    RESTARTED = "restarted"
    OUT_OF_MEMORY = "out_of_memory"
    RELOADED = "reloaded"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineEvent:
    """One thing that happened to one engine.

    engine: what its series call it: the `instance` of engine rows and of the plugin's, or the `target` of scrapes.
    until: the first request that it served afterwards (UNREACHABLE: the next answer); None while none is known.
    evidence: which series show it, with their numbers. suspected: whether it is no more than likely.
    upstream: what gateways call the engine; empty where that is not known.
    start: when the process began that shows it; it does not change as more becomes known.
    """

    kind: EventKind
    engine: str
    at: datetime
    until: datetime | None = None
    evidence: str
    suspected: bool = False
    upstream: str = ""
    start: datetime | None = None
