"""A real engine whose joined requests are given by the test instead of ingested."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fairclock.model import Interval, clip
from fairclock.store import Query, Store, open_store
from tests.evaluation.factories import COLUMNS, as_rows

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from tests.evaluation.factories import Request

AS_OF = datetime(2027, 1, 15, tzinfo=UTC)


class GivenRequests:
    """Stands in for a store: its engine runs the queries, the rows and the coverage are the test's."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._covered: dict[str, list[Interval]] = {"gateway": [], "engine": []}
        self.queries: list[Query] = []
        store.execute(Query(sql="CREATE TABLE IF NOT EXISTS given_requests AS requests ENGINE = Memory"))

    def given(self, requests: Sequence[Request], **covered: list[Interval]) -> GivenRequests:
        """Replace all rows and what was covered."""
        self.store.execute(Query(sql="TRUNCATE TABLE given_requests"))
        if requests:
            self.store.insert("given_requests", COLUMNS, as_rows(list(requests)))
        self._covered = {"gateway": [], "engine": []} | covered
        self.queries = []
        return self

    def rows(self, query: Query) -> list[tuple[Any, ...]]:
        self.queries.append(query)
        return self.store.rows(query)

    def requests_as_of(self, window: Interval, as_of: datetime) -> Query:
        columns = ", ".join(COLUMNS)
        return Query(
            sql=f"SELECT {columns} FROM given_requests"
            " WHERE toUnixTimestamp64Micro(received_at) >= {given_from:Int64}"
            " AND toUnixTimestamp64Micro(received_at) < {given_to:Int64}",
            parameters={"given_from": _us(window.start), "given_to": _us(window.end)},
        )

    def covered(self, kind: str, window: Interval, as_of: datetime) -> list[Interval]:
        return clip(self._covered[kind], window)

    def seals_as_of(self, window: Interval, as_of: datetime) -> list[tuple[datetime, int]]:
        return []

    def checked_as_of(self, as_of: datetime | None) -> datetime:
        return as_of or AS_OF


def _us(instant: datetime) -> int:
    return round((instant - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)


@pytest.fixture(scope="module")
def given_store(tmp_path_factory: pytest.TempPathFactory) -> Generator[GivenRequests]:
    """One engine for a module: a process can open only one folder, and other modules have theirs."""
    folder: Path = tmp_path_factory.mktemp("store")
    with open_store(f"chdb://{folder}") as store:
        yield GivenRequests(store)
