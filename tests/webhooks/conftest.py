"""A real store for a module, emptied for each test, and a sender that waits."""

import pytest

from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.store import Query, open_store


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A receiver of a test answers in a thread of this process, which may be long without a turn."""
    monkeypatch.setattr(
        "exporters.webhooks.posting._TIMEOUTS", dict.fromkeys(("connect", "read", "write", "pool"), 120.0)
    )


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store') / 'store'}") as opened:
        yield opened


@pytest.fixture
def store(shared_store):
    for table in ("alerts", "deliveries", "silences"):
        shared_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return shared_store


@pytest.fixture
def outbox(store):
    return StoreOutbox(store)
