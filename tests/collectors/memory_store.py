"""A store in memory: the sibling of fairclock.store.Store that collectors are tested against.

It keeps each (line, k) once, as the store does, and knows the reasons that matter here: what is no JSON
object, what is marked bad, what lacks a possible duration or a time.
"""

import json
import math
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from fairclock.errors import FairclockError
from fairclock.model import Interval, merge
from fairclock.store import IngestCounts, Kind, LineBatch

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS = ("e2e", "queue", "prefill", "decode")


class MemoryStore:
    def __init__(self) -> None:
        self.rows: dict[tuple[bytes, int], dict] = {}
        self.dead: set[bytes] = set()
        self.batches: list[LineBatch] = []
        self.intervals: list[tuple[Kind, str, Interval]] = []
        self.failures: list[BaseException | None] = []
        self.gate = threading.Event()
        self.gate.set()

    def ingest(self, batch: LineBatch) -> IngestCounts:
        self.batches.append(batch)
        if not self.gate.wait(timeout=60):
            raise AssertionError("the gate stayed shut")
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        counts = IngestCounts()
        for line in batch.lines:
            counts += self._ingest_line(batch, line)
        return counts

    def _ingest_line(self, batch: LineBatch, line: bytes) -> IngestCounts:
        if not line.strip():
            return IngestCounts(read=1, ignored=1)
        try:
            event = json.loads(line)
            at = _gateway_time(event) if batch.kind == "gateway" else _engine_time(event)
        except (ValueError, KeyError, TypeError, OverflowError):
            self.dead.add(line)
            return IngestCounts(read=1, dead_letters=1)
        known = (line, batch.k) in self.rows
        self.rows[line, batch.k] = event
        return IngestCounts(read=1, stored=not known, duplicates=known, first_event=at, last_event=at)

    def keep_dead_letters(self, batch: LineBatch, *, reason: str) -> None:
        self.dead |= set(batch.lines)

    def cover(self, *, kind: Kind, source: str, intervals: Sequence[Interval]) -> None:
        if self.failures and isinstance(self.failures[0], FairclockError):
            raise self.failures.pop(0)
        self.intervals += [(kind, source, each) for each in intervals]

    @property
    def covered(self) -> list[tuple[datetime, datetime]]:
        return [(each.start, each.end) for each in merge(each for _, _, each in self.intervals)]


def _gateway_time(event: dict) -> datetime:
    float(event["request_time"])
    int(event["status"])
    return EPOCH + timedelta(microseconds=round(float(event["time"]) * 1e6))


def _engine_time(event: dict) -> datetime:
    if "bad" in event or not all(math.isfinite(float(event[name])) for name in SECONDS):
        raise ValueError
    if int(event["start_ns"]) < 946684800 * 10**9:
        raise ValueError
    return EPOCH + timedelta(microseconds=int(event["end_ns"]) // 1000)
