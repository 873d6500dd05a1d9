"""Own the figures that docs/scale.md multiplies: what a request takes on disk, by table, and of a processor, by stage.

``python -m benchmarks scaling=1000000`` stores as many requests, 20,000 an hour, of 100 tenants from both sides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.evaluating import RULES, contract_with_rules
from benchmarks.measuring import Figure, timed
from benchmarks.sample import engine_line, gateway_line, requests
from fairclock.store import LineBatch, Query, open_store
from sla.slices import InForce, evaluate_slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from benchmarks.sample import Request
    from fairclock.store import Store

REQUESTS = 400_000
TENANTS = 100
AN_HOUR = 20_000
BATCH = 50_000
_MS_PER_HOUR = 3_600_000
_TABLES = ("gateway_requests", "engine_requests", "requests", "sli_slices")


def figures(folder: Path, requests_in_all: int = REQUESTS) -> list[Figure]:
    """Store, seal and count `requests_in_all` requests; weigh every table, and time a copy of the largest piece."""
    hours = max(requests_in_all // AN_HOUR, 1)
    contracts = [InForce(contract=contract_with_rules(f"tenant-{number:03d}")) for number in range(TENANTS)]
    found = []
    with open_store(f"chdb://{folder / 'store'}") as store:
        for kind, line in (("gateway", gateway_line), ("engine", engine_line)):
            seconds = sum(_stored(store, kind, line, hour) for hour in range(hours))
            found.append(_stage(f"writing what the {kind} said", seconds, hours))
        found.append(_stage("sealing", timed(store.seal, times=1).cpu_seconds, hours))
        counting = timed(lambda: evaluate_slices(store, contracts), times=1).cpu_seconds
        found.append(
            _stage(f"counting slices of {TENANTS} contracts, {len(RULES)} objectives each", counting, hours)
        )
        before = _weights(store)
        for table in _TABLES:
            store.execute(Query(sql=f"OPTIMIZE TABLE {table} FINAL"))
        after = _weights(store)
        found += [
            Figure(
                what=f"{table} on disk, merged (as it was written: {before[table] / (hours * AN_HOUR):.1f} B)",
                measured=f"{after[table] / (hours * AN_HOUR):.1f} B a request",
                row_bytes=after[table] / (hours * AN_HOUR),
            )
            for table in _TABLES
        ]
        slices = store.rows(Query(sql="SELECT count() FROM sli_slices"))[0][0]
        found.append(
            Figure(
                what=f"a slice ({slices:,} of them), merged",
                measured=f"{after['sli_slices'] / max(slices, 1):.0f} B",
            )
        )
    return found


def _hour(number: int) -> Iterator[Request]:
    """Yield the requests of the hour `number`, whose ids and traces no other has."""
    for request in requests(AN_HOUR, seed=number):
        yield replace(
            request,
            number=number * AN_HOUR + request.number,
            received_ms=request.received_ms + number * _MS_PER_HOUR,
        )


def _stored(store: Store, kind: str, line: Callable[[Request], bytes], hour: int) -> float:
    """Store an hour's lines of one side, and return the processor's seconds that it took."""
    lines = [line(each) for each in _hour(hour)]
    batches: list[Sequence[bytes]] = [lines[at : at + BATCH] for at in range(0, len(lines), BATCH)]

    def write() -> None:
        for batch in batches:
            counts = store.ingest(LineBatch(kind=kind, source="bench", lines=batch))  # type: ignore[arg-type]
            if counts.stored != len(batch):
                raise RuntimeError(f"{counts.stored} of {len(batch)} lines were stored: the figures would mean nothing")  # fmt: skip

    return timed(write, times=1).cpu_seconds


def _weights(store: Store) -> dict[str, int]:
    sql = (
        "SELECT table, sum(bytes_on_disk) FROM system.parts"
        " WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)} GROUP BY table"
    )
    return {
        str(table): int(size)
        for table, size in store.rows(Query(sql=sql, parameters={"tables": list(_TABLES)}))
    }


def _stage(what: str, seconds: float, hours: int) -> Figure:
    each_us = seconds * 1e6 / (hours * AN_HOUR)
    return Figure(
        what=what, measured=f"{each_us:.2f} µs of a processor a request", rows_per_second=1e6 / each_us
    )
