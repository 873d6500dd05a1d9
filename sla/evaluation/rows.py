"""Own what the evaluation needs of a store, and how one row of aggregates is read from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from sla.evaluation.fragments import named, select

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Query


class Requests(Protocol):
    """A store of joined requests; `fairclock.store.Store` is one."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""

    def requests_as_of(self, window: Interval, as_of: datetime) -> Query:
        """Return the query for the joined requests received in `window`, as they were known at `as_of`."""

    def covered(
        self, kind: Literal["gateway", "engine"], window: Interval, as_of: datetime
    ) -> list[Interval]:
        """Return what of `window` was read through by `as_of`: disjoint, in time order."""

    def seals_as_of(self, window: Interval, as_of: datetime) -> Sequence[tuple[datetime, int]]:
        """Return the hours of `window` that were sealed at `as_of`, each with its seal."""

    def checked_as_of(self, as_of: datetime | None) -> datetime:
        """Return `as_of`, or the latest instant that can be read; refuse one beyond it."""


def single_row(store: Requests, aggregates: Mapping[str, Query], source: Query) -> dict[str, Any]:
    """Return the named aggregates over all rows of `source`, in one pass."""
    if not aggregates:
        return {}
    columns = [named(expression, name) for name, expression in aggregates.items()]
    (row,) = store.rows(select(columns, source))
    return dict(zip(aggregates, row, strict=True))
