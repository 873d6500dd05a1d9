"""Every PromQL query of every dashboard, on a real Prometheus that has scraped what `fairclock up` publishes."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from billing.bookkeeping.price_books import BookPrices
from billing.prices.loading import parse_price_book
from exporters.prometheus import Format, exposition
from exporters.prometheus.snapshot import Snapshots
from fairclock.cli.configuration import Configuration
from fairclock.cli.pipeline.looked import Looked
from fairclock.cli.pipeline.metrics.position import Position
from fairclock.cli.pipeline.metrics.publisher import Publisher
from fairclock.cli.pipeline.metrics.sources import sources_of
from fairclock.demo.live.programs import free_port
from fairclock.store import LineBatch, open_store
from sla.slices import evaluate_slices, in_force
from tests.console.scene import MINE, _engine_line, gateway_line
from tests.dashboards.expanding import in_promql
from tests.dashboards.reading import FILES, queries, variables
from tests.dashboards.scene import a_shown_scene, gpu_event_lines

pytestmark = pytest.mark.integration

SCRAPE_SECONDS, PATIENCE_SECONDS = 1, 240
ENOUGH_STEPS = 2
"""A counter is first told as 0; what begins after the first telling rises at the third."""
LEDGER = Path(__file__).parents[1] / "ledger"
WINDOW_SECONDS, GRAIN_SECONDS = 600, 60
"""A range and an interval that hold everything that was scraped, however slow the machine is."""
CHOSEN = {"contract": ["acme-agreement"], "tenant": [MINE], "engine": [".*"], "host": [".*"]}
IN_ENGLISH = [path for path in FILES if path.parent.name == "en"]


class NotReadyError(Exception):
    """Prometheus still begins."""


def a_book(now):
    """The prices, in a zone where it is midday: what lies some hours back was charged this month, on the first of one too."""
    ahead = 12 - now.hour
    text = (LEDGER / "prices.yaml").read_text()
    assert "time_zone: Asia/Shanghai" in text
    return BookPrices(
        parse_price_book(text.replace("time_zone: Asia/Shanghai", f"time_zone: Etc/GMT{-ahead:+d}"))
    )


class Published:
    """What a store says to Prometheus, with more requests and events after each scrape."""

    def __init__(self, shown, book, folder):
        self.shown = shown
        self.scrapes = self.seen = self.steps = 0
        self.is_worked_out = self.is_told = False
        self.snapshots = Snapshots()
        settings = Configuration.model_validate(
            {
                "sla": {"contracts": ["contracts/acme.yaml"]},
                "metrics": {"stale_after": "1d"},
                "billing": {
                    "prices": "prices.yaml",
                    "gpu_time": {"engines": [{"engine": "engine-a", "machine": "NVIDIA H200", "gpus": "1"}]},
                },
            }
        )
        looked = Looked(contracts=lambda: shown.scene.contracts, prices=lambda: book.book)
        position = Position(folder / "position.json", begun=shown.scene.began)
        self.publisher = Publisher(
            store=lambda: shown.store,
            sources=sources_of(settings, looked, self.snapshots, position),
            snapshots=self.snapshots,
            every_seconds=SCRAPE_SECONDS,
            now=lambda: datetime.now(UTC),
        )

        for each in self.publisher.sources:
            each.every_seconds = 0.0  # money too, which otherwise is read once a minute

    def text(self):
        """Answer one scrape with what was worked out last.

        All is told once enough has happened; what machines cost is worked out aside, and comes late.
        """
        is_worked_out = self.is_worked_out
        body = exposition([], rendered=self.snapshots.text(Format.PLAIN).body)
        self.is_told = is_worked_out and b'book="cost"' in body
        self.scrapes += 1
        return body

    def go_on(self):
        """Let more happen once somebody was told of what there is, and work that out; return at once while nobody was."""
        if self.scrapes == self.seen:
            return
        self.seen = self.scrapes
        if self.steps < ENOUGH_STEPS:
            self.steps += 1
            self._happen()
        else:
            for each in self.publisher.sources:
                each.every_seconds = 0.0 if each.name == "money" else math.inf
        self.publisher.refresh()
        self.is_worked_out = self.steps == ENOUGH_STEPS

    def fares(self):
        """What has happened, for whoever waits in vain."""
        problems = {each.name: each.problem for each in self.publisher.sources if each.problem}
        return f"{self.steps} steps, {self.scrapes} scrapes ({self.seen} seen), all told: {self.is_told}, {problems}"

    def _happen(self):
        at = self.shown.scene.now - timedelta(minutes=20) + timedelta(seconds=self.steps)
        number = 500_000 + self.steps
        gateway = gateway_line(MINE, number, at, took=0.8, status="200")
        engine = _engine_line(MINE, number, at, took=0.8, queue=0.05)
        self.shown.store.ingest(LineBatch(kind="gateway", source="engine-a-gateway", lines=[gateway]))
        self.shown.store.ingest(LineBatch(kind="engine", source="engine-a-spans", lines=[engine]))
        lines = gpu_event_lines(self.shown.scene.began + timedelta(minutes=60), first=10 * self.steps)
        self.shown.store.ingest(LineBatch(kind="gpu_event", source="gpus", lines=list(lines)))


def still_running(shown):
    """Return the scene with requests of the last minute, counted."""
    now = datetime.now(UTC)
    lines = [
        gateway_line(MINE, 400_000 + number, now - timedelta(seconds=5 + number), took=0.5, status="200")
        for number in range(40)
    ]
    shown.store.ingest(LineBatch(kind="gateway", source="engine-a-gateway", lines=lines))
    known = shown.store.watermark()
    versions = [each for contract in shown.scene.contracts for each in in_force(shown.store, contract, known)]
    evaluate_slices(shown.store, versions, as_of=known)
    return shown


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dashboards")
    with open_store(f"chdb://{folder / 'store'}") as store:
        now = datetime.now(UTC)
        book = a_book(now)
        found = Published(still_running(a_shown_scene(store, now, tenants=[MINE], book=book)), book, folder)
        found.publisher.refresh()
        try:
            yield found
        finally:
            found.publisher.stop()


@pytest.fixture(scope="module")
def prometheus(published, tmp_path_factory):
    """A Prometheus that has scraped often enough, as a function that asks it."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            body = published.text()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    program = shutil.which("prometheus")
    assert program, "prometheus is missing: scripts/debian-packages test installs it"
    folder = tmp_path_factory.mktemp("prometheus")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = False  # closing it waits for the answer that is being given
    threading.Thread(target=server.serve_forever, daemon=True).start()
    target = {"targets": [f"127.0.0.1:{server.server_address[1]}"]}
    jobs = [{"job_name": "fairclock", "scrape_interval": f"{SCRAPE_SECONDS}s", "static_configs": [target]}]
    (folder / "prometheus.yml").write_text(json.dumps({"scrape_configs": jobs}))
    port = free_port()
    words = [program, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    words += [f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)

    def ask(path, **parameters):
        address = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.SERVICE_UNAVAILABLE:
                raise NotReadyError from error
            raise AssertionError(f"{parameters}: {error.read().decode()[:500]}") from error

    def scraped():
        """Return how many scrapes are stored."""
        try:
            found = ask("query", query="count_over_time(fairclock_contract_info[10m])")["result"]
        except (OSError, NotReadyError):
            return 0
        return max((int(each["value"][1]) for each in found), default=0)

    def wait_until(condition):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"{published.fares()}\n{(folder / 'log').read_text()[-2000:]}"
            assert process.poll() is None, (folder / "log").read_text()[-2000:]
            time.sleep(0.1)

    def goes_on():
        published.go_on()
        return published.is_told

    try:
        wait_until(goes_on)
        stored = scraped()
        wait_until(lambda: scraped() > stored)
        # what is asked from now on is asked of one instant
        server.shutdown()
        yield ask
    finally:
        process.terminate()
        process.wait(20)
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def asked_at(prometheus):
    # a value by itself is stale, and none, as soon as a scrape found nobody; what lies in a range stays
    found = prometheus("query", query="fairclock_contract_info[10m]")["result"]
    return max(float(at) for each in found for at, _ in each["values"])


def values(prometheus, target, at):
    query = in_promql(
        target["expr"], CHOSEN, seconds=WINDOW_SECONDS, interval=GRAIN_SECONDS, scrape=GRAIN_SECONDS
    )
    if target["instant"]:
        return [float(each["value"][1]) for each in prometheus("query", query=query, time=at)["result"]]
    found = prometheus("query_range", query=query, start=at - WINDOW_SECONDS, end=at, step=GRAIN_SECONDS)
    return [float(value) for each in found["result"] for _, value in each["values"]]


@pytest.mark.parametrize("asked", list(queries("expr", IN_ENGLISH)), ids=lambda each: each.where)
def test_every_query_of_a_panel_has_an_answer(prometheus, asked_at, asked):
    found = values(prometheus, asked.target, asked_at)
    assert found
    assert any(math.isfinite(each) for each in found)


def test_a_mig_instance_is_told_apart_from_its_gpu(prometheus, asked_at):
    query = "count by (exported_instance) (fairclock_gpu_memory_used_bytes)"
    found = prometheus("query", query=query, time=asked_at)["result"]
    assert {each["metric"].get("exported_instance", "") for each in found} == {"", "3"}


@pytest.mark.parametrize(
    "variable", [pytest.param(each, id=where) for where, each in variables("prometheus", IN_ENGLISH)]
)
def test_every_variable_has_choices(prometheus, asked_at, variable):
    arguments = variable["query"].removeprefix("label_values(").removesuffix(")")
    series, _, label = arguments.rpartition(", ")
    series = series.replace("$contract", CHOSEN["contract"][0])
    assert prometheus(
        f"label/{label}/values", **{"match[]": series, "start": asked_at - WINDOW_SECONDS, "end": asked_at}
    )
