"""Own the requests of scripts: what a ``load`` says of them, as nginx lines and OTLP spans."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.scripted.quantities import duration_us

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OUTCOMES: dict[str, dict[str, str]] = {
    "ok": {},
    "timeout": {"status": "504"},
    "client_aborted": {"status": "499", "request_completion": ""},
    "substituted": {"substituted": "true"},
    "incomplete": {"incomplete": "true"},
    "client_error": {"status": "400"},
    "quota_rejected": {"status": "429"},
    "capacity_rejected": {"status": "503"},
    "server_error": {"status": "500"},
}
_LOGGED = {
    "tenant": "tenant",
    "route": "uri",
    "status": "status",
    "model": "model",
    "region": "region",
    "stream": "stream",
    "mode": "inference_mode",
    "error_code": "error_code",
    "id": "request_id",
    "prompt": "prompt_tokens",
    "completion": "completion_tokens",
    "upstream": "upstream_addr",
}
"""What the gateway logs as it is said."""
_GATEWAY_TIMES = ("end_to_end", "forwarded", "handshake")
_ENGINE_TIMES = ("queue", "prefill", "decode", "frontend")
_ENGINE_TOKENS = {
    "engine_prompt": "gen_ai.usage.prompt_tokens",
    "engine_completion": "gen_ai.usage.completion_tokens",
}
WORDS = (*_OUTCOMES, *_LOGGED, *_GATEWAY_TIMES, *_ENGINE_TIMES, *_ENGINE_TOKENS, "engine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How the requests of one ``load`` look; times in microseconds."""

    logged: dict[str, str]
    times: dict[str, int]
    tokens: dict[str, int]
    engine: str

    @property
    def has_span(self) -> bool:
        """Tell whether the engine reported them."""
        return any(name in self.times for name in _ENGINE_TIMES)


def read_kind(facts: list[str]) -> Kind:
    """Read what a ``load`` says: an outcome or a status, times, labels; raises ValueError."""
    logged: dict[str, str] = {}
    times: dict[str, int] = {"end_to_end": 1_000_000}
    tokens: dict[str, int] = {}
    engine = "engine-1"
    for fact in facts:
        word, _, said = fact.partition(" ")
        if word in _OUTCOMES and not said:
            logged |= _OUTCOMES[word]
        elif word in (*_GATEWAY_TIMES, *_ENGINE_TIMES):
            times[word] = duration_us(said)
        elif word in _ENGINE_TOKENS:
            tokens[_ENGINE_TOKENS[word]] = int(said)
        elif word in _LOGGED and said:
            logged[_LOGGED[word]] = said
        elif word == "engine" and said:
            engine = said
        else:
            raise ValueError(f"says nothing known of requests ({fact}); the words are {', '.join(WORDS)}")
    for name in _GATEWAY_TIMES:
        if times.get(name, 0) % 1_000:
            raise ValueError(f"{name} is finer than the millisecond that gateways log")
    return Kind(logged=logged, times=times, tokens=tokens, engine=engine)


@dataclass(slots=True, kw_only=True)
class Traffic:
    """The lines and spans that are yet to be stored; ids go on counting over all of a script."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    spans: list[tuple[int, str]] = field(default_factory=list)
    requests: int = 0

    def add(self, kind: Kind, received: datetime) -> None:
        """Let a request of `kind` be received at this instant."""
        self.requests += 1
        received_us = (received - _EPOCH) // timedelta(microseconds=1)
        if received_us % 1_000:
            raise ValueError("is received at an instant finer than the millisecond that gateways log")
        took_us = kind.times["end_to_end"]
        forwarded_us = kind.times.get("forwarded", 0)
        handshake_us = kind.times.get("handshake")
        trace = f"{self.requests:032x}"
        line = {
            "time": _milliseconds(received_us + took_us),
            "request_id": f"request-{self.requests}",
            "traceparent": f"00-{trace}-{self.requests:016x}-01" if kind.has_span else "-",
            "tenant": "acme",
            "method": "POST",
            "uri": "/v1/chat/completions",
            "status": "200",
            "request_time": _milliseconds(took_us),
            "request_completion": "OK",
            "limit_req_status": "-",
            "connection_time": _milliseconds(took_us + (handshake_us or 0)),
            "connection_requests": "2" if handshake_us is None else "1",
            "upstream_addr": "10.0.0.1:8000",
            "upstream_response_time": _milliseconds(took_us - forwarded_us),
            "server": "llm.example.com",
            **kind.logged,
        }
        self.lines.append((received_us + took_us, json.dumps(line, ensure_ascii=False)))
        if kind.has_span:
            self.spans.append((received_us, self._span(kind, received_us + forwarded_us, trace)))

    def _span(self, kind: Kind, arrived_us: int, trace: str) -> str:
        queue, prefill, decode, frontend = (kind.times.get(name, 0) for name in _ENGINE_TIMES)
        whole = queue + prefill + decode + frontend
        seconds = {
            "e2e": whole,
            "time_in_queue": queue,
            "time_in_model_prefill": prefill,
            "time_in_model_decode": decode,
            "time_in_model_inference": prefill + decode,
            "time_to_first_token": queue + prefill,
        }
        attributes: dict[str, dict[str, Any]] = {
            f"gen_ai.latency.{name}": {"doubleValue": us / 1_000_000} for name, us in seconds.items()
        }
        attributes |= {name: {"intValue": str(count)} for name, count in kind.tokens.items()}
        span = {
            "name": "llm_request",
            "traceId": trace,
            "spanId": f"{self.requests:016x}",
            "startTimeUnixNano": str(arrived_us * 1_000),
            "endTimeUnixNano": str((arrived_us + whole) * 1_000),
            "attributes": [{"key": key, "value": value} for key, value in attributes.items()],
        }
        resource = {"attributes": [{"key": "service.instance.id", "value": {"stringValue": kind.engine}}]}
        scope = {"scope": {"name": "vllm.llm_engine"}, "spans": [span]}
        return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]})

    def take(self) -> tuple[list[str], list[str]]:
        """Return lines and spans in the order in which they ended, and forget them."""
        found = [text for _, text in sorted(self.lines)], [text for _, text in sorted(self.spans)]
        self.lines, self.spans = [], []
        return found


def _milliseconds(us: int) -> str:
    return f"{us // 1_000_000}.{us % 1_000_000 // 1_000:03d}"
