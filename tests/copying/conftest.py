"""A store in this process, and a server beside it: the loopback front of another folder, for one account."""

from __future__ import annotations

import pytest

from fairclock.store import Query, open_store
from fairclock.store.copying import copying
from fairclock.store.copying.pieces import columns_of
from fairclock.store.schema import BOOKKEEPING, tables
from tests.faults.processes import Server

TABLES = [table for table in tables() if table.name not in BOOKKEEPING]
ROWS = 40
FEW = {"gateway_requests", "requests", "silences", "tokens", "dead_letters", "write_log"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """An embedded store with rows of anything in every table: empty texts, nulls, arrays, and some rows twice."""
    with open_store(f"chdb://{tmp_path_factory.mktemp('mine') / 'store'}") as opened:
        for table in TABLES:
            fill(opened, table)
        yield opened


@pytest.fixture(scope="module")
def running_server(tmp_path_factory):
    started = Server(tmp_path_factory.mktemp("theirs"))
    try:
        yield started.start().wait_until_it_answers()
    finally:
        started.close()


@pytest.fixture
def server(running_server):
    """The server, empty and on its best behaviour."""
    running_server.behave("refuse", times=0)
    empty(running_server.dsn)
    return running_server


@pytest.fixture
def few(monkeypatch):
    """Copy a few tables only, of each kind one: with days, months, neither; that merge and that do not; that expire."""
    monkeypatch.setattr(copying, "tables", lambda: [table for table in tables() if table.name in FEW])


def empty(dsn):
    """Take the rows out of every table that has some."""
    with open_store(dsn) as opened:
        found = opened.rows(
            Query(
                sql="SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0"
                " AND name != 'schema_migrations'"
            )
        )
        for (name,) in found:
            opened.execute(Query(sql=f"TRUNCATE TABLE {name}"))


def fill(opened, table):
    """Put `ROWS` rows of anything into a table, within four days of now, and the first of them once more."""
    found = opened.rows(columns_of([table.name]))
    structure = ", ".join(f"{name} {kind}" for _, name, kind in found)
    recent = ", ".join(
        f"now64(6, 'UTC') - toIntervalSecond(1800 + cityHash64(rowNumberInAllBlocks()) % 36000) AS {name}"
        for _, name, kind in found
        if kind == "DateTime64(6, 'UTC')"
    )
    replaced = f"* REPLACE ({recent})" if recent else "*"
    names = ", ".join(name for _, name, _ in found)
    opened.execute(
        Query(
            sql=f"INSERT INTO {table.name} ({names}) SELECT {replaced} FROM"
            f" generateRandom({{structure:String}}, 7, 12, 3) LIMIT {ROWS}",
            parameters={"structure": structure},
        )
    )
    opened.execute(Query(sql=f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {table.name} LIMIT 1"))
