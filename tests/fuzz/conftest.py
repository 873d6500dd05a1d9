"""One engine for a module, emptied for each test."""

import pytest

from fairclock.store import Query, open_store


@pytest.fixture(scope="module")
def open_for_all(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('fuzz')}/store") as store:
        yield store


@pytest.fixture
def store(open_for_all):
    for table in ("gateway_requests", "engine_requests", "dead_letters", "covered"):
        open_for_all.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return open_for_all
