"""Envoy's and Istio's logs: start plus duration, response flags, what a client can make up."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

# 2026-11-30 08:00:00.100 UTC
STARTED_US = 1_796_025_600_100_000


def text_line(*, start="2026-11-30T08:00:00.100Z", request="POST /v1/chat/completions HTTP/1.1", code="200", flags="-", received="912",
              sent="2750", duration="1250", service="38", caller='"203.0.113.9" "curl/8.5.0" "order-7" "llm.example"', host="10.1.0.5:8000"):  # fmt: skip
    return f'[{start}] "{request}" {code} {flags} {received} {sent} {duration} {service} {caller} "{host}"'


def json_line(**changes):
    said = {
        "start_time": "2026-11-30T08:00:00.100Z", "method": "POST", "path": "/v1/chat/completions", "protocol": "HTTP/1.1",
        "response_code": 200, "response_flags": "-", "bytes_received": 912, "bytes_sent": 2750, "duration": 1250,
        "upstream_service_time": "38", "request_id": "order-7", "authority": "llm.example", "upstream_host": "10.1.0.5:8000",
    }  # fmt: skip
    return json.dumps({key: value for key, value in (said | changes).items() if value is not ...})


COMMON = {
    "time": "1796025601.350000",
    "request_time": "1.250000",
    "status": "200",
    "method": "POST",
    "uri": "/v1/chat/completions",
    "request_id": "order-7",
    "server": "llm.example",
    "upstream_addr": "10.1.0.5:8000",
    "upstream_header_time": "0.038000",
    "request_length": "912",
    "bytes_sent": "2750",
}


def test_the_default_text_is_read():
    assert read("envoy", text_line()) == COMMON


def test_istios_text_is_read():
    assert read("istio", lines_of("istio")[0]) == COMMON | {
        "request_id": "6a1f9e2c-4b7d-9c3e-8f10-2a3b4c5d6e7f",
        "server": "vllm:8000",
    }


def test_json_is_read():
    assert read("envoy-json", json_line()) == COMMON


@pytest.mark.parametrize("name", ["envoy", "istio", "envoy-json"])
def test_each_line_of_the_fixture_is_read_and_recognised_by_its_format_alone(name):
    for line in lines_of(name):
        assert read(name, line)["time"] > "1796025600"
        assert recognised_by(line) == {name}


@pytest.mark.parametrize(
    ("code", "flags", "expected"),
    [
        pytest.param("504", "UT", {"status": "504", "timeout": "1"}, id="the upstream took too long"),
        pytest.param("200", "SI", {"status": "200", "timeout": "1"}, id="a stream that stopped and was timed out"),
        pytest.param("200", "DC", {"status": "200", "client_cancelled": "1"}, id="the client left in the stream"),
        pytest.param("0", "DC", {"status": "0", "client_cancelled": "1"}, id="the client left before an answer"),
        pytest.param("200", "UC", {"status": "200", "incomplete": "1"}, id="the upstream died in the stream"),
        pytest.param("0", "UC", {"status": "502", "incomplete": "1"}, id="the upstream died, no answer: no client's doing"),
        pytest.param("0", "DC,UC", {"status": "0", "client_cancelled": "1"}, id="the client left, and the upstream was cut off"),
        pytest.param("503", "DC", {"status": "503"}, id="the client left after it was refused"),
        pytest.param("503", "UO", {"status": "503", "incomplete": "1"}, id="the circuit is open"),
        pytest.param("503", "RL", {"status": "503", "limit_req_status": "REJECTED"}, id="limited, answered 503"),
        pytest.param("429", "RL", {"status": "429"}, id="limited"),
        pytest.param("404", "NR", {"status": "404"}, id="no route"),
    ],
)  # fmt: skip
def test_response_flags_say_whose_doing_it_was(code, flags, expected):
    by_text, by_json = (
        read("envoy", text_line(code=code, flags=flags)),
        read("envoy-json", json_line(response_code=int(code), response_flags=flags)),
    )
    expected = expected | {"error_code": flags}
    assert by_text == by_json == {key: value for key, value in COMMON.items() if key != "status"} | expected


def test_long_flags_are_the_short_ones():
    flags = "UpstreamConnectionFailure,UpstreamRetryLimitExceeded"
    assert read("envoy-json", json_line(response_flags=flags))["error_code"] == "UF,URX"


@pytest.mark.parametrize(
    ("changes", "forwarded"),
    [
        pytest.param({}, None, id="the service time alone does not say"),
        pytest.param({"response_duration": 58}, "0.020000", id="first byte less service time"),
        pytest.param({"request_tx_duration": 15}, "0.015000", id="the time it was sent on"),
        pytest.param({"response_duration": 30}, None, id="less than the service time: impossible"),
        pytest.param({"response_duration": -1}, None, id="never"),
    ],
)
def test_when_it_was_handed_on_is_known_where_envoy_says(changes, forwarded):
    assert read("envoy-json", json_line(**changes)).get("forwarded") == forwarded


def test_of_several_names_for_one_thing_the_best_counts():
    line = json_line(
        **{"x-envoy-original-path": "/v1/asked", "x-request-id": "other", "path": "/v1/rewritten"}
    )
    fields = read("envoy-json", line)
    assert (fields["uri"], fields["request_id"]) == ("/v1/asked", "order-7")


def test_of_several_attempts_the_last_upstream_is_known():
    assert (
        read("envoy-json", json_line(upstream_request_attempt_count=3))["upstream_addr"]
        == "-, -, 10.1.0.5:8000"
    )


def test_what_a_client_writes_between_quotes_moves_nothing_that_is_measured():
    forged = '"203.0.113.9" "x" "forged" "other" "6.6.6.6:1" 0 0 "curl" "order-7" "llm.example"'
    fields = read("envoy", text_line(caller=forged))
    assert fields == COMMON


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(text_line(duration="-"), "DURATION: absent", id="no duration"),
        pytest.param(text_line(duration="-5"), "DURATION: negative", id="a negative duration"),
        pytest.param(text_line(duration="soon"), "DURATION: not a duration", id="a duration in words"),
        pytest.param(
            text_line(start="2026-11-30T08:00:00"), "START_TIME: not a time", id="a start without a zone"
        ),
        pytest.param(
            text_line(start="2026-13-30T08:00:00Z"), "START_TIME: not a time", id="a thirteenth month"
        ),
        pytest.param(
            text_line()[:60], "not a line of Envoy's default text format", id="a line that breaks off"
        ),
        pytest.param("", "not a line of Envoy's default text format", id="nothing"),
    ],
)
def test_hostile_text_is_refused_with_field_and_fault(line, reason):
    assert reason_of("envoy", line) == reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(json_line(duration=...), "DURATION: absent", id="no duration"),
        pytest.param(json_line(duration=None), "DURATION: absent", id="a null duration"),
        pytest.param(json_line(duration={}), "DURATION: absent", id="an object for a duration"),
        pytest.param(json_line(duration="1e400"), "DURATION: not a duration", id="an endless duration"),
        pytest.param(json_line(start_time=...), "START_TIME: absent", id="no start"),
        pytest.param('{"duration":NaN}', "not a JSON object", id="NaN"),
        pytest.param("[" * 100_000, "not a JSON object", id="brackets without end"),
        pytest.param('"a text"', "not a JSON object", id="a text"),
        pytest.param('{"duration":1', "not a JSON object", id="a line that breaks off"),
    ],
)
def test_hostile_json_is_refused_with_field_and_fault(line, reason):
    assert reason_of("envoy-json", line) == reason


def test_a_long_line_of_quotes_takes_no_time_that_grows_with_its_square():
    line = text_line(caller='"' + '" 0 0 0 0 "' * 80_000 + '" "a" "b" "c"')
    assert read("envoy", line)["server"] == "c"
    assert reason_of("istio", line)


@given(
    us=st.integers(0, 4_000_000_000_000_000).map(lambda each: each // 1000 * 1000),
    duration_ms=st.integers(0, 2_592_000_000),
    code=st.integers(0, 599),
)
def test_what_is_written_comes_back(us, duration_ms, code):
    seconds = f"{us // 1_000_000}.{us % 1_000_000 // 1000:03d}"
    fields = read("envoy-json", json_line(start_time=seconds, duration=duration_ms, response_code=code))
    end_us = us + duration_ms * 1000
    assert fields["time"] == f"{end_us // 1_000_000}.{end_us % 1_000_000:06d}"
    assert fields["request_time"] == f"{duration_ms // 1000}.{duration_ms % 1000:03d}000"
    assert fields["status"] == str(code)


@given(name=st.sampled_from(["envoy", "istio", "envoy-json"]), data=st.data())
def test_no_line_breaks_a_reader(name, data):
    read_or_refused(name, data.draw(mutated(lines_of(name)) | st.binary(max_size=300)))
