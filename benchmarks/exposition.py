"""Own the benchmark of a scrape: 1,000 tenants on every clock, asked for over HTTP as Prometheus asks, and what it costs aside."""

from __future__ import annotations

import gzip
import json
import threading
import time
import urllib.request
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from benchmarks.measuring import Figure, timed
from benchmarks.sample import engine_line, gateway_line, requests
from exporters.prometheus import Format, exposition
from exporters.prometheus.bounds import Admitted, AdmittedPairs
from exporters.prometheus.collector import FigureCollector
from exporters.prometheus.compression import gzip_of
from exporters.prometheus.configuration import MetricsSection
from exporters.prometheus.snapshot import Snapshots
from fairclock.cli.configuration import HttpSection
from fairclock.cli.pipeline.endpoint import answering, health_routes
from fairclock.cli.pipeline.memory import spare_what_stays
from fairclock.cli.pipeline.metrics.layout import layout_of
from fairclock.cli.pipeline.metrics.publisher import Publisher, Source
from fairclock.cli.pipeline.metrics.requests import RequestCounters
from fairclock.store import LineBatch, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from exporters.prometheus import Published
    from fairclock.store import Store

TENANTS = 1_000
REQUESTS = 20_000
RUNS = 9
SNAPSHOTS = 3
TARGET_SECONDS = 0.250
MOST_BYTES = 32_000_000
_OPENMETRICS = "application/openmetrics-text;version=1.0.0"


