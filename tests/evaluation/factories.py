"""Joined requests and contracts, each good until a test changes something."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from itertools import count
from typing import Any

import yaml

from sla.contracts import Contract, examine

_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One row of the store's joined requests, in the store's columns."""

    tenant: str = "acme"
    received_at: datetime = datetime(2026, 10, 14, 3, 0, tzinfo=UTC)
    request_id: str = "request"
    trace_id: bytes = bytes(16)
    content_hash: int = 0
    k: int = 0
    source: str = "gateway-1"
    model: str = "deepseek-v4"
    route: str = "/v1/chat/completions"
    region: str = "cn-north"
    upstream: str = "10.0.0.1:8000"
    status: int = 200
    outcome: str = "ok"
    error_code: str = ""
    stream: int | None = None
    inference_mode: str = ""
    model_version: str = ""
    attempts: int = 1
    end_to_end_us: int = 1_000_000
    connected_us: int | None = None
    forwarded_us: int | None = None
    queue_us: int | None = None
    prefill_us: int | None = None
    decode_us: int | None = None
    frontend_us: int | None = None
    time_to_first_token_us: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    decode_tokens: int | None = None
    engine: str = "none"
    simulated: int = 0


COLUMNS = tuple(field.name for field in fields(Request))


def a_request(**changes: Any) -> Request:
    """Return a request of its own, answered in one second and not joined."""
    return Request(**({"content_hash": next(_numbers)} | changes))


def a_joined_request(**changes: Any) -> Request:
    """Return a request with an engine row: 0.1 s of queue, 0.2 s prefill, 0.5 s decode of 11 tokens."""
    measured = {
        "engine": "joined",
        "queue_us": 100_000,
        "prefill_us": 200_000,
        "decode_us": 500_000,
        "frontend_us": 50_000,
        "time_to_first_token_us": 310_000,
        "prompt_tokens": 100,
        "completion_tokens": 11,
        "decode_tokens": 11,
    }
    return a_request(**(measured | changes))


def as_rows(requests: list[Request]) -> list[tuple[object, ...]]:
    """Return the requests as tuples in the order of COLUMNS."""
    return [astuple(request) for request in requests]


def a_contract(**changes: Any) -> Contract:
    """Return a contract of 2026 with one objective on each side; None takes a clause away."""
    clauses: dict[str, Any] = {
        "apiVersion": "fairclock/v1",
        "kind": "Contract",
        "id": "acme-2026",
        "title": {"en": "Inference service agreement", "zh": "推理服务协议"},
        "provider": {"name": "Example Cloud"},
        "customer": {"name": "Acme Finance", "tenants": ["acme"]},
        "term": {"from": "2026-01-01", "to": "2026-12-31", "time_zone": "Asia/Shanghai"},
        "clock": {"start": "received"},
        "objectives": [latency(), availability()],
        "insufficient": {"below": 1, "verdict": "void"},
        "unmeasured": {
            "time": "bad",
            "coverage_floor": "0%",
            "below_floor": "violated",
            "unknown_clock": "bad",
        },
    }
    clauses |= changes
    text = yaml.safe_dump(
        {key: value for key, value in clauses.items() if value is not None},
        allow_unicode=True,
        sort_keys=False,
    )
    examination = examine(text)  # without lint: single clauses are tried alone
    assert examination.contract is not None, examination.problems
    return examination.contract


def latency(
    clock: str = "end_to_end", percentile: str = "99", at_most: str = "2s", **others: Any
) -> dict[str, Any]:
    """Return a latency objective."""
    promise = {"clock": clock, "percentile": percentile, "at_most": at_most}
    return {"name": f"p{percentile}-{clock}", "latency": promise, **others}


def availability(target: str = "99.9%", **others: Any) -> dict[str, Any]:
    """Return an availability objective by requests."""
    promise = {"formula": "request_ratio", "target": target}
    return {"name": "availability", "availability": promise, **others}


def unmeasured(**changes: str) -> dict[str, str]:
    """Return the clause about unmeasured time, with changes."""
    clause = {"time": "bad", "coverage_floor": "0%", "below_floor": "violated", "unknown_clock": "bad"}
    return clause | changes
