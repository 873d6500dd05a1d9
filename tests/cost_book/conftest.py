"""One embedded store for this folder's modules."""

from __future__ import annotations

import pytest

from fairclock.store import Query, open_store

TABLES = (
    "gateway_requests", "engine_requests", "engine_states", "engine_samples", "gpu_samples", "dead_letters", "covered",
    "requests", "seals", "seal_confirmations",
)  # fmt: skip


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store') / 'store'}") as opened:
        yield opened


@pytest.fixture
def store(shared_store):
    """An empty embedded store."""
    for table in TABLES:
        shared_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return shared_store
