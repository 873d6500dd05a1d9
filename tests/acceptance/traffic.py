"""Own the writing of invented traffic: nginx lines and OTLP requests from instants and durations."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

MS = 1_000
SECOND = 1_000_000

OFFSETS_US = {"vllm-a": 0, "vllm-b": 317_000, "vllm-c": -4_200_000, "vllm-still": 0}
"""How far each engine's clock is off; vllm-still never takes a request that has a trace."""

_COMPLETION = "request_completion"


@dataclass(kw_only=True)
class Traffic:
    """Lines and spans of one month as they will be written."""

    random: Random
    lines: list[tuple[int, bytes]] = field(default_factory=list)
    spans: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    ids: int = 0

    def hex(self, digits: int) -> str:
        """Return fresh random hexadecimal digits, not all zero."""
        return f"{self.random.getrandbits(digits * 4) | 1:0{digits}x}"

    def request_id(self) -> str:
        """Return an id that no other request has."""
        self.ids += 1
        return f"client-{self.ids}"

    def log(self, *, received_us: int, took_ms: int, **said: str | None) -> None:
        """Log a request; what is None is written as absent in one of the three ways, or as given."""
        ended = received_us + took_ms * MS
        keys: dict[str, str | None] = {
            "time": _seconds(ended),
            "request_id": None,
            "traceparent": None,
            "tenant": None,
            "method": "POST",
            "uri": "/v1/chat/completions",
            "status": "200",
            "request_time": _seconds(took_ms * MS),
            _COMPLETION: "OK",
            "limit_req_status": None,
            "limit_conn_status": None,
            "connection_time": None,
            "connection_requests": "2",
            "upstream_addr": "10.0.0.1:8000",
            "upstream_status": None,
            "upstream_response_time": _seconds(took_ms * MS),
            "bytes_sent": str(self.random.randint(200, 9_000_000)),
            "server": "llm.example.com",
        }
        keys.update(said)
        line: dict[str, str] = {}
        for key, value in keys.items():
            if value is not None:
                line[key] = value
            elif (way := self.random.choice(("missing", "-", ""))) != "missing":
                line[key] = "-" if key == _COMPLETION else way
        self.lines.append((ended, json.dumps(line, ensure_ascii=self.random.random() < 0.5).encode()))

    def span(
        self,
        *,
        instance: str,
        arrived_us: int,
        request_id: str | None,
        trace: str | None = None,
        took_us: int,
        queue_us: int,
        prefill_us: int,
        decode_us: int,
        prompt: int | None = None,
        completion: int | None = None,
        first_us: int | None = None,
    ) -> None:
        """Let `instance` report a finished sequence; `arrived_us` is true time, the host's clock is off."""
        stamp_ns = (arrived_us + OFFSETS_US[instance]) * 1000 + self.random.randint(0, 999)
        numbers = {
            "time_to_first_token": queue_us + prefill_us + 137 if first_us is None else first_us,
            "e2e": took_us,
            "time_in_queue": queue_us,
            "time_in_model_prefill": prefill_us,
            "time_in_model_decode": decode_us,
            "time_in_model_inference": prefill_us + decode_us,
        }
        attributes: list[tuple[str, dict[str, object]]] = [
            # a third of a microsecond more or less, as monotonic clocks have it
            (f"gen_ai.latency.{name}", {"doubleValue": us / SECOND + self.random.uniform(-3e-7, 3e-7)})
            for name, us in numbers.items()
        ]
        if prompt is not None:
            attributes.append(("gen_ai.usage.prompt_tokens", {"intValue": str(prompt)}))
        if completion is not None:
            attributes.append(("gen_ai.usage.completion_tokens", {"intValue": completion}))
        if request_id is not None:
            attributes.append(("gen_ai.request.id", {"stringValue": request_id}))
        self.random.shuffle(attributes)
        span: dict[str, Any] = {
            "spanId": self.hex(16),
            "name": "llm_request",
            "kind": 2,
            "startTimeUnixNano": str(stamp_ns),
            "endTimeUnixNano": str(stamp_ns + took_us * 1000 + 150_000),
            "attributes": [{"key": key, "value": value} for key, value in attributes],
        }
        if trace is not None:
            span["traceId"] = trace
        self.spans.append((arrived_us + took_us, instance, span))

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write both files, in the order in which things ended, with what else lies in such files."""
        folder.mkdir(parents=True, exist_ok=True)
        lines = [line for _, line in sorted(self.lines)]
        for rubbish in (b"", b"not a log line", lines[0][: len(lines[0]) // 2], b"[]", b'{"status":"200"}'):
            lines.insert(self.random.randrange(len(lines) + 1), rubbish)
        gateway, engine = folder / "gateway.jsonl", folder / "engine.jsonl"
        gateway.write_bytes(b"\n".join(lines) + b"\n")
        requests = []
        for _, instance, span in sorted(self.spans, key=lambda each: each[0]):
            startup = {"name": "Allocate KV cache", "spanId": self.hex(16), "traceId": self.hex(32)}
            scope = {"scope": {"name": "vllm.llm_engine"}, "spans": [startup, span]}
            resource = {"attributes": [{"key": "service.instance.id", "value": {"stringValue": instance}}]}
            requests.append(json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}))
        engine.write_text("\n".join(requests) + "\n")
        return gateway, engine


def traceparent(trace: str, parent: str) -> str:
    """Return the header as the gateway's snippet logs it."""
    return f"00-{trace}-{parent}-01"


def _seconds(us: int) -> str:
    return f"{us // SECOND}.{us % SECOND // MS:03d}"
