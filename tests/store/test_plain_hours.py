"""Hours without tangled keys take a shorter query; whatever is in them, it gives what the full one gives."""

from __future__ import annotations

import random

import pytest

from fairclock.model import to_us
from fairclock.store import Query
from fairclock.store.batches import watermark_us
from fairclock.store.requests import HOUR_US, REQUEST_COLUMNS, hours_query, joined_hours
from tests.store.conftest import HOUR, engine_line, gateway_line, traced

HOURS = [to_us(HOUR) + number * HOUR_US for number in (-1, 0, 1, 2)]


def rows_of(store, query):
    return sorted(map(repr, store.rows(query)))


def full(store):
    query = hours_query("join_hours", HOURS, watermark_us(store._connection))
    return Query(sql=f"SELECT {', '.join(REQUEST_COLUMNS)} FROM ({query.sql})", parameters=query.parameters)


def tangled(store):
    found = store.rows(hours_query("tangled_hours", HOURS, watermark_us(store._connection)))
    return {(start - to_us(HOUR)) // HOUR_US for (start,) in found}


def month_in_small(seed):
    """Some requests over four hours, many of them near an hour's borders; about every second hour has something odd."""
    source = random.Random(seed)
    gateway, engine = [], []
    odd_hours = {hour for hour in (-1, 0, 1, 2) if source.random() < 0.5}
    for number in range(1, 60):
        hour = source.choice((-1, 0, 1, 2))
        border = source.choice((0.0, 600.0, 3000.0, 3599.0))
        at = hour * 3600 + source.choice((border + source.uniform(0, 1), source.uniform(0, 3600)))
        at = round(at, 3)
        odd = hour in odd_hours and source.random() < 0.3
        kind = source.choice(("repeated id", "retry", "sequences", "no trace", "same trace")) if odd else ""
        trace = {} if kind == "no trace" else traced(7 if kind == "same trace" else number)
        name = "again" if kind == "repeated id" else f"r{number}"
        line = gateway_line(at, request_id=name, tenant=source.choice("abc"), **trace)
        trace_id = f"{7 if kind == 'same trace' else number:032x}" if trace else ""
        if source.random() < 0.9:
            gateway.append(line)
        if source.random() < 0.1:
            continue
        changes = {"trace_id": trace_id, "request_id": f"chatcmpl-{name}", "span_id": f"{number:016x}"}
        if kind == "repeated id":
            changes["trace_id"] = ""
        if source.random() < 0.1:
            changes |= source.choice(
                ({"queue": -0.5}, {"prefill": 900.0}, {"e2e": 3.5}, {"prompt_tokens": None}, {"ttft": None})
            )
        engine.append(engine_line(at + source.uniform(0.001, 0.02), **changes))
        if kind in {"retry", "sequences"}:
            again = {**changes, "span_id": f"{number:015x}f", "decode": 1.2, "instance": "engine-b"}
            engine.append(engine_line(at + 0.5, **again))
    return gateway, engine


def test_the_short_query_gives_what_the_full_one_gives(books):
    plain_hours = tangled_hours = 0
    for seed in range(8):
        for table in ("gateway_requests", "engine_requests"):
            books.store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
        books.feed(*month_in_small(seed))
        query = joined_hours(books.store._connection, HOURS, watermark_us(books.store._connection))
        assert rows_of(books.store, query) == rows_of(books.store, full(books.store)), f"seed {seed}"
        found = len(tangled(books.store))
        tangled_hours, plain_hours = tangled_hours + found, plain_hours + len(HOURS) - found
    assert plain_hours > 4
    assert tangled_hours > 4


ONE_PAIR = (gateway_line(1800, **traced(1)), engine_line(1800.01, trace_id=f"{1:032x}"))
TANGLES = {
    "two requests with one trace and an engine row": ([gateway_line(1801, **traced(1))], [], {0}),
    "two requests with one trace that no engine saw": (
        [gateway_line(1900, **traced(2)), gateway_line(1901, **traced(2))],
        [],
        {0},
    ),
    "a second engine row of a trace": ([], [engine_line(1800.02, trace_id=f"{1:032x}", span_id="b")], {0}),
    "an id that both sides have without a trace": (
        [gateway_line(1900, request_id="x")],
        [engine_line(1900.01, request_id="x")],
        {0},
    ),
    "a request whose id an engine row with another trace has": (
        [gateway_line(1900, request_id="x", **traced(2))],
        [engine_line(1900.01, request_id="x", trace_id=f"{3:032x}")],
        {0},
    ),
    "the same in the last ten minutes of an hour: the next one's too": (
        [gateway_line(3300, request_id="x")],
        [engine_line(3300.01, request_id="x")],
        {0, 1},
    ),
}
PLAIN = {
    "pairs alone": ([], []),
    "requests that no engine saw": ([gateway_line(1900, request_id="x"), gateway_line(1901, request_id="x")], []),
    "engine rows that no gateway logged": ([], [engine_line(1900, request_id="y"), engine_line(1901, request_id="y", span_id="b")]),
    "both sides without any id": ([gateway_line(1900, request_id="-")], [engine_line(1900.01, request_id="")]),
    "a pair's id on another request without an engine row": ([gateway_line(1900, request_id="r1")], []),
}  # fmt: skip


@pytest.mark.parametrize("case", TANGLES.values(), ids=TANGLES.keys())
def test_an_hour_is_tangled_by(books, case):
    gateway, engine, expected = case
    books.feed([ONE_PAIR[0], *gateway], [ONE_PAIR[1], *engine])
    assert tangled(books.store) == expected


@pytest.mark.parametrize("case", PLAIN.values(), ids=PLAIN.keys())
def test_an_hour_stays_plain_with(books, case):
    gateway, engine = case
    books.feed([ONE_PAIR[0], *gateway], [ONE_PAIR[1], *engine])
    assert tangled(books.store) == set()
    query = joined_hours(books.store._connection, HOURS, watermark_us(books.store._connection))
    assert rows_of(books.store, query) == rows_of(books.store, full(books.store))
