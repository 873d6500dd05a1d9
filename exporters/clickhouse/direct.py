"""Own the way into a store without a spool: for a process whose senders can wait for the store itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporters.clickhouse.batches import Gathering
from exporters.clickhouse.delivery import Delivery

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exporters.clickhouse.batches import Adapter, RowStore
    from fairclock.model import Frame


class DirectDelivery:
    """Store frames at once; where that fails, whoever delivers keeps them and tries again."""

    def __init__(self, store: RowStore, *, adapters: Mapping[str, Adapter]) -> None:
        self._store = store
        self._adapters = adapters

    def __call__(self, frames: Sequence[Frame], /) -> list[int]:
        """Return how many lines of each frame became dead letters, once all are committed; raises `StoreError`."""
        dead_letters = self._deliver(frames)
        if not dead_letters or len(frames) == 1:
            return [dead_letters] + [0] * (len(frames) - 1)
        # Whose were they? Storing again adds nothing, and each frame gets its own count.
        return [self._deliver([frame]) for frame in frames]

    def _deliver(self, frames: Sequence[Frame]) -> int:
        gathering = Gathering(self._adapters)
        gathering.add(frames)
        delivery = Delivery()
        delivery.add(gathering, size_bytes=0)
        delivery.run(self._store)
        counts, refused, _ = delivery.take_figures()
        return sum(each.dead_letters for each in counts.values()) + refused.total()
