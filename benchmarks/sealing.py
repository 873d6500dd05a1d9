"""Own the benchmark of an hour: joined while it is open, sealed, and what a request takes on disk."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from benchmarks.measuring import Figure, median_seconds
from benchmarks.sample import HOUR_START_SECONDS, engine_line, gateway_line, requests
from fairclock.model import Interval
from fairclock.store import LineBatch, Query, open_store

if TYPE_CHECKING:
    from pathlib import Path

REQUESTS = 20_000
RUNS = 5
SEAL_SECONDS = 0.100
JOIN_SECONDS = 0.050
BYTES_WITH_RAW = 110
BYTES_SEALED = 60

_RAW = ["gateway_requests", "engine_requests"]
_BYTES = (
    "SELECT sum(data_compressed_bytes) FROM system.parts"
    " WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)}"
)


def figures(folder: Path) -> list[Figure]:
    """Store an hour of `REQUESTS` requests from both sides, join it open, seal it, and weigh it."""
    start = datetime.fromtimestamp(HOUR_START_SECONDS, UTC)
    hour = Interval(start=start, end=start + timedelta(hours=1))
    sample = list(requests(REQUESTS, seed=3))
    with open_store(f"chdb://{folder / 'store'}") as store:
        store.ingest(LineBatch(kind="gateway", source="bench", lines=[gateway_line(each) for each in sample]))
        store.ingest(LineBatch(kind="engine", source="bench", lines=[engine_line(each) for each in sample]))

        def join() -> int:
            query = store.requests_as_of(hour, store.watermark())
            counted = f"SELECT count() FROM ({query.sql}) WHERE engine = 'joined'"
            return int(store.rows(Query(sql=counted, parameters=query.parameters))[0][0])

        def unseal() -> None:
            for table in ("requests", "seals"):
                store.execute(Query(sql=f"TRUNCATE TABLE {table}"))

        joined = join()
        if joined != REQUESTS:
            raise RuntimeError(f"{joined} of {REQUESTS} requests were joined: the figures would mean nothing")
        join_seconds = median_seconds(join, times=RUNS)
        seal_seconds = median_seconds(store.seal, times=RUNS, before=unseal)
        for table in [*_RAW, "requests"]:
            store.execute(Query(sql=f"OPTIMIZE TABLE {table} FINAL"))
        sealed = store.rows(Query(sql=_BYTES, parameters={"tables": ["requests"]}))[0][0] / REQUESTS
        raw = store.rows(Query(sql=_BYTES, parameters={"tables": _RAW}))[0][0] / REQUESTS
    return [
        _seconds(f"joining an open hour of {REQUESTS:,} requests", join_seconds, JOIN_SECONDS),
        _seconds(f"sealing an hour of {REQUESTS:,} requests", seal_seconds, SEAL_SECONDS),
        _bytes("stored bytes per request, with raw", sealed + raw, BYTES_WITH_RAW),
        _bytes("stored bytes per request, when raw has expired", sealed, BYTES_SEALED),
    ]


def _seconds(what: str, seconds: float, target: float) -> Figure:
    return Figure(
        what=what,
        measured=f"{seconds * 1000:.0f} ms",
        target=f"<= {target * 1000:.0f} ms",
        met=seconds <= target,
    )


def _bytes(what: str, value: float, target: int) -> Figure:
    return Figure(what=what, measured=f"{value:.0f} B", target=f"<= {target} B", met=value <= target)
