"""Own the parts of a running command, and what can be said about them."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fairclock.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from threading import Event

    from opentelemetry.trace import Tracer

    from collectors.gateway.syslog import SyslogReceiver
    from collectors.gpu.collector import GpuCollector
    from collectors.otlp.receiver import OtlpReceiver
    from collectors.vllm_metrics.scraping.scraper import Scraper
    from exporters.clickhouse import Writer
    from exporters.forwarding.forwarder import Forwarder
    from exporters.otlp.requests import RequestSender
    from exporters.prometheus import Figure, Format
    from exporters.prometheus.snapshot import Snapshots
    from exporters.spool import Spool
    from exporters.webhooks.courier import Courier
    from fairclock.cli.pipeline.collecting import FollowedFiles
    from fairclock.cli.pipeline.intake import Intake
    from fairclock.cli.pipeline.metrics.publisher import Publisher
    from fairclock.cli.pipeline.store_link import StoreLink

_LOG = logging.getLogger(__name__)
_NS_PER_US = 1_000
_LOOK_SECONDS = 2.0
_LEAST_ROOM_BYTES = 1 << 20
_STORE_FIGURES_SECONDS = 30.0


@dataclass(slots=True, kw_only=True)
class Pipeline:
    """The parts of a running command; those that it does not have are None."""

    spool: Spool
    intake: Intake
    link: StoreLink | None = None
    writer: Writer | None = None
    forwarder: Forwarder | None = None
    receiver: OtlpReceiver | None = None
    tail: FollowedFiles | None = None
    syslog: SyslogReceiver | None = None
    scraper: Scraper | None = None
    gpus: GpuCollector | None = None
    courier: Courier | None = None
    url: str | None = None
    console_url: str | None = None
    received_frames: int = 0
    announcements: list[str] = field(default_factory=list)
    evaluator_figures: Callable[[], Iterable[Figure]] | None = None
    snapshots: Snapshots | None = None
    publisher: Publisher | None = None
    spans: RequestSender | None = None
    tracer: Tracer | None = None
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))
    _newest: dict[tuple[str, str], datetime] | None = None
    _dead_letters: list[Figure] = field(default_factory=list)
    _store_read_at: float | None = None

    def wait(self, stop: Event, seconds: float) -> bool:
        """Return whether `stop` was set within `seconds`; raises what ended a part that should have gone on."""
        until = time.monotonic() + seconds
        while not stop.wait(max(min(_LOOK_SECONDS, until - time.monotonic()), 0.0)):
            for part in (self.tail, self.syslog, self.scraper, self.gpus):
                if part is not None and part.failure is not None:
                    raise part.failure
            if time.monotonic() >= until:
                return False
        return True

    def ended(self) -> list[str]:
        """Return the parts that have ended and should not have."""
        parts = {
            "writer": self.writer,
            "forwarder": self.forwarder,
            "tail": self.tail,
            "syslog": self.syslog,
            "scraper": self.scraper,
            "gpus": self.gpus,
            "webhooks": self.courier,
            "metrics": self.publisher,
            "spans": self.spans,
        }
        return [name for name, part in parts.items() if part is not None and not part.is_alive]

    def ready(self) -> Mapping[str, str]:
        """Return what keeps new data from being taken, by part."""
        statistics = self.spool.statistics(_now_us())
        problem = self.intake.problem
        if not problem and statistics.limit_bytes - statistics.bytes < _LEAST_ROOM_BYTES:
            problem = "the spool is full"
        checks = {"spool": problem, "parts": ", ".join(f"{name} has ended" for name in self.ended())}
        if self.gpus is not None:
            checks["gpus"] = self.gpus.problem()
        return checks

    def figures(self) -> Iterator[Figure]:
        """Yield every figure that there is right now."""
        from fairclock.cli.pipeline import figures  # noqa: PLC0415 - only where they are asked for
        from fairclock.cli.pipeline.gpus import gpu_figures  # noqa: PLC0415

        yield from figures.spool_figures(self.spool.statistics(_now_us()))
        yield from figures.intake_figures(
            frames=self.intake.frames, problem=self.intake.problem, received=self.received_frames
        )
        if self.receiver is not None:
            yield from figures.receiver_figures(ignored=self.receiver.ignored)
        if self.tail is not None:
            yield from figures.tail_figures(self.tail.statistics())
        if self.syslog is not None:
            yield from figures.syslog_figures(self.syslog.statistics())
        if self.scraper is not None:
            yield from figures.scraper_figures(self.scraper.statistics(), now_us=_now_us())
        if self.gpus is not None:
            yield from gpu_figures(self.gpus.statistics())
        if self.forwarder is not None:
            yield from figures.forwarder_figures(self.forwarder.statistics)
        yield from self._of_the_store()
        if self.evaluator_figures is not None:
            yield from self.evaluator_figures()
        if self.publisher is not None:
            yield from self.publisher.figures()
        if self.spans is not None:
            from fairclock.cli.pipeline.spans import span_figures  # noqa: PLC0415

            yield from span_figures(self.spans.statistics)

    def _of_the_store(self) -> Iterator[Figure]:
        from fairclock.cli.pipeline import figures  # noqa: PLC0415

        if self.writer is None:
            return
        statistics = self.writer.statistics()
        # where there is a publisher it reads the store, so that no scrape waits for it
        if self.publisher is None and not statistics.failures_in_a_row:
            self.read_store()
        yield from figures.writer_figures(statistics, newest=self._newest or {}, now=datetime.now(UTC))
        yield from self._dead_letters

    def scrape(self, format_: Format, *, compressed: bool) -> bytes:
        """Return every figure as text: what was worked out last of the store, and what the parts say right now."""
        from exporters.prometheus import exposition  # noqa: PLC0415 - only where they are asked for
        from exporters.prometheus.compression import deflated, gzip_of  # noqa: PLC0415

        snapshot = None if self.snapshots is None else self.snapshots.text(format_, compressed=compressed)
        rest = exposition(self.figures(), format_=format_)
        if compressed:
            begun = None if snapshot is None else snapshot.compressed
            return gzip_of(deflated(b"") if begun is None else begun, rest)
        return rest if snapshot is None else snapshot.body + rest

    def read_store(self) -> None:
        """Read again what only the store knows, now and then."""
        from fairclock.cli.pipeline import figures  # noqa: PLC0415

        store = self.link.current if self.link is not None else None
        now = time.monotonic()
        is_due = self._store_read_at is None or now - self._store_read_at >= _STORE_FIGURES_SECONDS
        if store is None or not is_due:
            return
        self._store_read_at = now
        try:
            if self._newest is None:
                self._newest = figures.newest_rows(store, now=datetime.now(UTC))
            self._dead_letters = [*figures.dead_letter_figures(store), *figures.disk_figures(store)]
        except StoreError as error:
            _LOG.warning("figures are as they were last read: %s", error)


def _now_us() -> int:
    return time.time_ns() // _NS_PER_US
