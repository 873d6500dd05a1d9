"""Own the service's own metrics, beside vLLM's in the same answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from inference_probe.service.stages import Progress
    from inference_probe.service.timings import Timings

_WARM_UP = {
    "requests": ("warm_up_requests", "Requests of the warm-up, which vLLM's own counters hold too."),
    "first_request_seconds": (
        "first_request_seconds",
        "How long the very first request of this process took.",
    ),
    "warm_request_seconds": (
        "warm_request_seconds",
        "How long the same request took at the end of the warm-up.",
    ),
}


class ServiceCollector(Collector):
    """Say how the start went and what is kept."""

    def __init__(self, progress: Progress, timings: Timings) -> None:
        self._progress = progress
        self._timings = timings

    def collect(self) -> Iterator[Metric]:
        """Return the present values; what is not known yet has none."""
        yield GaugeMetricFamily(
            "fairclock_probe_service_ready",
            "1 after the warm-up, until the service is told to end.",
            value=float(self._progress.is_ready),
        )
        stages = GaugeMetricFamily(
            "fairclock_probe_service_cold_start_seconds",
            "What each stage of the start took; total: from the process's start to its readiness.",
            labels=["stage"],
        )
        for stage, seconds in self._progress.seconds.items():
            stages.add_metric([stage], seconds)
        yield stages
        for key, (name, text) in _WARM_UP.items():
            if key in self._progress.warm_up:
                value = float(self._progress.warm_up[key])
                yield GaugeMetricFamily(f"fairclock_probe_service_{name}", text, value=value)
        yield GaugeMetricFamily(
            "fairclock_probe_service_timings_kept",
            "Requests whose timings can be asked for.",
            value=float(len(self._timings)),
        )
        yield CounterMetricFamily(
            "fairclock_probe_service_timings_forgotten",
            "Timings that gave way to later ones.",
            value=float(self._timings.forgotten),
        )
