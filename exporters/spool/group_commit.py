"""Own how callers that wait at the same time share one write and one fsync.

Whoever finds nobody writing becomes the leader and writes for all who have come until then. When it is done
it wakes them, and hands the lead to the first of those who came meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from fairclock.errors import SpoolUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exporters.spool.records import Body
    from fairclock.errors import SpoolError


def _taken() -> Lock:
    lock = Lock()
    lock.acquire()
    return lock


@dataclass(slots=True, kw_only=True, eq=False)
class Entry:
    """What one caller wants written; whoever writes it sets `written`, or says in `error` why it could not."""

    bodies: Sequence[Body]
    size_bytes: int
    written: bool = False
    error: SpoolError | None = None
    done: bool = False
    turn: Lock = field(default_factory=_taken)


class GroupCommit:
    """Call `write` with groups of entries, one group at a time."""

    def __init__(self, write: Callable[[Sequence[Entry]], None]) -> None:
        self._write = write
        self._guard = Lock()
        self._waiting: list[Entry] = []
        self._led = False

    def commit(self, entry: Entry) -> None:
        """Return once `entry` was written; raises its error."""
        with self._guard:
            self._waiting.append(entry)
            leads = not self._led
            self._led = True
        if not leads:
            entry.turn.acquire()  # released when it is done, or when it is to lead
        if not entry.done:
            self._lead()
        if not entry.written:
            raise entry.error or SpoolUnavailable("spool", "the write was broken off", remedy="send again")

    def _lead(self) -> None:
        with self._guard:
            group, self._waiting = self._waiting, []
        try:
            self._write(group)
        finally:
            with self._guard:
                following = self._waiting[0] if self._waiting else None
                self._led = following is not None
            for entry in group:
                entry.done = True
                entry.turn.release()
            if following is not None:
                following.turn.release()
