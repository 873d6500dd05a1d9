"""The server is away while requests go on arriving: nothing is lost, memory is bounded, the backlog is soon gone.

FAIRCLOCK_OUTAGE_SECONDS sets for how long; what came out is printed, and written to FAIRCLOCK_OUTAGE_RESULT.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import httpx
import pytest

from fairclock.store import Query, open_store
from tests.faults import traffic
from tests.faults.test_kills import Site

OUTAGE_SECONDS = float(os.environ.get("FAIRCLOCK_OUTAGE_SECONDS", "600"))
RESULT = os.environ.get("FAIRCLOCK_OUTAGE_RESULT")
REQUESTS_A_SECOND = 1_000
TICKS_A_SECOND = 10
LARGEST_RESIDENT_BYTES = 512 << 20
CATCH_UP = 10


class Load:
    """Write lines and post spans at a steady rate, in threads of their own, from `start` to `end`."""

    def __init__(self, site, count):
        self.site, self.count = site, count
        self.threads = [threading.Thread(target=each, daemon=True) for each in (self._lines, self._spans)]
        self.took = {}
        self.lock = threading.Lock()

    def _paced(self, name, work):
        began = time.monotonic()
        step = REQUESTS_A_SECOND // TICKS_A_SECOND
        for first in range(0, self.count, step):
            work(first, min(first + step, self.count))
            ahead = began + (first + step) / REQUESTS_A_SECOND - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
        with self.lock:
            self.took[name] = time.monotonic() - began

    def _lines(self):
        log = self.site.gateway.log
        self._paced(
            "lines",
            lambda first, end: log.write(b"".join(traffic.line(each) + b"\n" for each in range(first, end))),
        )

    def _spans(self):
        with httpx.Client(timeout=60) as client:

            def post(first, end):
                answer = client.post(
                    self.site.engines[0].url,
                    content=traffic.body(range(first, end)),
                    headers={"Content-Type": "application/x-protobuf"},
                )
                assert answer.status_code == 200, answer.text

            self._paced("spans", post)


@pytest.mark.soak
def test_a_long_outage_under_load_costs_nothing(tmp_path):
    count = int(OUTAGE_SECONDS * REQUESTS_A_SECOND)
    with Site(tmp_path / "site", count=count, seed=1, destination="a server", feeds=False) as site:
        site.server.kill()
        load = Load(site, count)
        resident = [site.collector.resident_bytes()]
        for thread in load.threads:
            thread.start()
        while any(thread.is_alive() for thread in load.threads):
            resident.append(site.collector.resident_bytes())
            time.sleep(0.5)
        assert set(load.took) == {"lines", "spans"}
        during = max(resident)
        spooled = sum(path.stat().st_size for path in site.spool.rglob("*") if path.is_file())
        site.server.start().wait_until_it_answers()
        back = time.monotonic()
        watching = threading.Event()
        sampler = threading.Thread(
            target=lambda: [
                resident.append(site.collector.resident_bytes())
                for _ in iter(lambda: watching.wait(0.2), True)
            ]
        )
        sampler.start()
        try:
            site.wait_until_delivered()
        finally:
            watching.set()
            sampler.join()
        waited = time.monotonic() - back
        with open_store(site.server.dsn) as store:
            gateway, engine = (
                store.rows(Query(sql=f"SELECT count() FROM {table} FINAL"))[0][0]
                for table in ("gateway_requests", "engine_requests")
            )
            [(writing, batches)] = store.rows(
                Query(
                    sql="SELECT dateDiff('millisecond', min(at), max(at)) / 1000, countIf(state = 1) FROM write_log"
                )
            )
        site.collector.stop()
        site.server.stop()
    result = {
        "outage_seconds": OUTAGE_SECONDS,
        "requests": count,
        "arrived_a_second": round(count / max(load.took.values())),
        "spool_bytes": spooled,
        "resident_bytes_at_start": resident[0],
        "resident_bytes_during": during,
        "resident_bytes_at_most": max(resident),
        "catching_up_seconds": float(writing),
        "until_all_was_there_seconds": round(waited, 1),
        "written_a_second": round(count / float(writing)),
        "writes": batches,
    }
    print(json.dumps(result))  # noqa: T201 - for whoever runs it with -s
    if RESULT:
        Path(RESULT).write_text(json.dumps(result, indent=2))
    assert (gateway, engine) == (count, count)
    assert result["arrived_a_second"] > 0.9 * REQUESTS_A_SECOND
    assert result["resident_bytes_at_most"] < LARGEST_RESIDENT_BYTES
    assert result["written_a_second"] >= CATCH_UP * REQUESTS_A_SECOND
