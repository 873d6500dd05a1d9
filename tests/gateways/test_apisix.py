"""APISIX's JSON: the log object of its plugins and the shipped access log, with the fields of ai-proxy."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

SECRETS = ("prompt of a customer", "sk-apisix", "secret=1", "answer to a customer")
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def plugin_line(**changes):
    whole = {
        "request": {
            "url": "http://inference.example.com:9080/v1/chat/completions?secret=1", "uri": "/v1/chat/completions?secret=1",
            "method": "POST", "querystring": {"secret": "1"}, "size": 900, "body": "prompt of a customer",
            "headers": {"x-request-id": "order-7", "traceparent": TRACEPARENT, "apikey": "sk-apisix"},
        },
        "response": {"status": 200, "size": 2750, "headers": {"content-type": "text/event-stream"}, "body": "answer to a customer"},
        "server": {"hostname": "gw1", "version": "3.14.0"}, "upstream": "10.0.0.11:8000", "service_id": "", "route_id": "chat",
        "consumer": {"username": "acme"}, "client_ip": "10.0.1.2", "start_time": 1796025600123, "latency": 900.00014305115,
        "upstream_latency": 880, "apisix_latency": 20.00014305115,
    }  # fmt: skip
    return json.dumps(whole | changes)


def access_line(**changes):
    whole = {
        "msec": "1796025601.023", "request_time": "0.900", "status": "200", "request_id": "order-7", "traceparent": TRACEPARENT,
        "consumer_name": "acme", "method": "POST", "uri": "/v1/chat/completions", "server": "inference.example.com",
        "request_completion": "OK", "upstream_addr": "", "upstream_status": "", "upstream_response_time": "",
        "apisix_upstream_response_time": "870", "request_length": "900", "bytes_sent": "2750", "request_type": "ai_stream",
        "request_llm_model": "default", "llm_model": "llama", "llm_prompt_tokens": "120", "llm_completion_tokens": "40",
        "llm_time_to_first_token": "60",
    }  # fmt: skip
    return json.dumps(whole | changes)


SUMMARY = {
    "request_model": "default", "model": "llama", "duration": 60, "prompt_tokens": 120, "completion_tokens": 40,
    "upstream_response_time": 870, "stream": True, "cache_read_input_tokens": 16,
}  # fmt: skip


def test_a_plugins_line_is_read():
    assert read("apisix-json", plugin_line()) == {
        "time": "1796025601.023000",
        "request_time": "0.900000",
        "upstream_response_time": "0.880000",
        "status": "200",
        "method": "POST",
        "uri": "/v1/chat/completions?secret=1",  # whoever writes the canonical line cuts it
        "server": "chat",
        "upstream_addr": "10.0.0.11:8000",
        "request_length": "900",
        "bytes_sent": "2750",
        "request_id": "order-7",
        "traceparent": TRACEPARENT,
        "tenant": "acme",
        "stream": "true",
    }


def test_the_shipped_access_log_is_read():
    assert read("apisix-json", access_line()) == {
        "time": "1796025601.023000",
        "request_time": "0.900000",
        "status": "200",
        "request_id": "order-7",
        "traceparent": TRACEPARENT,
        "tenant": "acme",
        "method": "POST",
        "uri": "/v1/chat/completions",
        "server": "inference.example.com",
        "request_completion": "OK",
        "request_length": "900",
        "bytes_sent": "2750",
        "stream": "true",
        "model": "llama",
        "prompt_tokens": "120",
        "completion_tokens": "40",
        "forwarded": "0.030000",
        "time_to_first_token": "0.090000",
    }


def test_a_plugins_summary_of_the_model_is_read():
    fields = read(
        "apisix-json", plugin_line(llm_summary=SUMMARY, llm_request={"messages": ["prompt of a customer"]})
    )
    expected = {
        "model": "llama", "prompt_tokens": "120", "completion_tokens": "40", "cached_tokens": "16", "stream": "true",
        "forwarded": "0.030000", "time_to_first_token": "0.090000",
    }  # fmt: skip
    assert {key: fields[key] for key in expected} == expected


def test_no_body_query_or_other_header_is_read():
    fields = read(
        "apisix-json", plugin_line(llm_summary=SUMMARY, llm_response_text={"content": "answer to a customer"})
    )
    del fields["uri"]  # its query is cut by whoever writes the canonical line
    assert not [secret for secret in SECRETS if secret in json.dumps(fields)]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"apisix_upstream_response_time": ""}, {"forwarded": None, "time_to_first_token": None, "model": "llama"}),
        ({"apisix_upstream_response_time": "901"}, {"forwarded": None, "time_to_first_token": None}),
        ({"apisix_upstream_response_time": "0.870", "request_type": "traditional_http"}, {"upstream_response_time": "0.870", "forwarded": None, "time_to_first_token": None}),
        ({"llm_time_to_first_token": "0"}, {"forwarded": "0.030000", "time_to_first_token": None}),
        ({"request_type": "ai_chat"}, {"stream": "false", "time_to_first_token": None}),
        ({"request_type": "traditional_http"}, {"stream": None}),
        ({"llm_prompt_tokens": "0", "llm_completion_tokens": "0"}, {"prompt_tokens": None, "completion_tokens": None}),
        ({"llm_model": ""}, {"model": "default"}),
        ({"request_completion": ""}, {"request_completion": ""}),
        ({"upstream_addr": "10.0.0.1:1, 10.0.0.2:1", "upstream_response_time": "0.1, 0.7"}, {"upstream_addr": "10.0.0.1:1, 10.0.0.2:1", "upstream_response_time": "0.1, 0.7"}),
        ({"tenant": "by-header"}, {"tenant": "by-header"}),
        ({"consumer_name": ""}, {"tenant": None}),
    ],
    ids=[
        "without the model's time there is no time before it", "a model's time beyond the whole is not believed",
        "a time in seconds is nginx's own", "a first token of 0 is not known", "an answer in one piece has no first token of its own", "no model at all",
        "0 tokens are not known", "the model that was asked for", "a request that was not completed", "tries", "a tenant by header", "nobody",
    ],
)  # fmt: skip
def test_the_access_log(changes, expected):
    fields = read("apisix-json", access_line(**changes))
    assert {key: fields.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (plugin_line(latency=None), "latency: absent"),
        (plugin_line(latency="x"), "latency: not a duration"),
        (plugin_line(latency=-3), "latency: negative"),
        (plugin_line(start_time=None), "start_time: not a number of milliseconds"),
        (plugin_line(start_time="now"), "start_time: not a number of milliseconds"),
        (access_line(msec="-"), "msec: not a number of seconds"),
        (access_line(request_time=""), "request_time: absent"),
        (access_line(request_time="0.1, 0.2"), "request_time: not a duration"),
        (f"[{plugin_line()},{plugin_line()}]", "a batch of several requests in one line: set the batch to 1, or split it"),
        (access_line()[:99], "not a JSON object"),
    ],
    ids=[
        "no latency", "a latency of letters", "a negative latency", "no start", "a start of letters", "no time", "no duration",
        "two durations", "a batch of two", "cut",
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_which_field(text, reason):
    assert reason_of("apisix-json", text) == reason


def test_an_unknown_upstream_time_is_not_zero():
    assert "upstream_response_time" not in read("apisix-json", plugin_line(upstream_latency=None))


def test_every_line_of_the_fixture_is_recognised_as_apisixs_alone():
    assert len(lines_of("apisix-json")) >= 4
    assert {frozenset(recognised_by(each)) for each in lines_of("apisix-json")} == {
        frozenset({"apisix-json"})
    }


@given(
    milliseconds=st.integers(0, 10**9), started=st.integers(10**12, 9 * 10**12), status=st.integers(0, 999),
    model=st.text(max_size=20), tokens=st.integers(1, 10**9),
)  # fmt: skip
def test_what_is_written_comes_back(*, milliseconds, started, status, model, tokens):
    ended = started + milliseconds
    lines = (
        plugin_line(start_time=started, latency=milliseconds, response={"status": status}, llm_summary={"model": model, "prompt_tokens": tokens}),
        access_line(
            msec=f"{ended // 1000}.{ended % 1000:03d}", request_time=f"{milliseconds // 1000}.{milliseconds % 1000:03d}",
            status=str(status), llm_model=model, request_llm_model="", llm_prompt_tokens=str(tokens),
        ),
    )  # fmt: skip
    for fields in (read("apisix-json", line) for line in lines):
        assert fields["request_time"] == f"{milliseconds // 1000}.{milliseconds % 1000:03d}000"
        assert fields["time"] == f"{ended // 1000}.{ended % 1000:03d}000"
        assert (fields["status"], fields["prompt_tokens"]) == (str(status), str(tokens))
        assert fields.get("model", "") in {model, ""}


@given(line=mutated(lines_of("apisix-json")))
def test_no_line_is_too_broken_to_be_refused(line):
    read_or_refused("apisix-json", line)
