"""Own the collectors of a long-running command: started from the settings, watched, stopped."""

from __future__ import annotations

import logging
import time
from threading import Event, Thread
from typing import TYPE_CHECKING, Self

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from collectors.gateway.configuration import GatewaySection
    from collectors.gateway.syslog import SyslogReceiver
    from collectors.gateway.tailing import Tailer, TailStatistics
    from collectors.otlp.configuration import OtlpSection
    from collectors.otlp.receiver import OtlpReceiver
    from collectors.vllm_metrics.configuration import VllmSection
    from collectors.vllm_metrics.scraping.scraper import Scraper
    from fairclock.cli.pipeline.intake import Intake

_LOG = logging.getLogger(__name__)
_OFF = "off"
_NS_PER_US = 1_000


def make_receiver(section: OtlpSection, intake: Intake, *, directory: Path) -> OtlpReceiver:
    """Take the addresses; raises `UsageError` where one is not free."""
    from collectors.otlp.receiver import OtlpReceiver  # noqa: PLC0415 - gRPC takes a while to load

    grpc, http = (None if address == _OFF else address for address in (section.grpc, section.http))
    return OtlpReceiver(intake, grpc, http, source=section.source, note=directory / "otlp-coverage")


def make_syslog_receiver(section: GatewaySection, intake: Intake) -> SyslogReceiver:
    """Take the addresses; raises `UsageError` where one is not free."""
    from collectors.gateway.syslog import SyslogReceiver  # noqa: PLC0415 - only where it is wanted

    udp, tcp = (None if address == _OFF else address for address in (section.syslog.udp, section.syslog.tcp))
    return SyslogReceiver(intake, source=section.source, udp=udp, tcp=tcp, log_format=section.full_format)


def make_scraper(section: VllmSection, intake: Intake) -> Scraper:
    """Check what is configured; raises `ConfigurationError`."""
    from collectors.vllm_metrics.scraping.finding import TargetFinder  # noqa: PLC0415 - httpx takes a while to load
    from collectors.vllm_metrics.scraping.scraper import Scraper  # noqa: PLC0415

    return Scraper(TargetFinder(section), intake, source=section.source)


class FollowedFiles:
    """Follow the gateway's log files in a thread, from ``with`` to its end.

    What ends the thread before that is kept in `failure`.
    """

    def __init__(self, section: GatewaySection, intake: Intake, *, directory: Path) -> None:
        from collectors.gateway.tailing import Tailer  # noqa: PLC0415 - only where logs are followed

        self._tailer: Tailer = Tailer(
            [str(path) for path in section.files],
            source=section.source,
            checkpoint_directory=directory / "tails",
            deliver=intake,
            log_format=section.full_format,
        )
        self._stop = Event()
        self.failure: Exception | None = None
        self._thread = Thread(target=self._run, name="tail", daemon=True)

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and write the checkpoint."""
        self._stop.set()
        self._thread.join()
        self._tailer.close()

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def statistics(self) -> TailStatistics:
        """Return what the tail says about itself."""
        return self._tailer.statistics()

    def _run(self) -> None:
        try:
            self._tailer.run(self._stop, now_us=lambda: time.time_ns() // _NS_PER_US)
        except Exception as error:  # noqa: BLE001 - raised again where the command waits
            self.failure = error


def receives_syslog(section: GatewaySection) -> bool:
    """Return whether the gateway's lines are to be received over the network."""
    return not section.syslog.udp == section.syslog.tcp == _OFF


def scrapes(section: VllmSection) -> bool:
    """Return whether there is anything that may name an engine."""
    return bool(section.targets or section.files or section.dns)


def require_engines(section: VllmSection) -> None:
    """Refuse to scrape nothing."""
    if not scrapes(section):
        raise UsageError(
            "collect vllm",
            "no engine is named",
            remedy="name one with --engine URL, or under vllm in fairclock.yaml",
        )


def require_logs(section: GatewaySection) -> None:
    """Refuse to follow nothing."""
    if not section.files and not receives_syslog(section):
        raise UsageError(
            "collect gateway",
            "no log is named",
            remedy="name one with --file PATH or --syslog-udp HOST:PORT, or under gateway in fairclock.yaml",
        )
