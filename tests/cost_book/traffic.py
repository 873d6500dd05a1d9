"""Lines of gateways and engines, and the books that are read from them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from billing.cost_book.machines import EngineMachine
from billing.cost_book.settings import CostBookSettings
from fairclock.model import Interval
from fairclock.store import LineBatch

HOUR = datetime(2026, 10, 7, 3, tzinfo=UTC)
NEXT = HOUR + timedelta(hours=1)
SECOND = 10**12


def hours(first: int = 0, count: int = 1) -> Interval:
    return Interval(start=HOUR + timedelta(hours=first), end=HOUR + timedelta(hours=first + count))


def gateway(at_seconds: float, seconds: float, trace: int = 0, **changes: object) -> bytes:
    """One line of a request received `at_seconds` after HOUR that took `seconds`."""
    keys: dict[str, object] = {
        "request_id": f"r{trace}", "traceparent": f"00-{trace:032x}-{trace:016x}-01" if trace else "-", "tenant": "acme", "method": "POST",
        "uri": "/v1/chat/completions", "status": "200", "request_time": f"{seconds:.3f}", "request_completion": "OK",
        "limit_req_status": "", "limit_conn_status": "", "upstream_addr": "10.0.0.1:8000", "upstream_status": "200",
        "upstream_response_time": f"{seconds:.3f}", "server": "gw", "model": "m", "prompt_tokens": "100", "cached_tokens": "0",
        "completion_tokens": "50",
    }  # fmt: skip
    keys.update(changes)
    kept = {key: value for key, value in keys.items() if value is not None}
    return json.dumps({"time": f"{HOUR.timestamp() + at_seconds + seconds:.3f}", **kept}).encode()


def engine(at_seconds: float, seconds: float, trace: int = 0, **changes: object) -> bytes:
    """One line of a sequence that was scheduled `at_seconds` after HOUR, at once, and ran for `seconds`."""
    start_ns = int(HOUR.timestamp()) * 10**9 + round(at_seconds * 10**9)
    keys: dict[str, object] = {
        "trace_id": f"{trace:032x}" if trace else "", "span_id": f"{trace:016x}", "start_ns": str(start_ns),
        "end_ns": str(start_ns + round(seconds * 10**9)), "instance": "engine-a", "request_id": f"chatcmpl-r{trace}", "e2e": seconds,
        "queue": 0.0, "prefill": 0.0, "decode": seconds, "prompt_tokens": 100, "completion_tokens": 50,
    }  # fmt: skip
    keys.update(changes)
    return json.dumps({key: value for key, value in keys.items() if value is not None}).encode()


def feed(store, gateway_lines=(), engine_lines=(), k=0) -> None:
    for kind, lines in (("gateway", gateway_lines), ("engine", engine_lines)):
        if lines:
            counts = store.ingest(LineBatch(kind=kind, source="test", lines=list(lines), k=k))
            assert counts.dead_letters == 0, kind


def good_settings(**changes: object) -> CostBookSettings:
    """One engine on two GPUs."""
    given: dict[str, object] = {"machines": (good_machine(),)}
    return CostBookSettings(**(given | changes))


def good_machine(**changes: object) -> EngineMachine:
    given: dict[str, object] = {"engine": "engine-a", "machine": "H", "gpus": Fraction(2), "max_num_seqs": 4}
    return EngineMachine(**(given | changes))
