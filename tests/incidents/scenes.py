"""Traffic as gateways and engines would have told of it: written at seconds after START, all of a scene in a few batches."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval
from fairclock.store import LineBatch

if TYPE_CHECKING:
    from fairclock.store import Store

START = datetime(2026, 10, 7, 1, tzinfo=UTC)
ENGINE = "10.0.0.1:8000"
HOUR = 3600


def at(seconds: float) -> datetime:
    """Return an instant so many seconds after START."""
    return START + timedelta(seconds=seconds)


def us(seconds: float) -> int:
    """Return the same in microseconds since 1970."""
    return round(START.timestamp() * 1_000_000) + round(seconds * 1_000_000)


class Scene:
    """Everything that was seen, kept until `play` writes it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lines: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._numbers = 0

    def request(
        self,
        seconds: float,
        *,
        took: float = 0.5,
        queue: float | None = 0.01,
        prefill: float | None = None,
        decode: float | None = None,
        status: int = 200,
        tenant: str = "acme",
        prompt: int = 100,
        tokens: int = 11,
        body: int | None = None,
        instance: str = "engine-1",
        **more: str,
    ) -> None:
        """One request; an engine's row of it unless `queue` is None; what is not said otherwise is decode."""
        self._numbers += 1
        number = self._numbers
        self._lines["gateway"].append(
            {
                "time": f"{(us(seconds) + round(took * 1_000_000)) / 1_000_000:.3f}",
                "request_id": f"{number:032x}",
                "traceparent": f"00-{number:032x}-{number:016x}-01",
                "tenant": tenant,
                "method": "POST",
                "uri": "/v1/chat/completions",
                "status": str(status),
                "request_time": f"{took:.3f}",
                "request_completion": "OK",
                "request_length": str(body if body is not None else 1000 + number),
                "upstream_addr": ENGINE,
                "upstream_status": str(status),
                "prompt_tokens": str(prompt),
                **more,
            }
        )
        if queue is None:
            return
        inside = took - 0.01
        first = prefill if prefill is not None else 0.02
        rest = decode if decode is not None else max(inside - queue - first - 0.005, 0.001)
        start_ns = us(seconds + 0.004) * 1000
        self._lines["engine"].append(
            {
                "trace_id": f"{number:032x}",
                "span_id": f"{number:016x}",
                "start_ns": str(start_ns),
                "end_ns": str(start_ns + round(inside * 1e9)),
                "instance": instance,
                "request_id": f"cmpl-{number:032x}-0",
                "e2e": f"{inside:.6f}",
                "queue": f"{queue:.6f}",
                "prefill": f"{first:.6f}",
                "decode": f"{rest:.6f}",
                "inference": f"{first + rest:.6f}",
                "ttft": f"{queue + first:.6f}",
                "prompt_tokens": prompt,
                "completion_tokens": tokens,
            }
        )

    def steady(self, start: float, end: float, *, every: float = 10.0, **request: Any) -> None:
        """Requests of one kind at even distances."""
        seconds = start
        while seconds < end:
            self.request(seconds, **request)
            seconds += every

    def sample(
        self, seconds: float, name: str, value: float, *, kind: str = "gauge", target: str = ENGINE
    ) -> None:
        """One value of one series."""
        column = "whole" if isinstance(value, int) else "fraction"
        self._lines["sample"].append(
            {"at": str(us(seconds)), "target": target, "kind": kind, "name": name, column: repr(value)}
        )

    def process(self, seconds: float, began: float, *, target: str = ENGINE) -> None:
        """One scrape that a process answered which began at `began`."""
        self.sample(seconds, "fairclock:scrape_up", 1, target=target)
        self.sample(seconds, "process_start_time_seconds", START.timestamp() + began, target=target)

    def gpu_event(self, seconds: float, event: str = "xid", code: int | None = 79) -> None:
        """Something that happened to a GPU."""
        line = {
            "event": event,
            "at_us": us(seconds),
            "sequence": 1,
            "host": "node",
            "collector": "nvml",
            "gpu": "GPU-a",
        }
        self._lines["gpu_event"].append(line | ({} if code is None else {"code": code}))

    def gpu_second(self, seconds: float, throttle_reasons: int) -> None:
        """One second of one GPU."""
        self._lines["gpu"].append(
            {"gpu": "GPU-a", "second": us(seconds) // 1_000_000, "host": "node", "collector": "nvml", "state": "ok",
             "samples": 5, "throttle_reasons": throttle_reasons}
        )  # fmt: skip

    def play(self, *, covers: tuple[float, float] | None = (-2 * HOUR, 6 * HOUR)) -> None:
        """Write what was said since the last time; with the time that the gateway was read through."""
        for kind, lines in self._lines.items():
            batch = LineBatch(kind=kind, source="scene", lines=[json.dumps(each).encode() for each in lines])  # type: ignore[arg-type]
            counts = self.store.ingest(batch)
            assert counts.stored == len(lines), (kind, counts)
        self._lines.clear()
        if covers is not None:
            interval = Interval(start=at(covers[0]), end=at(covers[1]))
            self.store.cover(kind="gateway", source="scene", intervals=[interval])
