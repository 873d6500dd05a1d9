"""Collector and server are killed at random moments while requests arrive by file and by OTLP at once.

Afterwards exactly those requests are there, each once, and coverage and report equal those of an undisturbed run.
"""

from __future__ import annotations

import random
import time
from functools import cache

import httpx
import pytest

from fairclock.demo.live.programs import free_port
from fairclock.store import Query, open_store
from tests.faults import traffic
from tests.faults.feeding import Engine, Gateway
from tests.faults.processes import Restarted, Server, eventually
from tests.faults.reading import books_of
from tests.sidecar.running import fairclock, figures

FEED_SECONDS = 600.0
QUIET_SECONDS = 4.0


def waiting(url):
    """Return what is not read of the logs, in bytes, and what is not delivered, in frames."""
    try:
        found = figures(url)
    except httpx.TransportError:
        return 1, 1
    return found.get("fairclock_tail_unread_bytes", 0.0), found["fairclock_spool_frames"]


class Site:
    """A gateway's log, an engine's spans, a collector, and where it delivers; `folder` holds all of it."""

    def __init__(self, folder, *, count, seed, destination, feeds=True):
        folder.mkdir()
        (folder / "logs").mkdir()
        self.folder, self.count, self.feeds = folder, count, feeds
        self.spool = folder / "spool"
        log = folder / "logs" / "access.log"
        port, watching = free_port(), free_port()
        self.urls = [f"http://127.0.0.1:{watching}"]
        collecting = (
            "fairclock", "collect", "gateway", "otlp", "--file", log, "--http", f"127.0.0.1:{port}",
            "--grpc", "off", "--spool", self.spool, "--listen", f"127.0.0.1:{watching}",
        )  # fmt: skip
        if destination == "a server":
            self.server = Server(folder)
            self.dsn, self.asked = self.server.folder_dsn, self.server.dsn
            words, variables = ("--dsn", self.asked), {}
        else:
            self.dsn = self.asked = f"chdb://{folder}/store"
            token = fairclock("tokens", "create", "--scope", "collector", "--name", "c", "--dsn", self.dsn)
            listening = free_port()
            self.server = Restarted(
                "fairclock", "up", "--listen", f"127.0.0.1:{listening}", "--grpc", "off", "--http", "off",
                "--dsn", self.dsn, folder=folder, port=listening,
            )  # fmt: skip
            self.urls.append(f"http://127.0.0.1:{listening}")
            words, variables = ("--to", f"http://127.0.0.1:{listening}"), {"FAIRCLOCK_TOKEN": token}
        self.collector = Restarted(*collecting, *words, folder=folder, port=port, **variables)
        self.gateway = Gateway(log, seed=seed, lines_a_file=max(count // 8 // 50 * 50, 50))
        self.engines = [Engine(f"http://127.0.0.1:{port}/v1/traces", seed=seed)]

    def __enter__(self):
        self.server.start().wait_until_it_answers()
        self.collector.start().wait_until_it_answers()
        known = self.spool / "tails" / "tail.json"
        eventually(
            known.exists, what=lambda: self.collector.said
        )  # from then on, it is known what was there before
        for feeder in self.feeders:
            feeder.start()
        return self

    def __exit__(self, *_):
        for feeder in self.feeders:
            feeder.finish()
        self.collector.close()
        self.server.close()

    @property
    def feeders(self):
        return [self.gateway, *self.engines] if self.feeds else []

    def allow(self, number):
        for feeder in self.feeders:
            feeder.allow(number)

    def finish(self):
        """Let everything arrive, then end both as an administrator does."""
        self.allow(self.count)
        for feeder in self.feeders:
            feeder.finish()
            feeder.join(FEED_SECONDS)
            assert feeder.failure is None, feeder.failure
            assert feeder.done == self.count, self.said()
        self.wait_until_stored()
        self.wait_until_delivered()
        self.collector.stop()
        self.server.stop()

    def wait_until_stored(self):
        """Wait for all that was sent: a collector that is held up says of itself what was true before."""
        for each in (self.collector, self.server):
            each.wait_until_it_answers()
        tables = ("gateway_requests", "engine_requests")
        counted = [Query(sql=f"SELECT count() FROM {table} FINAL") for table in tables]
        with open_store(self.asked) as store:
            eventually(
                lambda: all(store.rows(query)[0][0] >= self.count for query in counted),
                what=self.said, seconds=FEED_SECONDS, every=0.5,
            )  # fmt: skip

    def wait_until_delivered(self):
        """Wait until the logs are read and the spools are empty, for longer than a tail looks away."""
        quiet_since = time.monotonic()
        until = time.monotonic() + FEED_SECONDS
        while time.monotonic() - quiet_since < QUIET_SECONDS:
            assert time.monotonic() < until, self.said()
            if any(sum(waiting(url)) for url in self.urls):
                quiet_since = time.monotonic()
            time.sleep(0.2)

    def said(self):
        return f"collector:\n{self.collector.said[-3000:]}\nserver:\n{self.server.said[-3000:]}"


def kill_at_random(site, *, kills, seed, down_seconds, up_seconds):
    """Kill collector or server, one at a time, while as many requests arrive between two kills."""
    choose = random.Random(seed)
    for kill in range(1, kills + 1):
        victim = choose.choice([site.collector, site.server])
        if choose.random() < 0.7:
            victim.wait_until_it_answers()  # else it may be killed while it starts
        site.allow(site.count * kill // kills)
        time.sleep(choose.uniform(0, up_seconds))
        victim.kill()
        time.sleep(choose.uniform(0, down_seconds))
        victim.start()


def check(books, *, count, undisturbed):
    """Hold what is stored to what was sent, and to what an undisturbed run stored."""
    assert [tuple(row) for row in books["lines"]] == traffic.expected_lines(count)
    assert books["spans"] == traffic.expected_spans(count)
    assert books["dead_letters"] == []
    assert books["staged"] == []
    assert books["covered"] == undisturbed["covered"]
    assert books["report"] == undisturbed["report"]


@pytest.fixture(scope="module")
def undisturbed_books(tmp_path_factory):
    """What a run that nobody disturbs stores, by the number of requests."""
    folder = tmp_path_factory.mktemp("undisturbed")

    @cache
    def books(count):
        with Site(folder / str(count), count=count, seed=1, destination="a server") as site:
            site.finish()
            return books_of(site.dsn)

    return books


CASES = [
    pytest.param("a server", 4, 2_500, id="a collector that writes into a server, 4 kills"),
    pytest.param("another Fairclock", 4, 2_500, id="a sidecar and an up, 4 kills", marks=pytest.mark.soak),
    pytest.param(
        "a server",
        100,
        100_000,
        id="a collector that writes into a server, 100 kills",
        marks=pytest.mark.soak,
    ),
    pytest.param(
        "another Fairclock", 100, 100_000, id="a sidecar and an up, 100 kills", marks=pytest.mark.soak
    ),
]


@pytest.mark.parametrize(("destination", "kills", "count"), CASES)
def test_kills_change_nothing_of_what_is_reported(tmp_path, undisturbed_books, destination, kills, count):
    undisturbed = undisturbed_books(count)
    seed = kills + 2  # with which four kills meet each of the two twice, while it works and while it starts
    with Site(tmp_path / "killed", count=count, seed=seed, destination=destination) as site:
        kill_at_random(site, kills=kills, seed=seed, down_seconds=0.5, up_seconds=2.0)
        site.finish()
        assert site.gateway.rotations >= 7
        assert site.collector.kills + site.server.kills == kills
        assert min(site.collector.kills, site.server.kills) >= 2
        killed = books_of(site.dsn)
    check(killed, count=count, undisturbed=undisturbed)
    assert undisturbed["report"]["traffic"]["admitted"] == count
