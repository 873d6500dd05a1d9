"""Own this program's own telemetry: what it does as spans, its figures as metrics, by the OpenTelemetry SDK."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from exporters.otlp.encoding import metrics_request, trace_request
from exporters.otlp.sending import Fate
from fairclock import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from opentelemetry.metrics import CallbackOptions, Meter
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer

    from exporters.otlp.sending import Answer
    from exporters.prometheus.figures import Figure

_LOG = logging.getLogger(__name__)
_MOST_SPANS = 2048
_SPANS_A_BATCH = 256


class _Spans(SpanExporter):
    def __init__(self, post: Callable[[bytes], Answer]) -> None:
        self._post = post

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        answer = self._post(trace_request(spans))
        if answer.fate is Fate.TAKEN:
            return SpanExportResult.SUCCESS
        # of its own doings nothing is kept: the figures tell, and the log does
        _LOG.debug("own spans were not taken: %s", answer.problem)
        return SpanExportResult.FAILURE


class _Metrics(MetricExporter):
    def __init__(self, post: Callable[[bytes], Answer]) -> None:
        super().__init__()
        self._post = post
        self.collected: Callable[[], None] = lambda: None

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **_: object
    ) -> MetricExportResult:
        del timeout_millis
        self.collected()
        answer = self._post(metrics_request(metrics_data))
        if answer.fate is Fate.TAKEN:
            return MetricExportResult.SUCCESS
        _LOG.debug("own metrics were not taken: %s", answer.problem)
        return MetricExportResult.FAILURE

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        del timeout_millis
        return True

    def shutdown(self, timeout_millis: float = 30_000, **_: object) -> None:
        del timeout_millis


class FigureInstruments:
    """Observes figures through instruments of the SDK; one that is there for the first time gets its own a reading later."""

    def __init__(self, meter: Meter, figures: Callable[[], Iterable[Figure]]) -> None:
        self._meter = meter
        self._read = figures
        self._now: dict[str, list[Figure]] = {}
        self._known: set[str] = set()
        self._refresh()
        # the SDK asks instruments in the order of their making: this one reads, the others tell what was read
        meter.create_observable_gauge("fairclock_up", callbacks=[self._up], description="1 while it runs.")
        self.make()

    def make(self) -> None:
        """Make an instrument of each name that has none; while the SDK collects it holds a lock, and this would wait for good."""
        for name, found in self._now.items():
            if name in self._known:
                continue
            self._known.add(name)
            make = (
                self._meter.create_observable_counter
                if found[0].kind == "counter"
                else self._meter.create_observable_gauge
            )
            make(name, callbacks=[partial(self._told, name)], description=found[0].about)

    def _up(self, _: CallbackOptions) -> list[Observation]:
        try:
            self._refresh()
        # whatever it is, the next time may be better
        except Exception:  # noqa: BLE001 - nobody else would see it
            _LOG.exception("own figures could not be read")
        return [Observation(1)]

    def _refresh(self) -> None:
        """Read the figures; what cannot be read is not told."""
        self._now = {}
        now: dict[str, list[Figure]] = {}
        for each in self._read():
            now.setdefault(each.name, []).append(each)
        self._now = now

    def _told(self, name: str, _: CallbackOptions) -> list[Observation]:
        return [Observation(float(each.value), dict(each.labels)) for each in self._now.get(name, ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """What sends this program's own telemetry."""

    tracer: Tracer
    _traces: TracerProvider
    _metrics: MeterProvider

    def close(self) -> None:
        """Send what there is, and end."""
        self._traces.shutdown()
        self._metrics.shutdown()


def start_telemetry(
    post: Callable[[str, bytes], Answer],
    figures: Callable[[], Iterable[Figure]],
    *,
    instance: str,
    every_seconds: float = 60.0,
) -> Telemetry:
    """Begin to send; `post` is given the signal and the request, `instance` tells this process from others."""
    resource = Resource(
        {"service.name": "fairclock", "service.version": __version__, "service.instance.id": instance}
    )
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(
        BatchSpanProcessor(
            _Spans(lambda content: post("traces", content)),
            max_queue_size=_MOST_SPANS,
            max_export_batch_size=_SPANS_A_BATCH,
        )
    )
    exporter = _Metrics(lambda content: post("metrics", content))
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=every_seconds * 1000)
    metrics = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    exporter.collected = FigureInstruments(metrics.get_meter("fairclock", __version__), figures).make
    return Telemetry(tracer=provider.get_tracer("fairclock", __version__), _traces=provider, _metrics=metrics)
