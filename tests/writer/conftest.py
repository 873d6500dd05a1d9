"""A writer between a real spool and a store in memory, on a clock that the test moves."""

import pytest

from exporters.clickhouse import Writer, lines_of
from exporters.spool import Spool, disk
from fairclock.model import Frame
from tests.writer.stores import Clock, Store

ADAPTERS = {"lines": lines_of}


def frame(*lines, **changes):
    fields = {
        "kind": "gateway",
        "format": "lines",
        "source": "edge",
        "generation": "one",
        "offset": 0,
        "payload": b"".join(line + b"\n" for line in lines),
    }
    return Frame(**{**fields, **changes})


class Bench:
    """What a test holds in its hands."""

    def __init__(self, spool):
        self.spool = spool
        self.clock = Clock()
        self.store = Store()
        self.opened = 0
        self.failures_to_open = []
        self.writer = self.another_writer()

    def another_writer(self):
        return Writer(
            self.spool, self.open_store, adapters=ADAPTERS, monotonic=self.clock, random=lambda: 1.0
        )

    def open_store(self):
        self.opened += 1
        if self.failures_to_open:
            raise self.failures_to_open.pop(0)
        return self.store

    def append(self, *lines, **changes):
        self.spool.append([frame(*lines, **changes)])

    def run_for(self, seconds):
        """Let the writer do what it wants to for so long; return at which second after now it had something to do."""
        end = self.clock.seconds + seconds
        begin = self.clock.seconds
        worked = []
        while True:
            rest = self.writer.turn()
            if not rest.seconds:
                worked.append(self.clock.seconds - begin)
                continue
            if self.clock.seconds + rest.seconds > end:
                self.clock.seconds = end
                return worked
            self.clock.seconds += rest.seconds

    def waiting(self):
        return self.spool.statistics(0).frames_waiting


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "sync", lambda _: None)  # what is safe when is not asked here
    with Spool(tmp_path / "spool", limit_bytes=1 << 30) as spool:
        yield Bench(spool)
