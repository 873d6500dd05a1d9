"""A span and the plugin's record of the same sequence are one row, and nothing else becomes one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.model import to_us
from fairclock.store import LineBatch, Query
from fairclock.store.engine_rows import (
    FieldDifference,
    PluginFigures,
    engine_disagreement,
    engine_rows,
    plugin_figures,
)
from tests.store.conftest import HOUR, engine_line, gateway_line

FROM_US, TO_US = to_us(HOUR) - 600_000_000, to_us(HOUR) + 4_200_000_000
COLUMNS = (
    "reporter, hex(trace_id) != repeat('0', 32), instance, prompt_tokens, cached_tokens, completion_tokens"
)


def span(at=1.0, **changes):
    return engine_line(at, **{"trace_id": f"{7:032x}", "finish_reason": None} | changes)


def record(at=1.0, *, number=0, **changes):
    """What the plugin says of the same request: no trace, no time to first token, and more detail."""
    keys = {
        "trace_id": "", "span_id": "", "ttft": None, "cached_tokens": 64, "finish_reason": "stop", "instance": "gpu-1:9",
        "reporter": "plugin", "engine_rank": 3, "preemptions": 2, "record": number,
    }  # fmt: skip
    return engine_line(at, **keys | changes)


@pytest.fixture
def held(store):
    """Stores lines and reads the rows back."""

    def rows(*lines, columns=COLUMNS, as_of=None):
        if lines:
            store.ingest(LineBatch(kind="engine", source="test", lines=lines))
        as_of_us = to_us(as_of or store.watermark())
        query = engine_rows(store._connection, from_us=FROM_US, to_us=TO_US, as_of_us=as_of_us)
        sql = f"SELECT {columns} FROM ({query.sql}) ORDER BY ALL"
        return store.rows(Query(sql=sql, parameters=query.parameters))

    return rows


def test_both_are_one_row_with_the_trace_of_one_and_the_detail_of_the_other(held):
    names = (
        "reporter, trace_id = unhex(leftPad('7', 32, '0')), span_id, request_id, join_id, instance, engine_rank, preemptions,"
        " finish_reason, time_to_first_token_us, end_to_end_us, queue_us, prefill_us, decode_us, prompt_tokens,"
        " cached_tokens, completion_tokens"
    )
    assert held(span(), record(), columns=names) == [
        ("both", 1, "00f067aa0ba902b7", "chatcmpl-r1", "r1", "gpu-1:9", 3, 2, "stop", 750_000, 1_900_000, 400_000, 300_000,
         1_100_000, 100, 64, 50),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "reporters"),
    [
        ([span()], ["span"]),
        ([record()], ["plugin"]),
        ([span(), record(request_id="chatcmpl-r2")], ["plugin", "span"]),
        ([span(), record(queue=0.400002)], ["plugin", "span"]),
        ([span(), record(prefill=0.300002)], ["plugin", "span"]),
        ([span(), record(decode=1.100002)], ["plugin", "span"]),
        ([span(request_id=None), record(request_id=None)], ["plugin", "span"]),
        ([span(), record(e2e=1.95)], ["both"]),
        ([span(), record(at=1.000001)], ["both"]),
        ([span(), record(completion_tokens=49)], ["both"]),
        ([span(), span(span_id="11f067aa0ba902b7"), record(number=1), record(number=2)], ["both", "both"]),
        ([span(), record(number=1), record(number=2)], ["both", "plugin"]),
        ([span(), span(span_id="11f067aa0ba902b7"), record()], ["both", "span"]),
        ([span(), span(at=90.0, queue=0.1, trace_id=f"{8:032x}"), record(at=90.0, queue=0.1)], ["both", "span"]),
        ([span(), record(), record()], ["both"]),
    ],
    ids=[
        "a span alone",
        "a record alone",
        "another id",
        "another queue",
        "another prefill",
        "another decode",
        "no id",
        "another end to end",
        "a rounded arrival",
        "another number of tokens",
        "two sequences that ended in one step",
        "two such sequences, one span lost",
        "two such sequences, one record dropped",
        "an id used twice, the first record dropped",
        "a record sent twice",
    ],
)  # fmt: skip
def test_what_is_one_row(held, lines, reporters):
    assert [row[0] for row in held(*lines)] == reporters


def test_what_both_know_is_the_spans_and_what_one_does_not_know_the_others(held):
    assert held(span(), record(prompt_tokens=99, completion_tokens=49)) == [
        ("both", 1, "gpu-1:9", 100, 64, 50)
    ]
    assert held(span(at=9.0, queue=0.2, prompt_tokens=None), record(at=9.0, queue=0.2, prompt_tokens=99))[
        1:
    ] == [("both", 1, "gpu-1:9", 100, 64, 50)]


def test_tokens_are_counted_once(held):
    sequences = [{"decode": 1.0 + number / 10, "completion_tokens": 10 + number} for number in range(4)]
    lines = [span(span_id=f"{number:016x}", **each) for number, each in enumerate(sequences)]
    lines += [record(number=number, **each) for number, each in enumerate(sequences)]
    assert held(*lines, columns="count(), sum(completion_tokens), sum(prompt_tokens)") == [(4, 46, 400)]


def test_a_plugins_record_that_comes_later_is_not_there_before(held, store):
    held(span())
    before = store.watermark()
    assert [row[0] for row in held(record())] == ["both"]
    assert [row[0] for row in held(as_of=before)] == ["span"]


def test_without_the_plugin_the_query_is_that_of_the_raw_table(held, store):
    held(span())
    query = engine_rows(store._connection, from_us=FROM_US, to_us=TO_US, as_of_us=to_us(store.watermark()))
    assert "GROUP BY" not in query.sql


def test_the_columns_are_those_of_the_raw_table(held, store):
    held(span())
    as_of_us = to_us(store.watermark())
    shapes = []
    for _ in range(2):
        query = engine_rows(store._connection, from_us=FROM_US, to_us=TO_US, as_of_us=as_of_us)
        described = store.rows(Query(sql=f"DESCRIBE ({query.sql})", parameters=query.parameters))
        shapes.append({row[0]: row[1].replace("LowCardinality(String)", "String") for row in described})
        held(record())
        as_of_us = to_us(store.watermark())
    assert shapes[0] == shapes[1]


@given(
    reported=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), max_size=6
    )
)
@settings(max_examples=15, deadline=None)
def test_as_many_rows_as_the_side_has_that_saw_more(shared_store, reported):
    shared_store.execute(Query(sql="TRUNCATE TABLE engine_requests"))
    lines, expected = [], {}
    for number, (client, queue, spans, records) in enumerate(reported):
        key = {"request_id": f"cmpl-{client}-0", "queue": queue / 10}
        lines += [span(span_id=f"{number:08x}{each:08x}", **key) for each in range(spans)]
        lines += [record(number=10 * number + each, **key) for each in range(records)]
        seen = expected.setdefault((client, queue), [0, 0])
        seen[0] += spans
        seen[1] += records
    if lines:
        shared_store.ingest(LineBatch(kind="engine", source="test", lines=lines))
    query = engine_rows(
        shared_store._connection, from_us=FROM_US, to_us=TO_US, as_of_us=to_us(shared_store.watermark())
    )
    (found,) = shared_store.rows(Query(sql=f"SELECT count() FROM ({query.sql})", parameters=query.parameters))
    assert found[0] == sum(max(seen) for seen in expected.values())


REQUEST = (
    "request_id, hex(trace_id), outcome, engine, attempts, end_to_end_us, queue_us, prefill_us, decode_us, frontend_us,"
    " time_to_first_token_us, prompt_tokens, completion_tokens, decode_tokens"
)


def test_a_plugin_beside_the_spans_changes_no_request_but_for_what_only_it_knows(books):
    """Traced and untraced requests, two sequences of one, an id used again by a request that never reached the engine."""
    traced = {"traceparent": f"00-{7:032x}-{7:016x}-01"}
    gateway = [
        gateway_line(request_id="r1", **traced),
        gateway_line(20.0, request_id="r2"),
        gateway_line(40.0, request_id="r3"),
        gateway_line(60.0, request_id="r1", traceparent=f"00-{9:032x}-{9:016x}-01", status="499"),
    ]
    sequences = [
        (0.01, {"request_id": "chatcmpl-r1", "trace_id": f"{7:032x}"}),
        (20.01, {"request_id": "chatcmpl-r2", "trace_id": ""}),
        (40.01, {"request_id": "cmpl-r3-0", "trace_id": ""}),
        (40.01, {"request_id": "cmpl-r3-1", "trace_id": "", "completion_tokens": 51}),
    ]
    books.feed(gateway, [span(at, **changes) for at, changes in sequences])
    alone = books.requests(REQUEST)
    assert [row[3] for row in alone] == ["joined", "joined", "joined", "none"]
    records = [
        record(at, number=n, **changes | {"trace_id": ""}) for n, (at, changes) in enumerate(sequences)
    ]
    books.feed(engine=records)
    assert books.requests(REQUEST) == alone
    assert books.requests("cached_tokens")[:3] == [(64,), (64,), (128,)]
    books.store.seal()
    assert books.requests(REQUEST) == alone


def test_the_plugin_alone_gives_every_clock_but_the_time_to_first_token(books):
    books.feed([gateway_line()], [record(0.01)])
    assert books.requests("engine, queue_us, prefill_us, decode_us, frontend_us, time_to_first_token_us") == [
        ("joined", 400_000, 300_000, 1_100_000, 100_000, None)
    ]


def test_disagreement_is_measured_where_it_is_certain_who_is_who(held, store):
    held(
        span(), record(number=1, e2e=1.9005),
        span(at=5.0, request_id="chatcmpl-r2"), record(at=5.000001, request_id="chatcmpl-r2", number=2, queue=0.5),
        span(at=6.0, request_id="chatcmpl-r3"), record(at=6.0, request_id="chatcmpl-r3", number=3, prompt_tokens=None),
        span(at=7.0, request_id="chatcmpl-r4"), span(at=8.0, request_id="chatcmpl-r4"),
        record(at=7.0, request_id="chatcmpl-r4", number=4), span(at=9.0, request_id="chatcmpl-r5"),
    )  # fmt: skip
    found = engine_disagreement(
        store._connection, from_us=FROM_US, to_us=TO_US, as_of_us=to_us(store.watermark())
    )
    assert {each.field: (each.pairs, each.differing, each.median, each.greatest) for each in found} == {
        "arrived": (3, 1, 0, 1),
        "end_to_end": (3, 1, 0, 500),
        "queue": (3, 1, 0, 100_000),
        "prefill": (3, 0, 0, 0),
        "decode": (3, 0, 0, 0),
        "prompt_tokens": (2, 0, 0, 0),
        "completion_tokens": (3, 0, 0, 0),
    }
    assert isinstance(found[0], FieldDifference)


def test_an_engines_own_words_are_rows_once_however_often_they_come(store):
    at_ns = to_us(HOUR) * 1000
    started = {"event": "started", "at_ns": str(at_ns), "instance": "gpu-1:9", "engine_rank": 0, "gpus": 4, "device": "cuda",
               "max_num_seqs": 256, "kv_cache_tokens": 1 << 33, "record": 0}  # fmt: skip
    state = {
        "event": "state",
        "at_ns": str(at_ns + 10**9),
        "running": 3,
        "waiting": -1,
        "kv_cache_usage": "nan",
        "record": 1,
    }
    late = {"event": "state", "at_ns": "17"}
    lines = [json.dumps(each).encode() for each in (started, state, late)]
    for _ in range(2):
        counts = store.ingest(LineBatch(kind="engine_state", source="test", lines=lines))
    assert (counts.duplicates, counts.dead_letters) == (2, 1)
    columns = "event, engine_rank, gpus, device, max_num_seqs, kv_cache_tokens, running, waiting, kv_cache_usage_ratio"
    assert store.rows(Query(sql=f"SELECT {columns} FROM engine_states FINAL ORDER BY at")) == [
        ("started", 0, 4, "cuda", 256, 1 << 33, None, None, None),
        ("state", None, None, "", None, None, 3, None, None),
    ]


def test_the_last_days_figures_are_those_of_pairs_and_losses(held, store):
    at_us = to_us(HOUR)
    held(span(), record(e2e=1.95))
    lost = {
        "event": "lost",
        "at_ns": str(at_us * 1000),
        "lost_records": 5,
        "lost_reason": "queue full",
        "record": 9,
    }
    older = lost | {"at_ns": str((at_us - 90_000_000_000) * 1000), "lost_records": 100}
    lines = [json.dumps(each).encode() for each in (lost, older)]
    store.ingest(LineBatch(kind="engine_state", source="test", lines=lines))
    assert plugin_figures(store._connection, now_us=at_us + 200_000_000_000) == PluginFigures()
    found = plugin_figures(store._connection, now_us=at_us + 3_600_000_000)
    assert found.lost_records == 5
    assert {each.field for each in found.differences if each.differing} == {"end_to_end"}
