"""Requests as a gateway logs them and vLLM reports them: request `number` is the same whenever it is asked for."""

from __future__ import annotations

import json
import random
from functools import cache

from tests.collectors.otlp_requests import good_span, request_of

FIRST_MS = 1_791_939_600_000  # 2026-10-14T01:00:00Z
STEP_MS = 250
EQUAL_EVERY = 50
"""Of so many lines the last one equals the one before: two requests that look the same."""
MONTH = "2026-10"


@cache
def _drawn(number):
    return random.Random(number).random()


def logged(number):
    """Return which request the line `number` shows."""
    return number - 1 if number % EQUAL_EVERY == EQUAL_EVERY - 1 else number


def line(number):
    """Return the gateway's line."""
    number = logged(number)
    drawn = _drawn(number)
    status = "500" if number % 211 == 0 else "429" if number % 97 == 0 else "200"
    seconds = f"{0.2 + 2 * drawn**6:.3f}"
    at_ms = FIRST_MS + number * STEP_MS
    return json.dumps(
        {
            "time": f"{at_ms // 1000}.{at_ms % 1000:03d}", "request_id": f"{number + 1:032x}", "tenant": "acme",
            "method": "POST", "uri": "/v1/chat/completions", "status": status, "request_time": seconds,
            "request_completion": "OK", "connection_requests": "2", "upstream_addr": "10.0.0.1:8000",
            "upstream_status": status, "upstream_response_time": seconds, "server": "gw",
            "model": "deepseek-v4", "prompt_tokens": str(10 + number % 900), "simulated": "1",
        }
    ).encode()  # fmt: skip


def span(number):
    """Return vLLM's span of the request."""
    drawn = _drawn(logged(number))
    spent = 0.15 + 2 * drawn**6
    end_ns = (FIRST_MS + number * STEP_MS) * 1_000_000
    return good_span(
        number,
        start_time_unix_nano=end_ns - int(spent * 1e9),
        end_time_unix_nano=end_ns,
        attributes={
            "gen_ai.latency.e2e": spent,
            "gen_ai.latency.time_in_queue": spent * 0.2,
            "gen_ai.latency.time_in_model_prefill": spent * 0.3,
            "gen_ai.latency.time_in_model_decode": spent * 0.4,
            "gen_ai.latency.time_in_model_inference": spent * 0.7,
            "gen_ai.latency.time_to_first_token": spent * 0.55,
            "gen_ai.request.id": f"cmpl-{number + 1:032x}-0",
        },
    )


def body(numbers):
    """Return an OTLP request with the spans of `numbers`."""
    return request_of(*map(span, numbers)).SerializeToString()


def expected_lines(count):
    """Return (request id, k) of the rows that `count` lines make, in order."""
    return sorted((f"{logged(number) + 1:032x}", number - logged(number)) for number in range(count))


def expected_spans(count):
    """Return the span ids of `count` requests, in order."""
    return sorted(f"{number + 1:016x}" for number in range(count))
