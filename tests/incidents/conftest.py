"""A real store for scenes, one a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairclock.store import Query, Store, open_store
from tests.incidents.scenes import Scene

if TYPE_CHECKING:
    from collections.abc import Generator

TABLES = (
    "gateway_requests", "engine_requests", "engine_states", "engine_samples", "gpu_samples", "gpu_events", "covered",
    "requests", "seals", "seal_confirmations", "sli_slices", "slice_progress", "exclusions", "incidents", "incident_progress",
)  # fmt: skip


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    """One engine for a module: a process can open only one folder."""
    with open_store(f"chdb://{tmp_path_factory.mktemp('incidents') / 'store'}") as store:
        yield store


@pytest.fixture
def store(one_store: Store) -> Store:
    """The module's store, empty."""
    for table in TABLES:
        one_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return one_store


@pytest.fixture
def scene(store: Store) -> Scene:
    """A scene to be filled and played."""
    return Scene(store)
