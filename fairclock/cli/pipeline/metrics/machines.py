"""Own what is published of engines and GPUs: the newest that they said, while it is no older than it may be."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from collectors.gpu.changes import THROTTLES
from exporters.prometheus import Figure
from exporters.prometheus.bounds import label_text
from fairclock.model import Interval
from fairclock.store.newest_readings import (
    engine_readings,
    engine_states,
    gpu_event_counts,
    gpu_readings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from exporters.prometheus import Published
    from fairclock.store import Store
    from fairclock.store.newest_readings import EngineState, GpuEventCount, GpuReading

KV_CACHE = "fairclock_kv_cache_utilization_ratio"
ENGINE_REQUESTS = "fairclock_engine_requests"
PREEMPTIONS = "fairclock_engine_preemptions"
THROTTLED = "fairclock_gpu_throttled"
GPU_EVENTS = "fairclock_gpu_events"
GPU_GAUGES = {
    "fairclock_gpu_utilization_ratio": ("utilization_ratio", 1.0, "How much of the time a GPU was busy."),
    "fairclock_gpu_memory_used_bytes": ("memory_used_bytes", 1.0, "Memory of a GPU that is used."),
    "fairclock_gpu_memory_bytes": ("memory_bytes", 1.0, "Memory that a GPU has."),
    "fairclock_gpu_power_watts": ("power_milliwatts", 0.001, "Power that a GPU draws."),
    "fairclock_gpu_temperature_celsius": ("temperature_celsius", 1.0, "Temperature of a GPU."),
}
"""Of each gauge, what it is of a reading, by what that is multiplied, and what it is about."""
ABOUT = {
    KV_CACHE: "How much of an engine's KV cache is in use.",
    ENGINE_REQUESTS: "Requests that run in an engine, or wait in it.",
    PREEMPTIONS: "Preemptions that an engine counted since it started.",
    THROTTLED: "1 while a GPU's clocks are held down for a reason, else 0.",
    GPU_EVENTS: "Events of GPUs that were stored since this program began to count: XID, ECC, throttling, loss.",
    **{name: about for name, (_, _, about) in GPU_GAUGES.items()},
}
_STATES = {"vllm:num_requests_running": "running", "vllm:num_requests_waiting": "waiting"}
_EVENT_REACH = timedelta(days=35)
_EventKey = tuple[tuple[str, str], ...]


def engine_figures(store: Store, as_of: datetime, *, stale_after: timedelta) -> Iterator[Published]:
    """Yield what engines say of themselves: as they are scraped, and of models that no scraped engine has as their plugin tells.

    The two know an engine by different names, so that of one model both would count an engine twice.
    """
    window = Interval(start=as_of - stale_after, end=as_of)
    readings = engine_readings(store, window, as_of)
    scraped = {each.model for each in readings}
    for state in engine_states(store, window, as_of):
        if state.model not in scraped and (state.model or not scraped):
            yield from _of_state(state)
    for each in readings:
        engine = f"{each.target}/{each.engine}" if each.engine else each.target
        labels = {"engine": label_text(engine), "model": label_text(each.model)}
        if each.name in _STATES:
            yield _gauge(ENGINE_REQUESTS, each.value, {**labels, "state": _STATES[each.name]})
        elif each.name == "vllm:num_preemptions":
            yield Figure(
                name=PREEMPTIONS, about=ABOUT[PREEMPTIONS], value=each.value, labels=labels, kind="counter"
            )
        else:
            yield _gauge(KV_CACHE, each.value, labels)


def gpu_gauges(store: Store, as_of: datetime, *, stale_after: timedelta) -> Iterator[Published]:
    """Yield what was measured of each GPU and MIG instance; what was not is absent."""
    for each in gpu_readings(store, Interval(start=as_of - stale_after, end=as_of), as_of):
        labels = _gpu_labels(each)
        for name, (attribute, factor, _) in GPU_GAUGES.items():
            value = getattr(each, attribute)
            if value is not None:
                yield _gauge(name, value * factor, labels)
        if each.throttle_reasons is not None:
            for bit, reason in THROTTLES.items():
                yield _gauge(THROTTLED, bool(each.throttle_reasons & bit), {**labels, "reason": reason})


class GpuEvents:
    """The counters of GPU events that were stored since `since`.

    As of requests, a series is first told as 0, until somebody has heard that: of one that begins above 0 Prometheus sees no
    increase, and a GPU's first XID would be none.
    """

    def __init__(self, since: datetime) -> None:
        self._as_of = since
        self._counts: dict[_EventKey, int] = {}
        self._begun: dict[_EventKey, datetime] = {}

    def read(self, store: Store, as_of: datetime) -> None:
        """Count what was stored up to `as_of`."""
        if as_of <= self._as_of:
            return
        reach = Interval(start=as_of - _EVENT_REACH, end=as_of)
        for each in gpu_event_counts(store, self._as_of, as_of, reach=reach):
            key = tuple({**_gpu_labels(each), "kind": each.kind}.items())
            self._counts[key] = self._counts.get(key, 0) + each.events
        self._as_of = as_of

    def figures(self, *, told: datetime | None) -> Iterator[Published]:
        """Yield every counter; `told` is as of when the newest figures are that somebody heard."""
        for key, count in self._counts.items():
            begun = self._begun.setdefault(key, self._as_of)
            is_heard = told is not None and told >= begun
            yield Figure(
                name=GPU_EVENTS, about=ABOUT[GPU_EVENTS], value=count if is_heard else 0,
                labels=dict(key), kind="counter",
            )  # fmt: skip


def _of_state(state: EngineState) -> Iterator[Published]:
    engine = state.instance if state.rank is None else f"{state.instance}/{state.rank}"
    labels = {"engine": label_text(engine), "model": label_text(state.model)}
    for name, value in (("running", state.running), ("waiting", state.waiting)):
        if value is not None:
            yield _gauge(ENGINE_REQUESTS, value, {**labels, "state": name})
    if state.kv_cache_usage_ratio is not None:
        yield _gauge(KV_CACHE, state.kv_cache_usage_ratio, labels)


def _gauge(name: str, value: float, labels: dict[str, str]) -> Figure:
    return Figure(name=name, about=ABOUT[name], value=value, labels=labels)


def _gpu_labels(found: GpuReading | GpuEventCount) -> dict[str, str]:
    """Return the labels of a device; those of a MIG instance name its device, too."""
    numbers = [found.gpu_instance, found.compute_instance]
    instance = "/".join(str(each) for each in numbers if each is not None)
    if found.parent and not instance:
        instance = found.gpu
    return {
        "host": label_text(found.host),
        "gpu": label_text(found.parent or found.gpu),
        "instance": label_text(instance),
    }
