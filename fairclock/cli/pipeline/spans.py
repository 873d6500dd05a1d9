"""Own what a long-running command sends to an operator's backend: read from its store, begun and ended with it."""

from __future__ import annotations

import os
import random
import socket
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from exporters.otlp.decomposition import FinishedRequest
from exporters.otlp.requests import Batch, RequestSender
from exporters.otlp.sending import Backend
from exporters.prometheus.figures import Figure
from fairclock.model import to_us
from fairclock.store.request_spans import Place, arrived, passed_over

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from exporters.otlp.configuration import OtlpExportSection
    from exporters.otlp.requests import RequestStatistics
    from fairclock.cli.pipeline.parts import Pipeline
    from fairclock.store import Store

PLACE_FILE = "otlp-export-position.json"
MOST = 500


@dataclass(slots=True, kw_only=True)
class Arrivals:
    """Requests as they came into the store since `begun`, or since an earlier process stopped."""

    section: OtlpExportSection
    begun: datetime

    def read(self, store: Store, place: list[int] | None) -> Batch:
        """Return the requests after `place` whose engine's side had time to come."""
        as_of = store.watermark()
        until = as_of - timedelta(seconds=self.section.settle)
        since = as_of - timedelta(seconds=self.section.reach)
        after = Place(min(to_us(self.begun), to_us(as_of))) if place is None else Place(*place)
        if to_us(until) <= after.stored_us:
            return Batch((), 0, list(after), is_all=True)
        found = arrived(store, after, until=until, since=since, as_of=as_of, most=MOST)
        skipped = passed_over(store, after, until=until, since=since) if found.is_all else 0
        requests = [_request(each) for each in found.requests]
        return Batch(requests, skipped, list(found.last), found.is_all)


@contextmanager
def sending(section: OtlpExportSection, pipeline: Pipeline, *, directory: Path) -> Iterator[None]:
    """Send until the end of ``with`` what the settings say; raises `ConfigurationError`."""
    with ExitStack() as stack:
        backend = Backend(section)
        stack.callback(backend.close)
        link = pipeline.link
        if section.requests and link is not None:
            arrivals = Arrivals(section=section, begun=pipeline.begun)
            sender = RequestSender(
                section=section,
                post=lambda content: backend.post("traces", content),
                read=lambda place: arrivals.read(link.open(), place),
                path=directory / PLACE_FILE,
                random=random.random,
            )
            sender.start()
            stack.callback(sender.stop)
            pipeline.spans = sender
        if section.telemetry:
            from exporters.otlp.telemetry import start_telemetry  # noqa: PLC0415 - only where it is wanted

            telemetry = start_telemetry(
                backend.post, pipeline.figures, instance=f"{socket.gethostname()}:{os.getpid()}"
            )
            stack.callback(telemetry.close)
            pipeline.tracer = telemetry.tracer
        pipeline.announcements.append(f"sending spans to {section.to}")
        yield


def span_figures(sent: RequestStatistics) -> Iterator[Figure]:
    """Yield what became of requests that were to be sent as spans."""
    for fate, value in (
        ("sent", sent.sent),
        ("unsampled", sent.unsampled),
        ("too_old", sent.passed_over),
        ("refused", sent.refused),
    ):
        yield Figure(
            name="fairclock_span_requests", about="Requests that were to be sent as spans, by what became of them.",
            value=value, labels={"fate": fate}, kind="counter",
        )  # fmt: skip
    for name, about, value in (
        (
            "span_failures",
            "Tries to send spans that came to nothing, and were or will be repeated.",
            sent.failures,
        ),
        ("span_rejected", "Spans that a receiver took a batch without.", sent.rejected_spans),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value, kind="counter")
    yield Figure(
        name="fairclock_span_sending",
        about="1 while spans are taken, 0 while they are not.",
        value=not sent.problem,
    )


def _request(row: dict[str, object]) -> FinishedRequest:
    stream = row["stream"]
    return FinishedRequest(
        **{**row, "stream": None if stream is None else bool(stream), "simulated": bool(row["simulated"])}  # type: ignore[arg-type]
    )
