"""What becomes of spans, good and bad, in both encodings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from collectors.otlp.json_encoding import decode_json
from collectors.otlp.protobuf import decode_protobuf
from tests.collectors.otlp_requests import (
    GOOD_ATTRIBUTES,
    GOOD_LINE,
    NOTHING,
    START_NS,
    good_span,
    json_of,
    request_of,
)


def decoded(request):
    """Decode both encodings, which must agree, and return the lines as objects."""
    from_protobuf = decode_protobuf(request.SerializeToString())
    assert decode_json(json_of(request)) == from_protobuf
    return [json.loads(line) for line in from_protobuf.lines], from_protobuf.ignored


def test_a_span_of_vllm_becomes_one_line_with_every_digit():
    assert decoded(request_of(good_span())) == ([GOOD_LINE], 0)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"trace_id": bytes(16)}, {"trace_id": ""}, id="a trace id of zeros is none"),
        pytest.param({"trace_id": b""}, {"trace_id": ""}, id="no trace id is none"),
        pytest.param({"span_id": bytes(8)}, {"span_id": ""}, id="a span id of zeros is none"),
        pytest.param(
            {"start_time_unix_nano": 0}, {"start_ns": "0"}, id="a missing start is for the store to refuse"
        ),
        pytest.param({"end_time_unix_nano": 0}, {"end_ns": "0"}, id="a missing end is kept as found"),
        pytest.param(
            {"end_time_unix_nano": START_NS - 1},
            {"end_ns": str(START_NS - 1)},
            id="an end before the start is kept as found",
        ),
        pytest.param(
            {"end_time_unix_nano": 2**64 - 1},
            {"end_ns": str(2**64 - 1)},
            id="an unsigned wrap is kept as found",
        ),
    ],
)
def test_ids_and_times(changes, expected):
    assert decoded(request_of(good_span(**changes))) == ([GOOD_LINE | expected], 0)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        pytest.param({"gen_ai.latency.e2e": NAN}, {"e2e": "nan"}, id="NaN is passed on, not 0"),
        pytest.param({"gen_ai.latency.e2e": INF}, {"e2e": "inf"}, id="infinity is passed on"),
        pytest.param({"gen_ai.latency.e2e": -INF}, {"e2e": "-inf"}, id="minus infinity is passed on"),
        pytest.param(
            {"gen_ai.latency.e2e": -1e300}, {"e2e": "-1e+300"}, id="an absurd duration is passed on"
        ),
        pytest.param({"gen_ai.latency.e2e": 0.0}, {"e2e": "0.0"}, id="a real zero stays zero"),
        pytest.param({"gen_ai.latency.e2e": 2}, {"e2e": "2"}, id="whole seconds are seconds"),
        pytest.param({"gen_ai.latency.e2e": "0.25"}, {"e2e": "0.25"}, id="a number in text is a number"),
        pytest.param({"gen_ai.latency.e2e": "quick"}, {"e2e": "unreadable"}, id="text is no duration"),
        pytest.param({"gen_ai.latency.e2e": True}, {"e2e": "unreadable"}, id="a boolean is no duration"),
        pytest.param({"gen_ai.latency.e2e": b"1"}, {"e2e": "unreadable"}, id="bytes are no duration"),
        pytest.param({"gen_ai.latency.e2e": AnyValue()}, {"e2e": NOTHING}, id="an empty value is none"),
        pytest.param({"gen_ai.latency.e2e": None}, {"e2e": NOTHING}, id="a missing duration stays missing"),
        pytest.param({"gen_ai.usage.prompt_tokens": 0}, {"prompt_tokens": 0}, id="no tokens are 0 tokens"),
        pytest.param({"gen_ai.usage.prompt_tokens": 7.0}, {"prompt_tokens": 7}, id="7.0 tokens are 7"),
        pytest.param(
            {"gen_ai.usage.prompt_tokens": 7.5}, {"prompt_tokens": "7.5"}, id="7.5 tokens are not 7"
        ),
        pytest.param(
            {"gen_ai.usage.prompt_tokens": -1}, {"prompt_tokens": -1}, id="-1 tokens are kept as found"
        ),
        pytest.param(
            {"gen_ai.usage.prompt_tokens": NAN}, {"prompt_tokens": "nan"}, id="NaN tokens are not 0"
        ),
        pytest.param(
            {"gen_ai.usage.prompt_tokens": None, "gen_ai.usage.input_tokens": 9},
            {"prompt_tokens": 9},
            id="the newer name of prompt tokens is known",
        ),
        pytest.param(
            {"gen_ai.usage.prompt_tokens": 0, "gen_ai.usage.input_tokens": 9},
            {"prompt_tokens": 0},
            id="a real zero beats the other name",
        ),
        pytest.param({"gen_ai.usage.cached_tokens": 3}, {"cached_tokens": 3}, id="cached tokens"),
        pytest.param({"gen_ai.request.model": "m"}, {"model": "m"}, id="a model, where a span names it"),
        pytest.param(
            {"gen_ai.response.finish_reasons": ["length"]}, {"finish_reason": "length"}, id="a finish reason"
        ),
        pytest.param({"gen_ai.response.finish_reasons": []}, {}, id="an empty list of finish reasons"),
        pytest.param(
            {"gen_ai.request.id": '"\\\n\x00中'}, {"request_id": '"\\\n\x00中'}, id="any text is an id"
        ),
        pytest.param({"gen_ai.request.id": 7}, {"request_id": "7"}, id="a number is an id too"),
        pytest.param({"gen_ai.request.id": None}, {"request_id": NOTHING}, id="no id is none"),
        pytest.param({"fairclock.simulated": True}, {"simulated": True}, id="simulated data says so"),
        pytest.param({"fairclock.simulated": False}, {}, id="and measured data does not"),
        pytest.param({"gen_ai.prompt": "SECRET", "llm.prompts": ["SECRET"]}, {}, id="prompts never enter"),
        pytest.param({"gen_ai.latency.queue_the_next": 1.0}, {}, id="unknown attributes are passed over"),
    ],
)
def test_attributes(attributes, expected):
    wanted = {key: value for key, value in (GOOD_LINE | expected).items() if value != NOTHING}
    assert decoded(request_of(good_span(attributes=attributes))) == ([wanted], 0)


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param(
            {"service.instance.id": "a", "host.name": "h"}, {"instance": "a"}, id="its own id first"
        ),
        pytest.param({"host.name": "h", "process.pid": 7}, {"instance": "h:7"}, id="then host and process"),
        pytest.param(
            {"host.name": "h", "process.pid": 7, "vllm.process_id": 8},
            {"instance": "h:8"},
            id="vLLM's own number first",
        ),
        pytest.param({"host.name": "h", "service.name": "s"}, {"instance": "h"}, id="a host alone"),
        pytest.param(
            {"service.name": "s", "vllm.process_id": "8"}, {"instance": "s:8"}, id="then the service"
        ),
        pytest.param({"service.name": "s"}, {"instance": "s"}, id="a service alone"),
        pytest.param({}, {"instance": NOTHING}, id="nobody"),
        pytest.param(
            {"service.instance.id": b"x", "host.name": "h"}, {"instance": "h"}, id="bytes are no id"
        ),
        pytest.param(
            {"host.name": "h", "gen_ai.request.model": "m"}, {"instance": "h", "model": "m"}, id="a model"
        ),
        pytest.param(
            {"host.name": "h", "fairclock.simulated": True},
            {"instance": "h", "simulated": True},
            id="simulated",
        ),
    ],
)
def test_the_engine_behind_a_span(resource, expected):
    wanted = {key: value for key, value in (GOOD_LINE | expected).items() if value != NOTHING}
    assert decoded(request_of(good_span(), resource=resource)) == ([wanted], 0)


NO_ATTRIBUTES = dict.fromkeys(GOOD_ATTRIBUTES)


@pytest.mark.parametrize(
    "span",
    [
        pytest.param(good_span(name="Allocate KV cache"), id="a span of another name"),
        pytest.param(good_span(name=""), id="a span without a name"),
        pytest.param(good_span(attributes=NO_ATTRIBUTES), id="a span without attributes"),
        pytest.param(
            good_span(attributes=NO_ATTRIBUTES | {"gen_ai.usage.prompt_tokens": 7, "http.route": "/"}),
            id="a span of the same name that another program made",
        ),
    ],
)
def test_spans_that_are_not_of_vllm_are_counted_as_ignored(span):
    assert decoded(request_of(span, good_span())) == ([GOOD_LINE], 1)


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        pytest.param(good_span(trace_id=b"short"), "trace id is not 16 bytes", id="a short trace id"),
        pytest.param(good_span(trace_id=bytes(17)), "trace id is not 16 bytes", id="a long trace id"),
        pytest.param(good_span(span_id=b"1234567"), "span id is not 8 bytes", id="a short span id"),
    ],
)
def test_a_span_that_cannot_be_expressed_is_passed_on_as_bad_and_costs_no_neighbour(span, reason):
    lines, ignored = decoded(request_of(good_span(), span, good_span(2)))
    assert lines[1] == {"bad": reason, "start_ns": str(START_NS), "instance": "gpu-1:4242"}
    assert lines[0] == GOOD_LINE
    assert lines[2]["span_id"] == "0000000000000003"
    assert ignored == 0


def test_no_spans_are_no_lines():
    assert decoded(request_of()) == ([], 0)
    assert (
        decode_protobuf(b"").lines
        == decode_json(b"{}").lines
        == decode_json(b'{"resourceSpans":null}').lines
        == []
    )


def test_nothing_but_the_allow_list_leaves_a_span():
    leaks = {
        "gen_ai.prompt": "SECRET",
        "gen_ai.completion": "SECRET",
        "gen_ai.latency.e2e": "SECRET",
        "user": "SECRET",
    }
    leaks["gen_ai.usage.prompt_tokens"] = "SECRET"
    span = good_span(attributes=leaks, trace_state="SECRET", events=[{"name": "SECRET"}], trace_id=b"SECRET")
    for body in (request_of(span, good_span(attributes=leaks)), request_of(resource={"user": "SECRET"})):
        assert b"SECRET" not in b"".join(decode_protobuf(body.SerializeToString()).lines)
        assert b"SECRET" not in b"".join(decode_json(json_of(body)).lines)


scalars = st.one_of(
    st.floats(),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.text(max_size=12),
    st.binary(max_size=4),
    st.lists(st.text(max_size=5) | st.integers(0, 5), max_size=2),
)


@given(
    st.lists(
        st.builds(
            good_span,
            st.integers(0, 99),
            attributes=st.dictionaries(
                st.sampled_from([*GOOD_ATTRIBUTES, "gen_ai.response.finish_reasons", "x"]),
                scalars | st.none(),
            ),
            trace_id=st.binary(min_size=16, max_size=16),
            name=st.sampled_from(["llm_request", "llm_request", "other"]),
            start_time_unix_nano=st.integers(0, 2**64 - 1),
        ),
        max_size=4,
    ),
    st.dictionaries(
        st.sampled_from(["service.instance.id", "host.name", "process.pid", "gen_ai.request.model"]), scalars
    ),
)
def test_both_encodings_of_a_request_give_the_same_lines(spans, resource):
    lines, ignored = decoded(request_of(*spans, resource=resource))
    assert len(lines) + ignored == len(spans)
