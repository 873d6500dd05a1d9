"""Own the truth object: what happened to one request inside the service, on the service's one clock.

The engine runs in a process of its own on the same host, and both read ``CLOCK_MONOTONIC``, which Linux keeps one of:
its marks and the HTTP side's may be subtracted from each other. ``queued - arrived`` is the frontend's part,
``responded - last_token`` the delivery's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inference_probe.service.observation import EngineRequest, Exchange

SCHEMA = "fairclock.truth/1"
ABORTED = "abort"
_MARKS = {
    "queued": "queued_ts",
    "scheduled": "scheduled_ts",
    "first_token": "first_token_ts",
    "last_token": "last_token_ts",
}


def truth(exchange: Exchange, *, responded: float | None) -> dict[str, Any]:
    """Return the object of an answered request; `responded` is None where the client left before the end.

    Of several prompts or sequences the one that ended last gives the marks; prompt tokens, completion tokens and
    preemptions add up. A mark that the engine never reached is None, never its clock's zero.
    """
    made = exchange.engine_requests
    last = max(made, key=_last_token) if made else None
    reason = None if last is None else last.finish_reason
    if responded is None and (last is None or not last.is_finished):
        reason = ABORTED
    return {
        "schema": SCHEMA,
        "request_id": exchange.request_id,
        "engine_request_id": None if last is None else last.engine_request_id,
        "arrived": exchange.arrived,
        **{name: _mark(last, field) for name, field in _MARKS.items()},
        "responded": responded,
        "wall_arrived": exchange.wall_arrived,
        "prompt_tokens": _sum(each.prompt_tokens for each in made),
        "cached_tokens": _sum(each.cached_tokens for each in made),
        "completion_tokens": sum(each.completion_tokens for each in made) if made else None,
        "finish_reason": reason,
        "preemptions": _sum(getattr(each.state, "num_preemptions", None) for each in made),
    }


def _mark(request: EngineRequest | None, field: str) -> float | None:
    value = getattr(request.state, field, None) if request is not None else None
    return float(value) if value else None


def _last_token(request: EngineRequest) -> float:
    return _mark(request, "last_token_ts") or 0.0


def _sum(values: Any) -> int | None:
    """Return the sum; None where there is nothing, or one of them is not known."""
    found = list(values)
    return None if not found or None in found else sum(found)
