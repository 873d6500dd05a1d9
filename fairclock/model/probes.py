"""Own what is said of one probe: what was meant, what was done, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


REQUEST_IDS = "^probe-[0-9a-f]{12}-"
"""What the ids of probes' requests begin with: their run's."""


class ProbeOutcome(StrEnum):
    """What came of a probe; the last four say nothing about the service."""

    OK = "ok"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"  # nobody took the connection, or it broke
    SERVER_ERROR = "server_error"
    CAPACITY_REJECTED = "capacity_rejected"
    INCOMPLETE = "incomplete"
    WRONG_ANSWER = "wrong_answer"
    QUOTA_REJECTED = "quota_rejected"
    CLIENT_ERROR = "client_error"  # the probe itself was refused: its key, its model, its form
    ABORTED = "aborted"  # the prober was stopped
    NOT_SENT = "not_sent"  # the prober came too late


SAYS_NOTHING = frozenset(
    {ProbeOutcome.QUOTA_REJECTED, ProbeOutcome.CLIENT_ERROR, ProbeOutcome.ABORTED, ProbeOutcome.NOT_SENT}
)
FAILED = frozenset(ProbeOutcome) - SAYS_NOTHING - {ProbeOutcome.OK}
"""The outcomes of a probe that a service which works would have answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One probe. `id` is its request's id; `probe` names the configured one, `prober` who sent it.

    tenant: whose traffic it stands for; empty: everybody's. model, region: empty where any will do.
    first_token_us, done_us: since `sent_at`, on the prober's clock; None where it did not come so far.
    engine, engine_request_id and the engine's durations are the engine's own words, where they are known.
    run and number: which of a run's probes it is; mode: what kind of run. connected_us, secured_us: the end of the
    handshakes, None on a connection that was open. engine_arrived_at: on the engine's wall clock. The last three say
    what the answer to a fixed prompt was worth, None where that was not looked at.
    """

    id: str
    target: str
    outcome: ProbeOutcome
    intended_at: datetime
    sent_at: datetime | None
    probe: str = ""
    prober: str = ""
    tenant: str = ""
    model: str = ""
    region: str = ""
    stream: bool = False
    status: int = 0
    error: str = ""
    first_token_us: int | None = None
    done_us: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    engine: str = ""
    engine_request_id: str = ""
    engine_end_to_end_us: int | None = None
    engine_queue_us: int | None = None
    engine_prefill_us: int | None = None
    engine_decode_us: int | None = None
    engine_first_token_us: int | None = None
    run: str = ""
    number: int = 0
    mode: str = ""
    trace_id: str = ""
    inference_mode: str = ""
    connected_us: int | None = None
    secured_us: int | None = None
    first_byte_us: int | None = None
    first_reasoning_token_us: int | None = None
    cached_tokens: int | None = None
    finish_reason: str = ""
    engine_arrived_at: datetime | None = None
    repetition_ratio: float | None = None
    numbers_copied_ratio: float | None = None
    invalid_output: bool | None = None
