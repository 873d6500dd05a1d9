"""Stores in memory that a writer meets: well, away, sick, or particular about rows."""

from datetime import UTC, datetime, timedelta

from fairclock.errors import StoreError
from fairclock.model import merge
from fairclock.store import IngestCounts

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def server_error(code, text="something about it"):
    """Return the error of a ClickHouse server, as fairclock.store hands it on."""
    return StoreError(
        "clickhouse://server", f"received ClickHouse error code {code}\n Code: {code}. DB::Exception: {text}"
    )


class Store:
    """Keep each (line, k) once; `failures` are met one by one, `refuses` says which lines raise what."""

    def __init__(self, *, refuses=lambda line: None):
        self.rows = {}
        self.batches = []
        self.intervals = []
        self.dead = []
        self.failures = []
        self.closed = False
        self._refuses = refuses

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True

    def ingest(self, batch):
        self.batches.append(batch)
        if self.failures and (failure := self.failures.pop(0)) is not None:
            raise failure
        for line in batch.lines:
            if (error := self._refuses(line)) is not None:
                raise error
        new = {(line, batch.k) for line in batch.lines} - self.rows.keys()
        self.rows.update(dict.fromkeys(((line, batch.k) for line in batch.lines), batch.kind))
        return IngestCounts(read=len(batch.lines), stored=len(new), duplicates=len(batch.lines) - len(new))

    def cover(self, *, kind, source, intervals):
        if self.failures and (failure := self.failures.pop(0)) is not None:
            raise failure
        self.intervals += [(kind, source, each) for each in intervals]

    def keep_dead_letters(self, batch, *, reason):
        if self.failures and (failure := self.failures.pop(0)) is not None:
            raise failure
        self.dead += [(line, reason) for line in batch.lines]

    @property
    def lines(self):
        return {line for line, _ in self.rows}

    @property
    def covered(self):
        return [
            tuple((each - EPOCH) // timedelta(microseconds=1) for each in (interval.start, interval.end))
            for interval in merge(interval for _, _, interval in self.intervals)
        ]


class Clock:
    """A monotonic clock that stands still unless it is moved."""

    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds
