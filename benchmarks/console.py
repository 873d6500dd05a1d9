"""Own the benchmark of the console: how long its answers take over a month that runs, for a hundred contracts.

``python -m benchmarks console=15000000`` has as many requests in the store; the default is a tenth of that. The month
has begun 28 days ago, is sealed but for its last hour, and every slice of it is there. Before each timed answer the
slices of the last minute are written again, as an evaluator would, so that nothing comes from memory alone. Answers are
timed once the engine has merged what was written: a month does not come in all at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from starlette.testclient import TestClient

from benchmarks.evaluating import RULES, TENANTS, contract_with_rules, fill
from benchmarks.measuring import Figure, timed
from billing.cost_book.configuration import GpuTimeSection
from fairclock.console.access.failures import Failures
from fairclock.console.access.gate import Gate
from fairclock.console.access.sessions import Forms, Sessions
from fairclock.console.api.routes import api_routes
from fairclock.console.pages import problem_page, routes
from fairclock.console.readings.answering import AnsweredReadings, Given
from fairclock.console.server import Console, console_app
from fairclock.model import Interval
from fairclock.store import Query, open_store
from sla.slices import InForce, evaluate_slices

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.store import Store
    from sla.contracts import Contract

REQUESTS = 1_500_000
OVERVIEW_SECONDS = 0.3
_TARGETED_AT = 15_000_000
_RUNS = 21
_FEW_RUNS = 5
_DAYS = 28
_REST_SECONDS = 300.0
_PERIOD = "period: {month: anniversary, partial: prorated}\n"
_AGAIN = """
INSERT INTO sli_slices SELECT * REPLACE (now64(6, 'UTC') AS as_of, now64(6, 'UTC') AS stored_at)
FROM sli_slices WHERE minute >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') LIMIT 1 BY contract, version, minute
"""
_LOCAL = "http://127.0.0.1:8780"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """An address, and the target of its median."""

    what: str
    path: str
    target: float | None = None
    runs: int = _FEW_RUNS


ASKED = (
    _Asked(what="the overview as a page", path="/", target=OVERVIEW_SECONDS, runs=_RUNS),
    _Asked(what="the overview as JSON", path="/api/v1/overview", target=OVERVIEW_SECONDS, runs=_RUNS),
    _Asked(what="a tenant's last 24 hours", path="/api/v1/tenants/tenant-007?range=24h"),
    _Asked(what="the slowest requests of the last hour", path="/api/v1/requests?range=1h"),
    _Asked(what="sources and coverage of 7 days", path="/api/v1/sources?range=7d"),
)


def figures(folder: Path, requests_in_all: int = REQUESTS) -> list[Figure]:
    """Ask the console over a store of `requests_in_all` requests."""
    now = datetime.now(UTC)
    month = Interval(
        start=(now - timedelta(days=_DAYS)).replace(hour=0, minute=0, second=0, microsecond=0),
        end=now.replace(second=0, microsecond=0),
    )
    begins = month.start.date()
    contracts = [
        [
            contract_with_rules(
                f"tenant-{number:03d}", first=begins, last=begins + timedelta(days=200), period=_PERIOD
            )
        ]
        for number in range(TENANTS)
    ]
    with open_store(f"chdb://{folder / 'store'}") as store:
        fill(store, requests_in_all, tenants=TENANTS, month=month)
        slices = evaluate_slices(store, [InForce(contract=each[0]) for each in contracts]).written
        size = (
            f"{requests_in_all:,} requests, {TENANTS} contracts of {len(RULES)} objectives, {slices:,} slices"
        )
        readings = AnsweredReadings(_given(store, contracts), limit_seconds=600)
        try:
            client = _client(readings)
            _at_rest(store)
            begun = time.perf_counter()
            _get(client, "/api/v1/overview")
            first = time.perf_counter() - begun
            found = [Figure(what=f"the first overview after a start: {size}", measured=f"{first:.2f} s")]
            for asked in ASKED:
                seconds = timed(
                    lambda asked=asked: _get(client, asked.path),  # type: ignore[misc]
                    times=asked.runs,
                    before=lambda: _another_pass(store, month),
                ).seconds
                target = asked.target if requests_in_all >= _TARGETED_AT else None
                found.append(
                    Figure(
                        what=f"{asked.what}, median of {asked.runs}",
                        measured=f"{seconds * 1000:.0f} ms",
                        target="" if target is None else f"<= {target * 1000:.0f} ms",
                        met=None if target is None else seconds <= target,
                    )
                )
        finally:
            readings.close()
    return found


def _at_rest(store: Store) -> None:
    """Return once nothing is merged any more, or after some minutes."""
    until = time.monotonic() + _REST_SECONDS
    while time.monotonic() < until and store.rows(Query(sql="SELECT count() FROM system.merges"))[0][0]:
        time.sleep(1.0)


def _given(store: Store, contracts: list[list[Contract]]) -> Given:
    return Given(
        store=lambda: store,
        contracts=lambda: contracts,
        prices=lambda: None,
        cost_book=GpuTimeSection().settings(),
        now=lambda: datetime.now(UTC),
        software_version="0",
    )


def _client(readings: AnsweredReadings) -> TestClient:
    gate = Gate(
        find=lambda _: None,
        sessions=Sessions(monotonic=time.monotonic),
        forms=Forms(),
        failures=Failures(monotonic=time.monotonic),
        is_loopback=True,
    )
    console = Console(readings=readings, gate=gate, note=lambda _: None)
    app = console_app(console, [*api_routes(console), *routes(console)], problem_page=problem_page)
    return TestClient(app, base_url=_LOCAL, client=("127.0.0.1", 5000))


def _get(client: TestClient, path: str) -> None:
    answer = client.get(path)
    if answer.status_code != 200:  # noqa: PLR2004 - it names itself
        raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:500]}")


def _another_pass(store: Store, month: Interval) -> None:
    since = int((month.end - timedelta(minutes=1)).timestamp() * 1_000_000)
    store.execute(Query(sql=_AGAIN, parameters={"since": since}))
