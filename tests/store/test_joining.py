"""Engine rows find their requests as docs/decisions/0003-joining.md says."""

from __future__ import annotations

import pytest

from tests.store.conftest import engine_line, gateway_line, traced

CLOCKS = ("engine", "queue_us", "prefill_us", "decode_us", "frontend_us", "time_to_first_token_us")
JOINED = ("joined", 400_000, 300_000, 1_100_000, 100_000, 760_000)
UNKNOWN = (None,) * 5


def trace(number):
    return f"{number:032x}"


ONE_REQUEST = {
    "by trace id, whatever the request ids say": (
        gateway_line(**traced(1)),
        [engine_line(trace_id=trace(1), request_id="chatcmpl-other")],
        JOINED,
    ),
    "by trace id even where the host's clock is off by eight minutes": (
        gateway_line(**traced(1)),
        [engine_line(480.0, trace_id=trace(1))],
        JOINED,
    ),
    "by a chat completion's decorated id": (gateway_line(), [engine_line(request_id="chatcmpl-r1")], JOINED),
    "by a completion's id and index": (gateway_line(), [engine_line(request_id="cmpl-r1-0")], JOINED),
    "by an undecorated id": (gateway_line(), [engine_line(request_id="r1")], JOINED),
    "with a client's own suffix kept": (
        gateway_line(request_id="order-7"),
        [engine_line(request_id="chatcmpl-order-7")],
        JOINED,
    ),
    "with a client's own suffix kept on a completion": (
        gateway_line(request_id="order-7"),
        [engine_line(request_id="cmpl-order-7-0")],
        JOINED,
    ),
    "not by stripping a client's own suffix": (
        gateway_line(request_id="order"),
        [engine_line(request_id="order-7")],
        ("none", *UNKNOWN),
    ),
    "by the hex request id that the snippet sends as trace": (
        gateway_line(request_id=trace(7)),
        [engine_line(trace_id=trace(7), request_id="chatcmpl-renamed")],
        JOINED,
    ),
    "to nobody without any id": (
        gateway_line(request_id="-"),
        [engine_line(request_id="")],
        ("none", *UNKNOWN),
    ),
    "to nobody where no engine row is": (gateway_line(), [], ("none", *UNKNOWN)),
    "to nobody when the traces differ and the ids do too": (
        gateway_line(**traced(1), request_id="a"),
        [engine_line(trace_id=trace(2), request_id="chatcmpl-b")],
        ("none", *UNKNOWN),
    ),
    "with a host's uptime as prefill: quarantined": (
        gateway_line(**traced(1)),
        [engine_line(trace_id=trace(1), prefill=1165.0, inference=1166.1)],
        ("quarantined", *UNKNOWN),
    ),
    "with a negative queue: quarantined": (
        gateway_line(**traced(1)),
        [engine_line(trace_id=trace(1), queue=-0.5)],
        ("quarantined", *UNKNOWN),
    ),
    "with a frontend of -2 ms: kept with its sign": (
        gateway_line(**traced(1)),
        [engine_line(trace_id=trace(1), e2e=1.798)],
        ("joined", 400_000, 300_000, 1_100_000, -2_000, 760_000),
    ),
    "with a frontend below -2 ms: quarantined": (
        gateway_line(**traced(1)),
        [engine_line(trace_id=trace(1), e2e=1.797999)],
        ("quarantined", *UNKNOWN),
    ),
    "with a network of -2 ms: kept": (
        gateway_line(**traced(1), request_time="1.898", upstream_response_time="1.898"),
        [engine_line(trace_id=trace(1))],
        ("joined", 400_000, 300_000, 1_100_000, 100_000, 750_000),
    ),
    "with a network below -2 ms: quarantined": (
        gateway_line(**traced(1), request_time="1.897", upstream_response_time="1.897"),
        [engine_line(trace_id=trace(1))],
        ("quarantined", *UNKNOWN),
    ),
    "with an unknown first token where the upstream's time is unknown": (
        gateway_line(**traced(1), upstream_response_time="-"),
        [engine_line(trace_id=trace(1))],
        (*JOINED[:5], None),
    ),
}