def figures(folder: Path) -> list[Figure]:
    """Store an hour of `REQUESTS` requests of `TENANTS` tenants, work out what is published, and scrape it."""
    numbers = count()
    with open_store(f"chdb://{folder / 'store'}") as store:
        counters = RequestCounters(
            clocks=layout_of(MetricsSection(), ()),
            pairs=AdmittedPairs(tenants=Admitted(TENANTS), models=Admitted(50), most=2 * TENANTS),
            since=store.watermark(),
        )
        snapshots = Snapshots()
        shown: list[Sequence[Published]] = []

        def read(found: Store, as_of: datetime) -> Sequence[Published]:
            counters.read(found, as_of)
            shown[:] = [counters.figures(told=snapshots.scraped)]
            return shown[0]

        publisher = Publisher(
            store=lambda: store, sources=[Source(name="requests", read=read)], snapshots=snapshots,
            every_seconds=15.0, now=lambda: datetime.now(UTC),
        )  # fmt: skip

        def more(found: int = REQUESTS // 20) -> None:
            _ingest(store, found, seed=next(numbers))

        spare_what_stays()  # as `up` does when it has begun
        more(REQUESTS)
        publisher.refresh()
        with _answering(snapshots, publisher) as url:
            for accept in (_OPENMETRICS, "text/plain"):
                _scraped(url, accept)
            publisher.refresh()
            body = _scraped(url, _OPENMETRICS)
            if body.count(b"\nfairclock_request_duration_seconds_count{") != 8 * TENANTS:
                raise RuntimeError("not every tenant is told on every clock: the figures would mean nothing")
            plain = timed(lambda: _scraped(url, "text/plain", encoding="identity"), times=RUNS)
            compressed = timed(lambda: _read(url, _OPENMETRICS, "gzip"), times=RUNS)
            # at once after a snapshot was worked out that changes every series
            fresh = timed(
                lambda: _read(url, _OPENMETRICS, "gzip"),
                times=3,
                before=lambda: _both(more, publisher.refresh),
            )
            size, sent = len(body), len(_read(url, _OPENMETRICS, "gzip"))
            during = _while_it_is_worked_out(url, publisher, more)
        refreshing = timed(publisher.refresh, times=5, before=more)
        idle = timed(publisher.refresh, times=5)
        registry = CollectorRegistry()
        registry.register(FigureCollector(shown[0]))
        library = timed(lambda: generate_latest(registry), times=3)
        openmetrics = timed(lambda: generate_openmetrics(registry), times=3)  # type: ignore[no-untyped-call]
        first = timed(lambda: Snapshots(_figures=shown[0]).text(Format.PLAIN), times=3)
    return [
        Figure(what=f"{TENANTS:,} tenants by prometheus_client, text", measured=_ms(library.seconds)),
        Figure(what="the same, OpenMetrics", measured=_ms(openmetrics.seconds)),
        _scrape("a scrape of them, text over HTTP", plain.seconds, library.seconds, plain.peak_bytes),
        _scrape("a scrape of them, OpenMetrics and gzip", compressed.seconds, openmetrics.seconds),
        _scrape("the first after every series changed", fresh.seconds, openmetrics.seconds),
        _scrape("the slowest while all is worked out", during, openmetrics.seconds),
        _scrape("the first in a format nobody asked for", first.seconds, openmetrics.seconds),
        Figure(
            what="its size, and what goes over the wire",
            measured=f"{size / 1e6:.1f} MB, {sent / 1e6:.2f} MB",
            target=f"<= {MOST_BYTES / 1e6:.0f} MB",
            met=size <= MOST_BYTES,
        ),
        Figure(what="working it out aside, 1,000 new requests", measured=_ms(refreshing.seconds)),
        Figure(what="the same, nothing new", measured=_ms(idle.seconds)),
    ]


def _ingest(store: Store, found: int, *, seed: int) -> None:
    sample = list(requests(found, seed=seed))
    gateway = []
    for each in sample:
        line = json.loads(gateway_line(each))
        line |= {"tenant": f"tenant-{each.number % TENANTS:04d}", "model": "deepseek-v4"}
        gateway.append(json.dumps(line).encode())
    store.ingest(LineBatch(kind="gateway", source="bench", lines=gateway))
    store.ingest(LineBatch(kind="engine", source="bench", lines=[engine_line(each) for each in sample]))


@contextmanager
def _answering(snapshots: Snapshots, publisher: Publisher) -> Iterator[str]:
    def scrape(format_: Format, compressed: bool) -> bytes:  # noqa: FBT001 - as the route has it
        snapshot = snapshots.text(format_, compressed=compressed)
        rest = exposition(publisher.figures(), format_=format_)
        if compressed and snapshot.compressed is not None:
            return gzip_of(snapshot.compressed, rest)
        return snapshot.body + rest

    routes = health_routes(ended=list, ready=dict, scrape=scrape)
    with answering(HttpSection(address="127.0.0.1:0"), routes) as url:
        yield f"{url}/metrics"


def _read(url: str, accept: str, encoding: str) -> bytes:
    asked = urllib.request.Request(url, headers={"accept": accept, "accept-encoding": encoding})
    with urllib.request.urlopen(asked) as answer:
        content: bytes = answer.read()
    return content


def _scraped(url: str, accept: str, *, encoding: str = "gzip") -> bytes:
    content = _read(url, accept, encoding)
    return gzip.decompress(content) if encoding == "gzip" else content


def _both(first: Callable[[], None], second: Callable[[], None]) -> None:
    first()
    second()


def _while_it_is_worked_out(url: str, publisher: Publisher, more: Callable[[], None]) -> float:
    """Return the seconds of the slowest scrape while snapshots that change every series are worked out, one after another."""
    slowest = 0.0
    for _ in range(SNAPSHOTS):
        more()
        thread = threading.Thread(target=publisher.refresh)
        thread.start()
        while thread.is_alive():
            begun = time.perf_counter()
            _read(url, _OPENMETRICS, "gzip")
            slowest = max(slowest, time.perf_counter() - begun)
        thread.join()
    return slowest


def _scrape(what: str, seconds: float, library: float, peak_bytes: int | None = None) -> Figure:
    return Figure(
        what=what,
        measured=_ms(seconds),
        target=f"< {TARGET_SECONDS * 1000:.0f} ms",
        met=seconds < TARGET_SECONDS,
        limit="prometheus_client",
        ratio=library / seconds,
        peak_bytes=peak_bytes,
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
