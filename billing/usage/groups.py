"""Own what is rated: the usage of requests that are alike in all that a price can ask for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class Treatment(StrEnum):
    """How a request is treated by the price book; exactly one per request, the first that matches in this order.

    probe: its tenant is one that probes. refused: nothing was answered, whoever's fault that was. aborted: the client left.
    incomplete: a timeout, an answer that broke off, or another answer than was asked for. retried: completed, but at a second
    attempt or later. completed: all others.
    """

    PROBE = "probe"
    REFUSED = "refused"
    ABORTED = "aborted"
    INCOMPLETE = "incomplete"
    RETRIED = "retried"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What alike requests used together, received in ``[start, end)``, which lies within `hour` (UTC) and within one price.

    machine: as the price book names machines (GPU model and MIG profile); "" where no engine is known.
    estimated: of at least one of its requests tokens are not measured; all of a group are, or none.
    gpu_picoseconds: shares of the cost book's sweep, GPU-seconds x 10^12. peak_kv_tokens: of its largest request, in tokens.
    """

    tenant: str
    hour: datetime
    start: datetime
    end: datetime
    model: str
    length_class: str
    inference_mode: str
    machine: str
    treatment: Treatment
    estimated: bool
    requests: int
    uncached_prompt_tokens: int
    cached_prompt_tokens: int
    completion_tokens: int
    gpu_picoseconds: int
    peak_kv_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestUsage:
    """What one request used, as far as it was measured; None is unknown.

    request: what it is called in an engine's timeline (see `billing.cost_book.checking`).
    """

    received_at: datetime
    request_id: str
    request: str
    model: str
    outcome: str
    machine: str
    prompt_tokens: int | None
    cached_prompt_tokens: int
    completion_tokens: int | None
    gpu_picoseconds: int | None

    @property
    def peak_kv_tokens(self) -> int | None:
        """Return the tokens that it kept in memory at its end."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    @property
    def gpu_tenths(self) -> int | None:
        """Return its GPU time in tenths of a second, half a tenth rounded to the even one, as it is printed."""
        if self.gpu_picoseconds is None:
            return None
        return round(Fraction(self.gpu_picoseconds, 10**11))
