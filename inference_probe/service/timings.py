"""Own the timings that are kept for whoever asks for them by request id."""

from __future__ import annotations

from collections import OrderedDict

DEFAULT_KEPT = 50_000
"""About 30 MB."""


class Timings:
    """Keep the truth objects of the last requests, as JSON; the oldest is forgotten where there is no room.

    Ids come from clients and repeat: the last request of an id is the one that is told of.
    """

    def __init__(self, capacity: int = DEFAULT_KEPT) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self.forgotten = 0

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._kept)

    def keep(self, request_id: str, encoded: bytes) -> None:
        """Keep one, in the place of an earlier one of the same id."""
        if self._kept.pop(request_id, None) is not None:
            self.forgotten += 1
        self._kept[request_id] = encoded
        while len(self._kept) > self._capacity:
            self._kept.popitem(last=False)
            self.forgotten += 1

    def find(self, request_id: str) -> bytes | None:
        """Return what is kept of the last request of that id."""
        return self._kept.get(request_id)
