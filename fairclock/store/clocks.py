"""Own each clock as an expression over one joined row, in whole microseconds; NULL where it was not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Clock

if TYPE_CHECKING:
    from collections.abc import Mapping

_INFERENCE = "prefill_us + decode_us"
_GAPS = "toInt64(greatest(ifNull(decode_tokens, 2), 2) - 1)"


def clock_expressions(elapsed: str = "end_to_end_us") -> Mapping[Clock, str]:
    """Return every clock; `elapsed` is what the gateway measured of a request.

    A time per output token is rounded up to the microsecond: against a threshold in whole microseconds that
    is the same as comparing exactly, and it never prints a value on the better side.
    """
    return {
        Clock.END_TO_END: elapsed,
        Clock.EXCLUDING_QUEUE: f"{elapsed} - ifNull(queue_us, 0)",
        Clock.QUEUE: "queue_us",
        Clock.INFERENCE: _INFERENCE,
        Clock.PREFILL: "prefill_us",
        Clock.DECODE: "decode_us",
        Clock.OUTSIDE: f"{elapsed} - ({_INFERENCE})",
        Clock.TIME_TO_FIRST_TOKEN: "time_to_first_token_us",
        Clock.TIME_PER_OUTPUT_TOKEN: (
            f"if(ifNull(decode_tokens, 0) > 1, intDiv(decode_us + {_GAPS} - 1, {_GAPS}), NULL)"
        ),
    }
