"""Own each clock as SQL over one joined row, in whole microseconds; NULL where it was not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Clock
from fairclock.store.clocks import clock_expressions
from sla.evaluation.fragments import named, sql

if TYPE_CHECKING:
    from typing import Literal

    from fairclock.store import Query

NEVER_UNKNOWN = frozenset({Clock.END_TO_END, Clock.EXCLUDING_QUEUE})
"""Clocks that every request has: the gateway alone measures them."""

SPEED = "speed_micro"
"""The column of output tokens per second, in millionths of a token, rounded down; NULL where not measured."""


def column_of(clock: Clock) -> str:
    """Return the name of the column that holds `clock`."""
    return f"clock_{clock}"


def clock_columns(start: Literal["received", "connected"]) -> list[Query]:
    """Return every clock as a column; `connected` adds the handshake to what the gateway measured."""
    elapsed = "end_to_end_us" if start == "received" else "(end_to_end_us + ifNull(connected_us, 0))"
    speed = (
        "if(ifNull(decode_tokens, 0) > 1 AND decode_us > 0,"
        " toInt64(intDiv(toInt128(ifNull(decode_tokens, 1) - 1) * 1000000000000, decode_us)), NULL)"
    )
    clocks = [
        named(sql(expression), column_of(clock)) for clock, expression in clock_expressions(elapsed).items()
    ]
    return [*clocks, named(sql(speed), SPEED)]
