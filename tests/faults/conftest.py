"""One misbehaving server for a module: starting one takes seconds."""

import pytest

from fairclock.store import Query, open_store
from tests.faults.processes import Server


@pytest.fixture(scope="module")
def running_server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    try:
        yield server.start().wait_until_it_answers()
    finally:
        server.close()


@pytest.fixture
def server(running_server):
    """The server, without rows and on its best behaviour."""
    running_server.behave("refuse", times=0)
    with open_store(running_server.dsn) as store:
        for table in ("gateway_requests", "engine_requests", "dead_letters", "covered"):
            store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return running_server
