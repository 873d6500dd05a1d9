"""Own answers that take longer than anybody waits: worked out aside, one at a time, and shown as of when they are."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from datetime import datetime, timedelta

T = TypeVar("T")


@dataclass(slots=True)
class _Slot(Generic[T]):
    found: tuple[T, datetime] | None = None
    coming: Future[tuple[T, datetime]] | None = None


class Prepared(Generic[T]):
    """The last `most` answers by what they are about; one that is older than `fresh` is worked out anew, aside."""

    def __init__(self, *, most: int, fresh: timedelta) -> None:
        self._most = most
        self._fresh = fresh
        self._guard = Lock()
        self._slots: OrderedDict[Hashable, _Slot[T]] = OrderedDict()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="console-aside")

    def get(self, key: Hashable, as_of: datetime, make: Callable[[], T]) -> tuple[T, datetime] | None:
        """Return the last answer about `key` and as of when it is; None while the first is being worked out.

        Raises what working it out raised, once; then it is tried again.
        """
        with self._guard:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > self._most:
                self._slots.popitem(last=False)
            if slot.coming is not None and slot.coming.done():
                coming, slot.coming = slot.coming, None
                slot.found = coming.result()
            if slot.coming is None and (slot.found is None or as_of - slot.found[1] >= self._fresh):
                slot.coming = self._thread.submit(lambda: (make(), as_of))
            return slot.found

    def close(self) -> None:
        """Work out nothing more; what has begun ends by itself."""
        self._thread.shutdown(wait=False, cancel_futures=True)
