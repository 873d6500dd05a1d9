"""A real store, empty for each test; requests are ingested, or given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairclock.store import Query, Store, open_store
from tests.evaluation.conftest import GivenRequests

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

TABLES = (
    "gateway_requests", "engine_requests", "covered", "requests", "seals", "seal_confirmations", "sli_slices",
    "slice_progress", "alerts", "deliveries", "silences", "probe_requests", "engine_samples", "exclusions",
)  # fmt: skip


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    """One engine for a module: a process can open only one folder."""
    folder: Path = tmp_path_factory.mktemp("alerts")
    with open_store(f"chdb://{folder}") as store:
        yield store


@pytest.fixture
def store(one_store: Store) -> Store:
    """The module's store, empty."""
    for table in TABLES:
        one_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return one_store


@pytest.fixture
def given_store(store: Store) -> GivenRequests:
    """The module's store, whose requests and coverage a test gives."""
    return GivenRequests(store)
