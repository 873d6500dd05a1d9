"""Own what the request explorer shows: a list, and one request with every mark, phase, attempt and flag."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC003

from __future__ import annotations

from datetime import datetime
from typing import Literal

from fairclock.console.readings.models.base import Count, Measured, Page, Shown


class RequestRow(Shown):
    """One request in a list; None is a duration that nobody measured."""

    key: str
    """its address here: ``/requests/KEY``"""
    request_id: str
    trace_id: str
    tenant: str
    received_at: datetime
    model: str
    route: str
    outcome: str
    status: Count
    end_to_end_seconds: float
    queue_seconds: float | None
    excluding_queue_seconds: float
    time_to_first_token_seconds: float | None
    attempts: Count
    engine: Literal["joined", "none", "quarantined", "ambiguous"]


class RequestList(Page):
    """The requests that were asked for, in `order`, the greatest first; `lacking` says where there are more."""

    order: str
    tenant: str | None
    name: str
    outcome: str | None
    requests: tuple[RequestRow, ...]
    measured: Measured


class Mark(Shown):
    """A mark on the request's way, as the time since it was received, on the clock of whoever measured it.

     after_seconds: None where nobody measured it. Engine marks are put behind the gateway's by durations alone
    ; the two hosts' timestamps are never subtracted.
    """

    mark: Literal[
        "connected", "received", "forwarded", "arrived", "queued", "scheduled", "first_token", "last_token",
        "responded",
    ]  # fmt: skip
    after_seconds: float | None
    measured_by: Literal["gateway", "engine"]


class RequestPhase(Shown):
    """A phase of one request; a sum of durations, so that the five add up to the whole way where all are known."""

    phase: Literal["network", "frontend", "queue", "prefill", "decode", "unmeasured"]
    seconds: float | None
    share_ratio: float | None


class RequestClock(Shown):
    """One clock's value for this request."""

    clock: str
    seconds: float | None


class EngineSequence(Shown):
    """A sequence that an engine reported under this request's trace or id; `is_final` where it gives the clocks."""

    instance: str
    request_id: str
    sequence: Count
    arrived_at: datetime
    end_to_end_seconds: float | None
    queue_seconds: float | None
    prefill_seconds: float | None
    decode_seconds: float | None
    preemptions: Count | None
    completion_tokens: Count | None
    finish_reason: str
    reporter: str
    is_final: bool


class Judged(Shown):
    """What a contract's promise makes of this request: whether it belongs, and whether it was over."""

    contract: str
    objective: str
    clock: str | None
    threshold_seconds: float | None
    counts_as: Literal["good", "over", "unknown", "excluded", "not_counted"]


class RequestPage(Page):
    """One request and its way."""

    request: RequestRow
    region: str
    upstream: str
    error_code: str
    stream: bool | None
    inference_mode: str
    model_version: str
    prompt_tokens: Count | None
    cached_tokens: Count | None
    completion_tokens: Count | None
    marks: tuple[Mark, ...]
    phases: tuple[RequestPhase, ...]
    clocks: tuple[RequestClock, ...]
    sequences: tuple[EngineSequence, ...]
    flags: tuple[str, ...]
    """simulated, quarantined, ambiguous, unconfirmed, retried, preempted"""
    measured: Measured
