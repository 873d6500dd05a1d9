"""A real store, held by the test's process, contracts with keys, and the command line beside both."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import yaml

from fairclock.store import Query, open_store
from tests.exclusions.conftest import Fairclock
from tests.issuing.keys import Party
from tests.revisions.conftest import TABLES, a_file, keep

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

OCTOBER = datetime(2026, 10, 14, 3, tzinfo=UTC)
TERM = {"from": "2026-09-01", "to": "2026-10-31", "time_zone": "UTC"}
ISSUED = ("issued_reports", "report_signatures", "day_seals", "seal_deliveries")


@pytest.fixture(scope="session")
def provider() -> Party:
    return Party("provider")


@pytest.fixture(scope="session")
def customer() -> Party:
    return Party("customer")


@pytest.fixture(scope="module")
def module_store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Fairclock]:
    """One engine for a module: a process can open only one folder."""
    folder: Path = tmp_path_factory.mktemp("store")
    with open_store(f"chdb://{folder}") as store:
        yield Fairclock(store)


@pytest.fixture
def fairclock(module_store: Fairclock) -> Fairclock:
    """The commands on the module's store, with an October of its own and nothing issued."""
    begin_anew(module_store)
    return module_store


def begin_anew(fairclock: Fairclock) -> None:
    """Leave nothing in the store but an October."""
    filled = Query(
        sql="SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0"
        " AND name IN {tables:Array(String)}",
        parameters={"tables": [*TABLES, *ISSUED]},
    )
    for (table,) in fairclock.store.rows(filled):
        fairclock.store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    keep(fairclock, OCTOBER, "....x.....")


@pytest.fixture
def contract(tmp_path: Path, provider: Party, customer: Party) -> Path:
    return signed_contract(tmp_path, provider, customer)


def signed_contract(folder: Path, provider: Party, customer: Party, **clauses: object) -> Path:
    keys = {"provider_key": provider.text, "customer_key": customer.text}
    return a_file(folder, **({"signatures": keys, "term": TERM} | clauses))


def change(path: Path, **clauses: object) -> None:
    """Make another version of the contract in a file."""
    tree = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(tree | clauses, sort_keys=False))
