"""Own the benchmark of the collecting path: a log followed into the spool, and the spool written into the store."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

from benchmarks.measuring import Figure, timed
from benchmarks.sample import gateway_line, requests
from collectors.gateway.tailing import Tailer
from exporters.clickhouse import Writer, lines_of
from exporters.spool import Spool
from fairclock.store import LineBatch, Query, open_store

if TYPE_CHECKING:
    from pathlib import Path

LINES = 300_000
RUNS = 3
TARGET_LINES_PER_SECOND = 100_000
_BAD_EVERY = 100
_SPOOL_BYTES = 4 << 30
_BATCH_LINES = 100_000
_COPY_BYTES = 4 << 20
_BYTES = (
    "SELECT sum(data_compressed_bytes) FROM system.parts"
    " WHERE active AND database = currentDatabase() AND table IN ('gateway_requests', 'dead_letters')"
)


def figures(folder: Path) -> list[Figure]:
    """Follow a log in which every hundredth line is a dead letter; then let the writer catch up with it."""
    log = folder / "access.log"
    lines = [gateway_line(each) if each.number % _BAD_EVERY else b"{" for each in requests(LINES, seed=4)]
    log.write_bytes(b"".join(line + b"\n" for line in lines))
    copied = timed(lambda: _copy(log, folder / "copy"), times=RUNS)
    followed = timed(lambda: _follow(log, folder), times=RUNS, before=lambda: _forget(folder))
    spooled_bytes = sum(each.stat().st_size for each in (folder / "spool" / "segments").iterdir())
    speed = LINES / followed.seconds
    rows = [
        Figure(
            what="tailing into the spool, with fsync and checkpoint, 1 % dead letters",
            measured=f"{speed:,.0f} lines/s",
            target=f">= {TARGET_LINES_PER_SECOND:,}",
            met=speed >= TARGET_LINES_PER_SECOND,
            limit="copied with fsync",
            ratio=copied.seconds / followed.seconds,
            rows_per_second=speed,
            peak_bytes=followed.peak_bytes,
            row_bytes=spooled_bytes / LINES,
        )
    ]
    with open_store(f"chdb://{folder / 'store'}") as store:

        def empty() -> None:
            for table in ("gateway_requests", "dead_letters", "covered"):
                store.execute(Query(sql=f"TRUNCATE TABLE {table}"))

        def ingest() -> None:
            for start in range(0, LINES, _BATCH_LINES):
                store.ingest(
                    LineBatch(kind="gateway", source="bench", lines=lines[start : start + _BATCH_LINES])
                )

        def catch_up() -> None:
            with Spool(folder / "spool", limit_bytes=_SPOOL_BYTES) as spool:
                writer = Writer(spool, lambda: nullcontext(store), adapters={"nginx-json": lines_of})
                while spool.statistics(time.time_ns() // 1000).frames_waiting:
                    writer.turn(at_once=True)

        def refill() -> None:
            empty()
            _forget(folder)
            _follow(log, folder)

        ingested = timed(ingest, times=RUNS, before=empty)
        caught_up = timed(catch_up, times=RUNS, before=refill)
        size_bytes = store.rows(Query(sql=_BYTES))[0][0]
    rows.append(
        Figure(
            what="the writer catches up with that spool",
            measured=f"{LINES / caught_up.seconds:,.0f} lines/s",
            limit="the same batches from memory",
            ratio=ingested.seconds / caught_up.seconds,
            rows_per_second=LINES / caught_up.seconds,
            peak_bytes=caught_up.peak_bytes,
            row_bytes=size_bytes / LINES,
        )
    )
    return rows


def _forget(folder: Path) -> None:
    for name in ("spool", "checkpoints"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _follow(log: Path, folder: Path) -> None:
    with (
        Spool(folder / "spool", limit_bytes=_SPOOL_BYTES) as spool,
        Tailer(
            [str(log)], source="bench", checkpoint_directory=folder / "checkpoints", deliver=spool.append
        ) as tail,
    ):
        while tail.statistics().lines < LINES:
            tail.poll(time.time_ns() // 1000)


def _copy(log: Path, target: Path) -> None:
    """Write what is in `log` and have it on the disk every few MB: what nobody who keeps lines can do without."""
    with log.open("rb") as source, target.open("wb") as sink:
        while block := source.read(_COPY_BYTES):
            sink.write(block)
            sink.flush()
            os.fsync(sink.fileno())
