"""A real store whose joined requests are given as a sealed or an open hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairclock.store import Query, Store, open_store

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

TABLES = (
    "gateway_requests", "engine_requests", "covered", "requests", "seals", "seal_confirmations", "sli_slices",
    "slice_progress",
)  # fmt: skip


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    """One engine for a module: a process can open only one folder."""
    folder: Path = tmp_path_factory.mktemp("slices")
    with open_store(f"chdb://{folder}") as store:
        yield store


@pytest.fixture
def store(one_store: Store) -> Store:
    """The module's store, empty."""
    for table in TABLES:
        one_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return one_store
