"""Own answers that are kept for a while, so that a page which is asked for every few seconds costs one evaluation.

A kept answer says as of when it is. One that takes longer than somebody waits is kept all the same, for the next.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from datetime import datetime

T = TypeVar("T")


@dataclass(slots=True)
class _Slot(Generic[T]):
    guard: Lock = field(default_factory=Lock)
    found: tuple[T, datetime] | None = None


class Kept(Generic[T]):
    """The last `most` answers by what they are about; usable from several threads, of which one works out an answer."""

    def __init__(self, *, most: int, fresh: timedelta) -> None:
        self._most = most
        self._fresh = fresh
        self._guard = Lock()
        self._slots: OrderedDict[Hashable, _Slot[T]] = OrderedDict()

    def get(self, key: Hashable, as_of: datetime, make: Callable[[], T]) -> tuple[T, datetime]:
        """Return the answer about `key` and as of when it is: as of `as_of`, or a little before."""
        slot = self._slot(key)
        with slot.guard:
            if slot.found is None or not timedelta() <= as_of - slot.found[1] < self._fresh:
                slot.found = make(), as_of
            return slot.found

    def _slot(self, key: Hashable) -> _Slot[T]:
        with self._guard:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > self._most:
                self._slots.popitem(last=False)
            return slot
