"""Own the names of the clocks that a contract may choose from."""

from __future__ import annotations

from enum import StrEnum


class Clock(StrEnum):
    """A duration of one request (seconds in the face, microseconds in the store)."""

    END_TO_END = "end_to_end"
    QUEUE = "queue"
    EXCLUDING_QUEUE = "excluding_queue"
    INFERENCE = "inference"
    PREFILL = "prefill"
    DECODE = "decode"
    OUTSIDE = "outside"
    TIME_TO_FIRST_TOKEN = "time_to_first_token"
    TIME_PER_OUTPUT_TOKEN = "time_per_output_token"


ENGINE_CLOCKS = frozenset(Clock) - {Clock.END_TO_END, Clock.EXCLUDING_QUEUE}
"""Clocks that need the engine's row; without it a request is `unknown` on them."""
