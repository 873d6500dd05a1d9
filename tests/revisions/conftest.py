"""A real store, held by the test's process, a contract whose month is over, and the command line beside both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from fairclock.model import to_us
from fairclock.store import LineBatch, Query, open_store
from tests.evaluation.factories import availability, latency
from tests.exclusions.conftest import Fairclock

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime
    from pathlib import Path

TABLES = (
    "gateway_requests", "engine_requests", "covered", "requests", "seals", "seal_confirmations", "sli_slices",
    "slice_progress", "evaluations", "exclusions",
)  # fmt: skip


@pytest.fixture(scope="module")
def module_store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Fairclock]:
    """One engine for a module: a process can open only one folder."""
    folder: Path = tmp_path_factory.mktemp("store")
    with open_store(f"chdb://{folder}") as store:
        yield Fairclock(store)


@pytest.fixture
def fairclock(module_store: Fairclock) -> Fairclock:
    """The commands on the module's store, empty."""
    for table in TABLES:
        module_store.store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return module_store


def a_file(folder: Path, **clauses: object) -> Path:
    tree = {
        "apiVersion": "fairclock/v1",
        "kind": "Contract",
        "id": "acme-2026",
        "title": "Inference",
        "provider": {"name": "Example Cloud"},
        "customer": {"name": "Acme", "tenants": ["acme"]},
        "term": {"from": "2026-01-01", "to": "2026-10-31", "time_zone": "UTC"},
        "clock": {"start": "received"},
        "objectives": [availability("60%"), latency(percentile="50", at_most="2s")],
        "insufficient": {"below": 1, "verdict": "void"},
        "unmeasured": {
            "time": "void",
            "coverage_floor": "0%",
            "below_floor": "void",
            "unknown_clock": "void",
        },
        "exclusions": {"named": ["force_majeure"]},
    }
    path = folder / "acme-2026.yaml"
    path.write_text(yaml.safe_dump(tree | clauses, sort_keys=False))
    return path


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    return a_file(tmp_path)


@pytest.fixture
def config(tmp_path: Path, contract: Path) -> Path:
    path = tmp_path / "fairclock.yaml"
    path.write_text(f"sla: {{contracts: [{contract.name}]}}\n")
    return path


def lines(start: datetime, statuses: str, *, tenant: str = "acme", number: int = 0) -> list[bytes]:
    """Return a request a minute from `start`: `.` is answered, `x` is not."""
    return [
        json.dumps(
            {
                "time": f"{to_us(start) / 1e6 + 60 * place + 0.5:.3f}",
                "request_id": f"{number + place:032x}",
                "tenant": tenant,
                "method": "POST",
                "uri": "/v1/completions",
                "status": "200" if each == "." else "504",
                "request_time": "0.500",
                "request_completion": "OK",
            }
        ).encode()
        for place, each in enumerate(statuses)
    ]


def keep(fairclock: Fairclock, start: datetime, statuses: str, **how: object) -> None:
    fairclock.store.ingest(LineBatch(kind="gateway", source="g", lines=lines(start, statuses, **how)))


def evaluations(fairclock: Fairclock) -> list[tuple[object, ...]]:
    return fairclock.store.rows(
        Query(sql="SELECT month, revision, stored_at FROM evaluations ORDER BY month, revision, stored_at")
    )
