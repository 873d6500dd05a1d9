"""Own the hash that ties a report to the rows it was computed from, whatever order they are stored in.

Each request in scope is one line of tab-separated fields; the lines of an hour are sorted and hashed; then
the hours' lines (start, rows, hash) are hashed in time order. Nothing in a line depends on who wrote the row
or when.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fairclock.model import Interval, from_us, to_us
from sla.evaluation.fragments import all_of, named, select, sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.store import Query
    from sla.evaluation.rows import Requests

_ROWS_A_PASS = 500_000
_HOUR_US = 3_600_000_000
_NUMBERS = (
    "at_us",
    "k",
    "status",
    "stream",
    "attempts",
    "end_to_end_us",
    "connected_us",
    "queue_us",
    "prefill_us",
    "decode_us",
    "frontend_us",
    "time_to_first_token_us",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "decode_tokens",
    "simulated",
)
_TEXTS = ("tenant", "model", "route", "region", "outcome", "error_code", "inference_mode", "engine")


def row_text() -> str:
    r"""Return the expression for a row's line; unknown numbers are ``\N``, as in the engine's TSV."""
    fields = [
        "lower(hex(content_hash))",
        *(f"ifNull(toString({column}), '\\\\N')" for column in _NUMBERS),
        *(_escaped(column) for column in _TEXTS),
    ]
    return f"concatWithSeparator('\\t', {', '.join(fields)})"


def _escaped(column: str) -> str:
    """Return the expression that keeps tabs, newlines and backslashes of a text from ending its field."""
    escaped = f"replaceAll(toString({column}), '\\\\', '\\\\\\\\')"
    escaped = f"replaceAll({escaped}, '\\t', '\\\\t')"
    return f"replaceAll({escaped}, '\\n', '\\\\n')"


def hours_query(source: Query, part: Interval) -> Query:
    """Return the query for (hour in µs, rows, SHA-256 of the sorted lines) of the hours in `part`."""
    window = all_of(
        [
            sql(
                "at_us >= {rows_from:Int64} AND at_us < {rows_to:Int64}",
                rows_from=to_us(part.start),
                rows_to=to_us(part.end),
            )
        ]
    )
    lines = f"arrayStringConcat(arraySort(groupArray({row_text()})), '\\n')"
    return select(
        (
            named(sql(f"intDiv(at_us, {_HOUR_US}) * {_HOUR_US}"), "hour_us"),
            sql("count()"),
            sql(f"lower(hex(SHA256({lines})))"),
        ),
        source,
        sql(f"WHERE {window.sql}", **window.parameters),
        sql("GROUP BY hour_us"),
        sql("ORDER BY hour_us"),
    )


def rows_sha256(store: Requests, source: Query, period: Interval, rows: int) -> str:
    """Return the hash of the `rows` requests of `period`; read in parts, so that memory stays bounded."""
    digest = hashlib.sha256()
    for part in _parts(period, 1 + rows // _ROWS_A_PASS):
        for hour_us, count, lines_sha256 in store.rows(hours_query(source, part)):
            digest.update(f"{from_us(hour_us):%Y-%m-%dT%H:%M:%SZ}\t{count}\t{lines_sha256}\n".encode())
    return digest.hexdigest()


def _parts(period: Interval, count: int) -> Iterator[Interval]:
    """Return `period` in at most about `count` parts that begin with whole hours (UTC)."""
    start_us, end_us = to_us(period.start), to_us(period.end)
    first_hour = start_us // _HOUR_US
    hours = -(-end_us // _HOUR_US) - first_hour
    step = -(-hours // count)
    for offset in range(0, hours, step):
        yield Interval(
            start=from_us(max(start_us, (first_hour + offset) * _HOUR_US)),
            end=from_us(min(end_us, (first_hour + offset + step) * _HOUR_US)),
        )
