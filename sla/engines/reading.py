"""Own the reading of engines' lives from a store, as of an instant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.engines.events import EngineEvent


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


def engine_events(store: Rows, window: Interval, as_of: datetime) -> list[EngineEvent]:
    """Return what happened to engines within `window`, as it was known at `as_of`, in time order.

    An event belongs to `window` if it touches it. The same rows give the same events.
    """
    del store, window, as_of
    return []
