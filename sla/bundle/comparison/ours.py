"""Own the requests that a customer's log is held against: those that the report of the month counts, with their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import Interval, to_us
from sla.evaluation.dataset import in_scope
from sla.evaluation.fragments import select, sql

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sla.contracts import Contract
    from sla.evaluation.rows import Requests

CLOCKS = ("end_to_end", "connected", "excluding_queue")
"""Our clocks that a whole answer's duration is compared with; `connected` adds the handshake where it was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """One request as we measured it."""

    id: str
    trace: str
    received_us: int
    end_to_end_us: int
    connected_us: int
    excluding_queue_us: int
    first_token_us: int | None
    status: str
    outcome: str

    def clock(self, name: str) -> int:
        """Return one of `CLOCKS` in microseconds."""
        found: int = getattr(self, f"{name}_us")
        return found


def our_requests(store: Requests, parts: Sequence[tuple[Contract, Interval]], as_of: datetime) -> list[Ours]:
    """Return the requests in the scope of each version, received in its part of a month, in time order."""
    found: list[Ours] = []
    for contract, window in parts:
        where = in_scope(contract)
        rows = store.rows(
            select(
                (
                    sql("request_id"),
                    sql("if(reinterpretAsUInt128(trace_id) = 0, '', lower(hex(trace_id)))"),
                    sql("toUnixTimestamp64Micro(received_at) AS at_us"),
                    sql("end_to_end_us"),
                    sql("end_to_end_us + ifNull(connected_us, 0)"),
                    sql("end_to_end_us - ifNull(queue_us, 0)"),
                    sql("time_to_first_token_us"),
                    sql("toString(status)"),
                    sql("toString(outcome)"),
                ),
                store.requests_as_of(window, as_of),
                sql(f"WHERE {where.sql}", **where.parameters),
                sql("ORDER BY at_us, content_hash, k"),
            )
        )
        found += [
            Ours(
                id=str(row[0]),
                trace=str(row[1]),
                received_us=int(row[2]),
                end_to_end_us=int(row[3]),
                connected_us=int(row[4]),
                excluding_queue_us=int(row[5]),
                first_token_us=None if row[6] is None else int(row[6]),
                status=str(row[7]),
                outcome=str(row[8]),
            )
            for row in rows
        ]
    return found


def is_within(at_us: int, period: Interval) -> bool:
    """Tell whether an instant lies in a period."""
    return to_us(period.start) <= at_us < to_us(period.end)