@pytest.mark.parametrize("case", ONE_REQUEST.values(), ids=ONE_REQUEST.keys())
def test_one_request_joins(books, case):
    line, engine, expected = case
    books.feed([line], engine)
    assert books.requests(*CLOCKS) == [expected]


def test_phases_of_every_joined_request_add_up_to_end_to_end(books):
    books.feed([gateway_line(**traced(1))], [engine_line(trace_id=trace(1))])
    ((total, queue, prefill, decode, frontend),) = books.requests(
        "end_to_end_us", "queue_us", "prefill_us", "decode_us", "frontend_us"
    )
    network = total - queue - prefill - decode - frontend
    assert network == 2_000_000 - 1_900_000


def test_a_retry_adds_the_queue_of_both_attempts_and_takes_the_clocks_of_the_last(books):
    line = gateway_line(
        **traced(1),
        request_time="6.000",
        upstream_addr="10.0.0.1:8000, 10.0.0.2:8000",
        upstream_status="502, 200",
        upstream_response_time="3.000, 2.500",
    )
    first = engine_line(trace_id=trace(1), queue=0.2, e2e=1.9, completion_tokens=5)
    second = engine_line(
        3.1,
        trace_id=trace(1),
        instance="engine-b",
        queue=0.7,
        prefill=0.5,
        decode=1.0,
        inference=1.5,
        e2e=2.3,
    )
    books.feed([line], [second, first])
    assert books.requests(
        "attempts", *CLOCKS[:-1], "completion_tokens", "prompt_tokens", "decode_tokens"
    ) == [(2, "joined", 900_000, 500_000, 1_000_000, 100_000, 55, 100, 50)]


def test_an_attempt_without_an_engine_row_adds_nothing(books):
    line = gateway_line(
        **traced(1), upstream_addr="10.0.0.1:8000 : 10.0.0.2:8000", upstream_response_time="- : 1.990"
    )
    books.feed([line], [engine_line(trace_id=trace(1))])
    assert books.requests("attempts", *CLOCKS) == [(2, *JOINED)]


def test_an_earlier_attempt_with_an_impossible_row_adds_nothing(books):
    line = gateway_line(
        **traced(1), request_time="6.000", upstream_response_time="3.9, 2.0", upstream_addr="a, b"
    )
    books.feed(
        [line],
        [
            engine_line(trace_id=trace(1), queue=-3.0),
            engine_line(3.99, trace_id=trace(1), instance="engine-b"),
        ],
    )
    assert books.requests("engine", "queue_us") == [("joined", 400_000)]


def test_when_the_final_attempt_is_impossible_an_earlier_one_does_not_stand_in_for_it(books):
    line = gateway_line(
        **traced(1), request_time="6.000", upstream_response_time="3.9, 2.0", upstream_addr="a, b"
    )
    books.feed(
        [line],
        [
            engine_line(trace_id=trace(1)),
            engine_line(3.99, trace_id=trace(1), instance="engine-b", queue=-3.0),
        ],
    )
    assert books.requests(*CLOCKS) == [("quarantined", *UNKNOWN)]


def test_of_several_sequences_the_last_to_finish_gives_the_clocks_and_completions_add_up(books):
    children = [
        engine_line(
            trace_id=trace(1),
            span_id=f"{number:016x}",
            decode=decode,
            inference=0.3 + decode,
            e2e=0.8 + decode,
        )
        for number, decode in enumerate((0.5, 1.1, 0.9))
    ]
    books.feed([gateway_line(**traced(1))], children)
    assert books.requests("engine", "decode_us", "queue_us", "prompt_tokens", "completion_tokens") == [
        ("joined", 1_100_000, 400_000, 100, 150)
    ]


def test_the_prompts_of_one_completion_request_add_up(books):
    rows = [
        engine_line(
            0.01 + number / 1000, trace_id=trace(1), request_id=f"cmpl-r1-{number}", prompt_tokens=10 + number
        )
        for number in range(3)
    ]
    books.feed([gateway_line(**traced(1))], rows)
    assert books.requests("engine", "prompt_tokens", "completion_tokens") == [("joined", 33, 150)]


def test_an_id_that_repeats_hours_apart_joins_each_time(books):
    books.feed(
        [gateway_line(0), gateway_line(1500)],
        [engine_line(0.01), engine_line(1500.01, queue=0.5, e2e=2.0, span_id="b")],
    )
    assert books.requests("engine", "queue_us") == [("joined", 400_000), ("joined", 500_000)]


