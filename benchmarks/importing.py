"""Own the benchmark of bulk import: nginx JSON lines a second, held against the engine alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.measuring import Figure, timed
from benchmarks.sample import gateway_line, requests
from collectors.gateway.files import ingest_gateway_files
from fairclock.store import Query, open_store

if TYPE_CHECKING:
    from pathlib import Path

LINES = 400_000
RUNS = 3
TARGET_RATIO = 0.6

_KEYS = (
    "time", "request_id", "traceparent", "tenant", "method", "uri", "status", "request_time", "upstream_addr",
    "upstream_connect_time", "upstream_header_time", "upstream_response_time", "request_length", "bytes_sent", "server",
)  # fmt: skip
# What the engine alone can do: one extraction a line, no rule of ours, into a table of the same shape.
_ALONE = (
    "INSERT INTO engine_alone (received_at, content_hash, k, trace_id, request_id, tenant, method, route, server, upstream,"
    " status, responded_us, forwarded_us, request_bytes, bytes_sent, source, first_wins)"
    " SELECT fromUnixTimestamp64Milli(toInt64(toFloat64(t.time) * 1000 - toFloat64(t.request_time) * 1000), 'UTC'),"
    " reinterpretAsUInt128(sipHash128(line)), 0, unhex(substring(t.traceparent, 4, 32)), t.request_id, t.tenant, t.method, t.uri, t.server,"
    " t.upstream_addr, toUInt16OrZero(t.status), toInt64(toFloat64OrZero(t.request_time) * 1000000),"
    " toInt64(toFloat64OrZero(t.upstream_connect_time) * 1000000), toUInt64OrZero(t.request_length),"
    " toUInt64OrZero(t.bytes_sent), 'bench', 1"
    " FROM (SELECT line, JSONExtract(line, {shape:String}) AS t FROM file({path:String}, 'LineAsString', 'line String'))"
)
_BYTES = (
    "SELECT sum(data_compressed_bytes) FROM system.parts"
    " WHERE active AND database = currentDatabase() AND table = 'gateway_requests'"
)
_SHAPE = "Tuple(" + ", ".join(f"{key} String" for key in _KEYS) + ")"


def figures(folder: Path) -> list[Figure]:
    """Import the same file through Fairclock and through the engine alone; the ratio is of one run."""
    path = folder / "gateway.jsonl"
    path.write_bytes(b"".join(gateway_line(request) + b"\n" for request in requests(LINES, seed=2)))
    with open_store(f"chdb://{folder / 'store'}") as store:

        def empty() -> None:
            for table in ("gateway_requests", "covered", "engine_alone"):
                store.execute(Query(sql=f"TRUNCATE TABLE {table}"))

        store.execute(Query(sql="CREATE TABLE engine_alone AS gateway_requests"))
        alone = timed(
            lambda: store.execute(Query(sql=_ALONE, parameters={"shape": _SHAPE, "path": str(path)})),
            times=RUNS,
            before=empty,
        )
        ours = timed(
            lambda: ingest_gateway_files(store, [str(path)], source="bench", covers=None, progress=None),
            times=RUNS,
            before=empty,
        )
        size_bytes = store.rows(Query(sql=_BYTES))[0][0]
    ratio = alone.seconds / ours.seconds
    return [
        Figure(
            what="the engine alone: nginx JSON into the raw table",
            measured=f"{LINES / alone.seconds:,.0f} lines/s",
            rows_per_second=LINES / alone.seconds,
            peak_bytes=alone.peak_bytes,
        ),
        Figure(
            what="fairclock ingest gateway, all rules kept",
            measured=f"{ratio:.2f} of the engine alone",
            target=f">= {TARGET_RATIO}",
            met=ratio >= TARGET_RATIO,
            limit="the engine alone",
            ratio=ratio,
            rows_per_second=LINES / ours.seconds,
            peak_bytes=ours.peak_bytes,
            row_bytes=size_bytes / LINES,
        ),
    ]
