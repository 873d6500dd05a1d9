"""One real store for a module, and the counters over it as `up` has them."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from exporters.otlp.configuration import OtlpExportSection
from exporters.otlp.requests import RequestSender
from exporters.otlp.sending import Backend
from exporters.prometheus import Figure, HistogramFigure
from exporters.prometheus.bounds import Admitted, AdmittedPairs
from exporters.prometheus.configuration import MetricsSection
from fairclock.cli.pipeline.metrics.layout import layout_of
from fairclock.cli.pipeline.metrics.requests import RequestCounters
from fairclock.cli.pipeline.spans import Arrivals
from fairclock.store import LineBatch, Query, open_store

if TYPE_CHECKING:
    from datetime import datetime

TABLES = (
    "gateway_requests", "engine_requests", "engine_states", "engine_samples", "gpu_samples", "gpu_events", "covered",
    "requests", "seals", "seal_confirmations", "sli_slices", "slice_progress", "ledger_entries",
)  # fmt: skip


@pytest.fixture(scope="module")
def one_store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('exposition') / 'store'}") as opened:
        yield opened


@pytest.fixture
def store(one_store):
    for table in TABLES:
        one_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return one_store


def feed(store, *, gateway=(), engine=()):
    """Store lines of both sides."""
    for kind, lines in (("gateway", gateway), ("engine", engine)):
        if lines:
            store.ingest(LineBatch(kind=kind, source="test", lines=list(lines)))


@dataclass
class Heard:
    """What a Prometheus makes of the counters: a fall is a restart, and what follows the first value is an increase."""

    last: dict[tuple, float] = field(default_factory=dict)
    increase: dict[tuple, float] = field(default_factory=dict)

    def hear(self, figures):
        for key, value in flat(figures).items():
            before = self.last.get(key)
            if before is not None:
                self.increase[key] = self.increase.get(key, 0) + (value if value < before else value - before)
            self.last[key] = value

    def total(self, name, **labels):
        wanted = set(labels.items())
        return sum(
            value for (found, said), value in self.increase.items() if found == name and wanted <= set(said)
        )


def flat(figures):
    """Every line of the text: its name and labels, and its value."""
    found = {}
    for each in figures:
        labels = tuple(each.labels.items())
        if isinstance(each, Figure):
            found[each.name, labels] = each.value
        elif isinstance(each, HistogramFigure):
            for edge, count in zip((*each.edges, "+Inf"), each.counts, strict=True):
                found[each.name, (*labels, ("le", edge))] = count
            found[each.name + "_sum", labels] = each.total
    return found


class Process:
    """One life of `up`: its counters, from an instant on; `scrape` reads the store and is heard."""

    def __init__(self, store, since: datetime, *, contracts=(), section=None, most=100, clocks=None):
        self.store = store
        section = section or MetricsSection()
        self.counters = RequestCounters(
            clocks=tuple(
                each for each in layout_of(section, contracts) if clocks is None or each.clock in clocks
            ),
            pairs=AdmittedPairs(
                tenants=Admitted(section.max_tenants), models=Admitted(section.max_models), most=most
            ),
            since=since,
        )
        self.told = None

    def figures(self):
        as_of = self.store.watermark()
        self.counters.read(self.store, as_of)
        return as_of, self.counters.figures(told=self.told)

    def scrape(self, *heard):
        self.told, figures = self.figures()
        for each in heard:
            each.hear(figures)
        return flat(figures)


SECTION = OtlpExportSection(to="http://backend:4318")


class Recorder:
    """A backend that answers as it is told, and keeps what it took."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        return self.answers.pop(0) if self.answers else httpx.Response(200)

    def spans(self):
        return [
            span
            for request in self.requests
            for each in ExportTraceServiceRequest.FromString(gzip.decompress(request.content)).resource_spans
            for scope in each.scope_spans
            for span in scope.spans
        ]


class Sending:
    """The sender over a store, whose clock is moved: what was stored is settled after `settle`."""

    def __init__(self, store, folder, recorder, **changes):
        section = SECTION.model_copy(update={"settle": 0.0, "reach": 10**9, **changes})
        self.begun = store.watermark()
        arrivals = Arrivals(section=section, begun=self.begun)
        backend = Backend(section, transport=httpx.MockTransport(recorder))
        self.sender = RequestSender(
            section=section, post=lambda content: backend.post("traces", content),
            read=lambda place: arrivals.read(store, place), path=folder / "place.json", random=lambda: 0.0,
        )  # fmt: skip

    def drain(self):
        while self.sender.step():
            pass
        return self.sender.statistics
