"""What the plugin says from inside real vLLM, held against the span, the answer's own times and vLLM's counters."""

import re

import pytest

from fairclock.demo.live.engine import MODEL_NAME, RUNNING_AT_ONCE
from fairclock.model import to_us
from fairclock.store import Query, open_store
from fairclock.store.engine_rows import engine_disagreement, engine_rows
from tests.live.life import STATE

pytestmark = pytest.mark.integration

EVER_US = 4_000_000_000_000_000
OF_ANSWERS = {
    "queue_time_ms": "queue_us",
    "time_to_first_token_ms": "prefill_us",
    "generation_time_ms": "decode_us",
}
OF_COUNTERS = {
    "e2e_request_latency_seconds": "end_to_end_us",
    "request_queue_time_seconds": "queue_us",
    "request_prefill_time_seconds": "prefill_us",
    "request_decode_time_seconds": "decode_us",
    "request_prompt_tokens": "prompt_tokens",
    "request_generation_tokens": "completion_tokens",
}


@pytest.fixture(scope="module")
def store(result):
    with open_store(f"chdb://{result.store}") as opened:
        yield opened


@pytest.fixture(scope="module")
def read(store):
    """Returns dictionaries of the rows of a query, which may read `{engine_rows}`."""

    def rows(columns, table="engine_rows", rest=""):
        query = engine_rows(store._connection, from_us=0, to_us=EVER_US, as_of_us=to_us(store.watermark()))
        source = f"({query.sql})" if table == "engine_rows" else f"{table} FINAL"
        found = store.rows(Query(sql=f"SELECT {columns} FROM {source} {rest}", parameters=query.parameters))
        names = [
            name.strip().split(" AS ")[-1] for name in re.sub(r"\(.*?\)|DISTINCT ", "", columns).split(",")
        ]
        return [dict(zip(names, row, strict=True)) for row in found]

    return rows


def test_every_finished_request_is_reported_by_both_and_is_one_row(result, read):
    finished = result.totals["request_success_total"]
    assert finished > 40
    assert read("reporter, count() AS rows", rest="GROUP BY reporter") == [
        {"reporter": "both", "rows": finished}
    ]
    of_each = read("reporter, count() AS rows", "engine_requests", "GROUP BY reporter ORDER BY reporter")
    assert of_each == [{"reporter": "plugin", "rows": finished}, {"reporter": "span", "rows": finished}]


def test_plugin_and_span_do_not_differ(store):
    found = engine_disagreement(
        store._connection, from_us=0, to_us=EVER_US, as_of_us=to_us(store.watermark())
    )
    most = {each.field: each.greatest for each in found}
    assert all(each.pairs > 20 for each in found)
    assert most.pop("arrived") <= 1  # the plugin takes it from the end and the duration, which are rounded
    assert most == dict.fromkeys(
        ["completion_tokens", "decode", "end_to_end", "prefill", "prompt_tokens", "queue"], 0
    )


def test_the_times_are_those_of_the_answer(result, read):
    rows = {
        row["trace"]: row for row in read("lower(hex(trace_id)) AS trace, queue_us, prefill_us, decode_us")
    }
    answered = [seen for seen in result.seen if seen.timings]
    assert len(answered) > 15
    for seen in answered:
        said = {column: seen.timings[name] * 1000 for name, column in OF_ANSWERS.items()}
        stored = {column: rows[seen.trace_id][column] for column in said}
        assert stored == pytest.approx(said, abs=0.51)


@pytest.mark.parametrize("name", OF_COUNTERS)
def test_the_sums_are_vllms_own(result, read, name):
    column = OF_COUNTERS[name]
    (found,) = read(f"sum({column}) AS total", "engine_requests", "WHERE reporter = 'plugin'")
    counted, per_unit = result.totals[f"{name}_sum"], 1e6 if column.endswith("_us") else 1
    rounding = result.totals[f"{name}_count"] * 0.51 if per_unit > 1 else 0
    assert counted > 0
    assert found["total"] == pytest.approx(counted * per_unit, abs=rounding)


def test_what_only_the_plugin_knows_is_there(read):
    columns = "trace_id != toFixedString('', 16) AS traced, model, engine_rank, preemptions, finish_reason"
    assert read(f"DISTINCT {columns}") == [
        {"traced": 1, "model": MODEL_NAME, "engine_rank": 0, "preemptions": 0, "finish_reason": "length"}
    ]
    assert read("count() AS unknown", rest="WHERE isNull(cached_tokens)") == [{"unknown": 0}]


def test_the_engine_says_its_settings_its_state_and_its_end(engine_life, read):
    measured = read(STATE, "engine_states", "ORDER BY at")
    states = [*engine_life.began, *measured]
    started, *_, stopped = states
    between = measured[:-1]
    assert (started["event"], stopped["event"]) == ("started", "stopped")
    assert (started["device"], started["gpus"], started["max_num_seqs"]) == ("cpu", 0, RUNNING_AT_ONCE)
    assert started["kv_cache_tokens"] > 100_000
    assert {each["event"] for each in states[1:-1]} == {"state"}
    assert max(each["running"] for each in between) == RUNNING_AT_ONCE
    assert max(each["waiting"] for each in between) > 0
    assert {(each["instance"], each["engine_rank"]) for each in states} == {(started["instance"], 0)}
    assert read("DISTINCT instance") == [{"instance": started["instance"]}]


def test_nothing_was_lost_or_refused(store, read):
    assert read("count() AS lost", "engine_states", "WHERE event = 'lost'") == [{"lost": 0}]
    assert store.rows(Query(sql="SELECT reason FROM dead_letters")) == []