def test_an_id_that_repeats_within_seconds_joins_in_time_order(books):
    books.feed(
        [gateway_line(0), gateway_line(3)],
        [engine_line(3.01, queue=0.3, e2e=1.8), engine_line(0.01)],
    )
    assert books.requests("engine", "queue_us") == [("joined", 400_000), ("joined", 300_000)]


def test_of_two_requests_with_one_id_and_one_engine_row_the_nearest_has_it(books):
    books.feed([gateway_line(0), gateway_line(3)], [engine_line(3.01)])
    assert books.requests("engine") == [("none",), ("joined",)]


def test_two_requests_with_one_id_at_one_moment_stay_unjoined_and_are_counted(books):
    books.feed(
        [gateway_line(0, tenant="a"), gateway_line(0.001, tenant="b")],
        [engine_line(0.01), engine_line(0.0101)],
    )
    assert "joined" not in [state for (state,) in books.requests("engine")]
    assert "ambiguous" in [state for (state,) in books.requests("engine")]


def test_two_engine_rows_for_one_logged_attempt_are_ambiguous_without_a_trace(books):
    books.feed([gateway_line(0)], [engine_line(0.01), engine_line(0.5)])
    assert books.requests("engine") == [("ambiguous",)]


def test_a_trace_match_evicts_the_weaker_claim_of_the_same_id(books):
    books.feed(
        [gateway_line(0, **traced(1)), gateway_line(0.5)],
        [engine_line(0.01, trace_id=trace(1)), engine_line(0.505, queue=0.1, e2e=1.6)],
    )
    assert books.requests("engine", "queue_us") == [("joined", 400_000), ("joined", 100_000)]


def test_the_offset_learned_from_traces_serves_the_rows_without(books):
    """The host runs 40 s ahead: without the offset the repeated id would go to the wrong request."""
    pairs = [(gateway_line(number, request_id=f"t{number}", **traced(number + 1)),
              engine_line(number + 40.01, trace_id=trace(number + 1), request_id="chatcmpl-x")) for number in range(5)]  # fmt: skip
    repeated = [gateway_line(100, request_id="same"), gateway_line(140, request_id="same")]
    rows = [
        engine_line(140.01, request_id="chatcmpl-same", queue=0.1, e2e=1.6),
        engine_line(180.01, request_id="chatcmpl-same", queue=0.2, e2e=1.7),
    ]
    books.feed([line for line, _ in pairs] + repeated, [row for _, row in pairs] + rows)
    assert books.requests("queue_us", order="received_at")[-2:] == [(100_000,), (200_000,)]


def test_an_engine_row_is_claimed_once_across_an_hour_boundary(books):
    books.feed(
        [gateway_line(-1.0), gateway_line(1.0)],
        [engine_line(-0.99), engine_line(1.01, queue=0.3, e2e=1.8)],
    )
    assert books.requests("engine", "queue_us") == [("joined", 400_000), ("joined", 300_000)]


def test_engine_tokens_fill_in_what_the_gateway_does_not_log(books):
    books.feed(
        [gateway_line(**traced(1), prompt_tokens="7", completion_tokens="-")],
        [engine_line(trace_id=trace(1))],
    )
    assert books.requests("prompt_tokens", "completion_tokens", "cached_tokens") == [(7, 50, None)]


def test_of_many_repeats_within_a_minute_each_engine_row_finds_its_own(books):
    """More than two neighbours on either side: what the engine keeps of the last two must be put in order."""
    moments = [0.0, 0.8, 1.7, 2.9, 3.3, 6.0, 6.4, 7.9, 9.1, 12.0]
    books.feed(
        [gateway_line(at, request_time="0.300", upstream_response_time="0.300") for at in moments],
        [
            engine_line(
                at + 0.004, queue=0.01 + number / 1000, prefill=0.02, decode=0.03, inference=0.05, e2e=0.2
            )
            for number, at in enumerate(moments)
        ],
    )
    assert books.requests("engine", "queue_us") == [
        ("joined", 10_000 + 1_000 * number) for number in range(len(moments))
    ]
