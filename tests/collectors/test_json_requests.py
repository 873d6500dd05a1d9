"""OTLP in JSON as it is met: other cases, other types, broken spans."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.otlp.json_encoding import decode_json
from collectors.otlp.problems import MalformedRequest
from tests.collectors.otlp_requests import GOOD_LINE, NOTHING, START_NS, good_span, json_of, request_of


def json_span(**changes):
    span = json.loads(json_of(request_of(good_span())))["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    return {key: value for key, value in {**span, **changes}.items() if value != NOTHING}


def json_request(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


BARE = {key: value for key, value in GOOD_LINE.items() if key != "instance"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"traceId": "AAAAAAAAAAAAAAAAAAAAAQ=="}, {}, id="a trace id in base64"),
        pytest.param({"traceId": "AAAAAAAAAAAAAAAAAAAAAQ"}, {}, id="a trace id in base64 without padding"),
        pytest.param(
            {"traceId": "-_-_-_-_-_-_-_-_-_-_-w=="},
            {"trace_id": "fbffbffbffbffbffbffbffbffbffbffb"},
            id="a trace id in base64url",
        ),
        pytest.param({"spanId": "AAAAAAAAAAE="}, {}, id="a span id in base64"),
        pytest.param(
            {"traceId": "ABCDEF00000000000000000000000001"},
            {"trace_id": "abcdef00000000000000000000000001"},
            id="a trace id in capitals",
        ),
        pytest.param(
            {"traceId": None, "spanId": ""}, {"trace_id": "", "span_id": ""}, id="null and empty ids"
        ),
        pytest.param(
            {"traceId": NOTHING, "trace_id": "0" * 31 + "2", "spanId": NOTHING, "span_id": "0" * 15 + "3"},
            {"trace_id": "0" * 31 + "2", "span_id": "0" * 15 + "3"},
            id="ids under snake_case",
        ),
        pytest.param({"startTimeUnixNano": START_NS}, {}, id="a time as a number"),
        pytest.param(
            {"startTimeUnixNano": 1.795980364086605824e18},
            {"start_ns": str(int(1.795980364086605824e18))},
            id="a time as a rounded number",
        ),
        pytest.param(
            {"startTimeUnixNano": NOTHING, "start_time_unix_nano": str(START_NS)},
            {},
            id="a time under snake_case",
        ),
        pytest.param({"startTimeUnixNano": NOTHING}, {"start_ns": "0"}, id="no time is 0, as in protobuf"),
        pytest.param({"startTimeUnixNano": "-5"}, {"start_ns": "-5"}, id="a negative time is kept as found"),
        pytest.param({"unheardOf": {"a": [1]}, "flags": 1, "status": None}, {}, id="unknown fields"),
    ],
)
def test_json_spans(changes, expected):
    lines = decode_json(json.dumps(json_request(json_span(**changes)))).lines
    assert [json.loads(line) for line in lines] == [BARE | expected]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"doubleValue": 1}, "1.0", id="a whole number"),
        pytest.param({"doubleValue": "0.5"}, "0.5", id="a number in text"),
        pytest.param({"doubleValue": "NaN"}, "nan", id="NaN in text"),
        pytest.param({"doubleValue": "-Infinity"}, "-inf", id="minus infinity in text"),
        pytest.param({"double_value": 0.5}, "0.5", id="snake_case"),
        pytest.param({"doubleValue": None, "intValue": 3}, "3", id="a null beside a value"),
        pytest.param({"intValue": "7"}, "7", id="an integer in text"),
        pytest.param({"intValue": 7}, "7", id="an integer as a number"),
        pytest.param({"intValue": 1e30}, "unreadable", id="an integer beyond 64 bits"),
        pytest.param({"intValue": "9" * 5000}, "unreadable", id="an integer of thousands of digits"),
        pytest.param({"doubleValue": {}}, "unreadable", id="an object"),
        pytest.param({"doubleValue": 10**400}, "unreadable", id="a number beyond floats"),
        pytest.param({"kvlistValue": {"values": []}}, "unreadable", id="a list of pairs"),
        pytest.param(0.5, "unreadable", id="a bare number"),
        pytest.param({"doubleValue": None}, NOTHING, id="null"),
        pytest.param(None, NOTHING, id="no value"),
    ],
)
def test_json_values(value, expected):
    span = json_span()
    span["attributes"] = [
        {"key": "gen_ai.latency.e2e", "value": value},
        {"key": "gen_ai.request.id", "value": {"stringValue": "x"}},
    ]
    (line,) = decode_json(json.dumps(json_request(span))).lines
    assert json.loads(line).get("e2e", NOTHING) == expected


BAD_TIME = "start time is not a number of nanoseconds"


@pytest.mark.parametrize(
    ("spans", "reasons"),
    [
        pytest.param(
            [json_span(traceId="xyz")],
            ["trace id is not 16 bytes"],
            id="an id that is neither hex nor base64",
        ),
        pytest.param([json_span(traceId=7)], ["trace id is not 16 bytes"], id="an id that is a number"),
        pytest.param([json_span(traceId="0 " * 16)], ["trace id is not 16 bytes"], id="an id with blanks"),
        pytest.param([json_span(startTimeUnixNano="soon")], [BAD_TIME], id="a time that is none"),
        pytest.param([json_span(startTimeUnixNano=True)], [BAD_TIME], id="a time that is true"),
        pytest.param([json_span(startTimeUnixNano="9" * 30)], [BAD_TIME], id="a time beyond 64 bits"),
        pytest.param(
            ["llm_request", 7], ["an element of spans is not an object"] * 2, id="things that are no spans"
        ),
    ],
)
def test_a_bad_json_span_costs_no_neighbour(spans, reasons):
    result = decode_json(json.dumps(json_request(json_span(), *spans, json_span())))
    lines = [json.loads(line) for line in result.lines]
    assert [line["bad"] for line in lines if "bad" in line] == reasons
    assert [line for line in lines if "bad" not in line] == [BARE, BARE]


@pytest.mark.parametrize(
    ("body", "lines", "ignored"),
    [
        pytest.param(
            {"resourceSpans": [None, 3]}, ["an element of resourceSpans is not an object"], 0, id="no objects"
        ),
        pytest.param({"resourceSpans": {}}, ["resourceSpans is not a list"], 0, id="no list"),
        pytest.param(
            {"resourceSpans": [{"scopeSpans": 3}]}, ["scopeSpans is not a list"], 0, id="no list of scopes"
        ),
        pytest.param({"resource_spans": [{"scope_spans": [{"spans": []}]}]}, [], 0, id="snake_case"),
        pytest.param(
            {"resourceSpans": [{"resource": 3, "scopeSpans": []}]}, [], 0, id="a resource that is a number"
        ),
        pytest.param({"resourceLogs": []}, [], 1, id="logs are another signal"),
        pytest.param({"resourceMetrics": []}, [], 1, id="metrics are another signal"),
    ],
)
def test_json_requests(body, lines, ignored):
    result = decode_json(json.dumps(body))
    assert [json.loads(line)["bad"] for line in result.lines] == lines
    assert result.ignored == ignored


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"", "not JSON: Expecting value at character 0", id="nothing"),
        pytest.param(b"{", "not JSON", id="half of it"),
        pytest.param(b"[1]", "not an object with resourceSpans", id="a list"),
        pytest.param(b'{"time":"1"}', "has no resourceSpans", id="a log line"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="a hundred thousand brackets"),
        pytest.param(b"\xff\xfe\x00", "not JSON", id="bytes"),
    ],
)
def test_json_that_is_no_request(body, message):
    with pytest.raises(MalformedRequest, match=message):
        decode_json(body)


def test_json_that_escapes_half_a_character_or_breaks_utf8_keeps_its_neighbours():
    body = json.dumps(json_request(json_span(), json_span())).encode()
    body = body.replace(b"cmpl-req-3-0", b"\\ud800", 1).replace(b"cmpl-req-3-0", b"\xff", 1)
    first, second = (json.loads(line) for line in decode_json(body).lines)
    assert first == BARE | {"request_id": "?"}
    assert second == BARE | {"request_id": "\ufffd"}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["stringValue", "doubleValue", "values"]), inner)
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*json_span(), "trace_id", "links"]), anything), anything, anything)
def test_no_json_makes_the_reader_fail_in_another_way(changes, value, resource):
    span = json_span(**{**changes, "name": "llm_request"})
    if isinstance(span["attributes"], list) and span["attributes"]:
        span["attributes"][0] = value
    body = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span, json_span()]}]}]}
    lines = [json.loads(line) for line in decode_json(json.dumps(body)).lines]
    assert lines[-1]["span_id"] == GOOD_LINE["span_id"]
