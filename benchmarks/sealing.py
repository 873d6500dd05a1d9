"""Own the benchmark of an hour: joined while it is open, sealed, and what a request takes on disk."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from benchmarks.measuring import Figure, Timing, timed
from benchmarks.sample import HOUR_START_SECONDS, Request, engine_line, gateway_line, requests
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

        def read_raw() -> None:
            for table in _RAW:
                store.rows(Query(sql=f"SELECT sum(ignore(*)) FROM {table} FINAL"))

        def unseal() -> None:
            for table in ("requests", "seals", "seal_confirmations"):
                store.execute(Query(sql=f"TRUNCATE TABLE {table}"))

        joined = join()
        if joined != REQUESTS:
            raise RuntimeError(f"{joined} of {REQUESTS} requests were joined: the figures would mean nothing")
        joining = timed(join, times=RUNS)
        reading = timed(read_raw, times=RUNS)
        sealing = timed(store.seal, times=RUNS, before=unseal)
        for table in [*_RAW, "requests"]:
            store.execute(Query(sql=f"OPTIMIZE TABLE {table} FINAL"))
        sealed = store.rows(Query(sql=_BYTES, parameters={"tables": ["requests"]}))[0][0] / REQUESTS
        raw = store.rows(Query(sql=_BYTES, parameters={"tables": _RAW}))[0][0] / REQUESTS
        unseal()
        store.ingest(LineBatch(kind="engine", source="bench", lines=[_second_row(sample[0])]))
        tangled = timed(join, times=RUNS)
    return [
        _quick("joining an open hour of 20,000 requests", joining, reading, JOIN_SECONDS),
        _quick("joining it where one key is tangled", tangled, reading, None),
        _quick("sealing that hour", sealing, reading, SEAL_SECONDS),
        _light("stored bytes per request, with raw", sealed + raw, BYTES_WITH_RAW),
        _light("stored bytes per request, when raw has expired", sealed, BYTES_SEALED),
    ]


def _second_row(request: Request) -> bytes:
    """Return an engine row of an attempt before: it makes the hour one that takes the full search."""
    return engine_line(replace(request, received_ms=request.received_ms - 1, decode_us=1))


def _quick(what: str, timing: Timing, reading: Timing, target: float | None) -> Figure:
    return Figure(
        what=what,
        measured=f"{timing.seconds * 1000:.0f} ms",
        target="" if target is None else f"<= {target * 1000:.0f} ms",
        met=None if target is None else timing.seconds <= target,
        limit="both raw tables read",
        ratio=reading.seconds / timing.seconds,
        rows_per_second=REQUESTS / timing.seconds,
        peak_bytes=timing.peak_bytes,
    )


def _light(what: str, value: float, target: int) -> Figure:
    return Figure(
        what=what,
        measured=f"{value:.0f} B",
        target=f"<= {target} B",
        met=value <= target,
        row_bytes=value,
    )
