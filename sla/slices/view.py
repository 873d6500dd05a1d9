"""Own the store as one pass of the evaluator sees it: one window, read as of one instant, for all contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fairclock.model import to_us
from sla.evaluation.fragments import sql

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.evaluation.rows import Requests

_INSIDE = (
    "received_at >= fromUnixTimestamp64Micro({requests_from:Int64}, 'UTC')"
    " AND received_at < fromUnixTimestamp64Micro({requests_to:Int64}, 'UTC')"
)


class OneWindow:
    """Stands in for a store whose `window` is asked for again and again; anything else it hands on."""

    def __init__(self, store: Requests, window: Interval, as_of: datetime) -> None:
        self._store = store
        self._window = window
        self._as_of = as_of
        self._joined: Query | None = None

    def serve(self, rows: Query) -> None:
        """Answer from `rows`, which hold the requests of the window."""
        self._joined = rows

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""
        return self._store.rows(query)

    def requests_as_of(self, window: Interval, as_of: datetime) -> Query:
        """Return the query for the joined requests received in `window`."""
        inside = window.start >= self._window.start and window.end <= self._window.end
        if not inside or as_of != self._as_of:
            return self._store.requests_as_of(window, as_of)
        if self._joined is None:
            self._joined = self._store.requests_as_of(self._window, as_of)
        if window == self._window:
            return self._joined
        return sql(
            f"SELECT * FROM ({self._joined.sql}) WHERE {_INSIDE.replace('requests_', 'part_')}",
            **self._joined.parameters,
            part_from=to_us(window.start),
            part_to=to_us(window.end),
        )

    def covered(
        self, kind: Literal["gateway", "engine"], window: Interval, as_of: datetime
    ) -> list[Interval]:
        """Return what of `window` was read through by `as_of`."""
        return self._store.covered(kind, window, as_of)

    def seals_as_of(self, window: Interval, as_of: datetime) -> Sequence[tuple[datetime, int]]:
        """Return the hours of `window` that were sealed at `as_of`, each with its seal."""
        return self._store.seals_as_of(window, as_of)

    def checked_as_of(self, as_of: datetime | None) -> datetime:
        """Return `as_of`, or the instant of this pass."""
        return self._as_of if as_of is None else as_of
