"""Own the oracle's reading of OTLP trace requests in JSON, one a line."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import TYPE_CHECKING, Any

from tests.acceptance.oracle.gateway import file_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN)
_NOISE_US = 2_000  # what a gateway's milliseconds may hide


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One finished sequence as the engine told it; durations in µs."""

    trace: str | None
    key: str
    index: int
    instance: str
    arrived_us: int
    ended_us: int
    end_to_end_us: int
    queue_us: int
    prefill_us: int
    decode_us: int
    first_token_us: int | None
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None

    @property
    def inference_us(self) -> int:
        """Return `scheduled` to `last_token`."""
        return self.prefill_us + self.decode_us

    @property
    def frontend_us(self) -> int:
        """Return what the engine's own end to end has beside its phases."""
        return self.end_to_end_us - self.queue_us - self.inference_us

    @property
    def impossible(self) -> bool:
        """Tell whether a phase is negative, or the phases are longer than the whole."""
        return min(self.queue_us, self.prefill_us, self.decode_us) < 0 or self.frontend_us < -_NOISE_US


def read_engine(files: Iterable[Path]) -> list[Span]:
    """Return each distinct ``llm_request`` span once."""
    events: dict[tuple[str, int], Span] = {}
    for path in files:
        seen: dict[str, int] = {}
        for resource, span in _spans(path):
            content = json.dumps([resource, span], sort_keys=True, default=str)
            k = seen.get(content, 0)
            seen[content] = k + 1
            events[content, k] = _span(resource, span)
    return list(events.values())


def _spans(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for line in file_lines(path):
        if not line.strip():
            continue
        try:
            request = json.loads(line, parse_float=Decimal)
        except ValueError:
            continue
        for group in request.get("resourceSpans", []):
            resource = _attributes(group.get("resource", {}))
            for scope in group.get("scopeSpans", []):
                for span in scope.get("spans", []):
                    if span.get("name") == "llm_request":
                        yield resource, span


def _span(resource: dict[str, Any], span: dict[str, Any]) -> Span:
    said = _attributes(span)
    key, index = _undecorated(str(said.get("gen_ai.request.id", "")))
    latency = {
        name: _us(said[f"gen_ai.latency.{name}"])
        for name in ("e2e", "time_in_queue", "time_in_model_prefill", "time_in_model_decode")
    }
    first = said.get("gen_ai.latency.time_to_first_token")
    return Span(
        trace=_trace(span.get("traceId", "")),
        key=key,
        index=index,
        instance=_instance(resource),
        arrived_us=int(span["startTimeUnixNano"]) // 1000,
        ended_us=int(span["endTimeUnixNano"]) // 1000,
        end_to_end_us=latency["e2e"],
        queue_us=latency["time_in_queue"],
        prefill_us=latency["time_in_model_prefill"],
        decode_us=latency["time_in_model_decode"],
        first_token_us=None if first is None else _us(first),
        prompt_tokens=_whole(said.get("gen_ai.usage.prompt_tokens")),
        cached_tokens=_whole(said.get("gen_ai.usage.cached_tokens")),
        completion_tokens=_whole(said.get("gen_ai.usage.completion_tokens")),
    )


def _attributes(holder: dict[str, Any]) -> dict[str, Any]:
    return {pair["key"]: next(iter(pair["value"].values())) for pair in holder.get("attributes", [])}


def _instance(resource: dict[str, Any]) -> str:
    named = resource.get("service.instance.id")
    return str(named or f"{resource.get('host.name', '')}:{resource.get('vllm.process_id', '')}")


def _us(seconds: Any) -> int:
    return int((_EXACT.multiply(Decimal(seconds), Decimal(1_000_000))).to_integral_value(ROUND_HALF_EVEN))


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _undecorated(request_id: str) -> tuple[str, int]:
    """Take off ``chatcmpl-``, or ``cmpl-`` with the index at the end; nothing else."""
    if request_id.startswith("chatcmpl-"):
        return request_id.removeprefix("chatcmpl-"), 0
    match = re.fullmatch(r"cmpl-(.+)-(\d+)", request_id, re.DOTALL)
    return (match.group(1), int(match.group(2))) if match else (request_id, 0)


def _trace(text: str) -> str | None:
    in_hex = re.fullmatch(r"[0-9a-fA-F]{32}", text)
    trace = text.lower() if in_hex else base64.b64decode(text).hex()  # protobuf's own JSON has base64
    return trace if len(trace) == 32 and trace.strip("0") else None
