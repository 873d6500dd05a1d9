"""Kong's log object: milliseconds, tries, consumers and the statistics of its AI plugins."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

STARTED_MS = 1_796_025_600_123
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SECRETS = ("prompt of a customer", "sk-kong", "secret=1", "answer to a customer")


def said(**changes):
    whole = {
        "request": {
            "id": "9ec9264afbbbad5fe5c64877d92eeb04", "method": "POST", "size": 900, "uri": "/v1/chat/completions?secret=1",
            "url": "https://inference.example.com:443/v1/chat/completions?secret=1", "querystring": {"secret": "1"},
            "headers": {"x-request-id": "order-7", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "x-api-key": "sk-kong"},
        },
        "response": {"status": 200, "size": 2750, "headers": {"content-type": "text/event-stream"}},
        "tries": [
            {"ip": "10.0.0.11", "port": 8000, "balancer_start": STARTED_MS + 5, "balancer_latency": 0, "state": "failed", "code": 502},
            {"ip": "10.0.0.12", "port": 8000, "balancer_start": STARTED_MS + 25, "balancer_latency": 0},
        ],
        "latencies": {"request": 900, "kong": 5, "proxy": 40, "receive": 850},
        "route": {"name": "chat"}, "service": {"name": "engines"}, "consumer": {"username": "acme", "custom_id": "c-1"},
        "client_ip": "10.0.1.2", "started_at": STARTED_MS, "upstream_status": "502, 200", "workspace": "default",
        "ai": {
            "proxy": {
                "meta": {"provider_name": "openai", "request_model": "llama", "response_model": "llama-8b", "request_mode": "stream"},
                "usage": {"prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160, "time_to_first_token": 60, "cost": 0},
                "payload": {"request": "prompt of a customer", "response": "answer to a customer"},
            },
        },
    }  # fmt: skip
    return whole | changes


def line(**changes):
    return json.dumps(said(**changes))


def ai(meta=None, usage=None, plugin="proxy"):
    return {plugin: {"meta": {"request_model": "llama"} | (meta or {}), "usage": usage or {}}}


def test_a_line_is_read():
    assert read("kong-json", line()) == {
        "time": "1796025601.023000",
        "request_time": "0.900000",
        "status": "200",
        "method": "POST",
        "uri": "/v1/chat/completions",
        "server": "chat",
        "upstream_addr": "10.0.0.11:8000, 10.0.0.12:8000",
        "upstream_status": "502, 200",
        "forwarded": "0.025000",
        "request_length": "900",
        "bytes_sent": "2750",
        "request_id": "order-7",
        "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01",
        "tenant": "acme",
        "stream": "true",
        "model": "llama",
        "prompt_tokens": "120",
        "completion_tokens": "40",
        "time_to_first_token": "0.085000",
    }


def test_no_body_query_or_other_header_is_read():
    assert not [secret for secret in SECRETS if secret in json.dumps(read("kong-json", line()))]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tries": []}, {"forwarded": None, "time_to_first_token": None, "upstream_addr": None}),
        ({"tries": None}, {"forwarded": None, "time_to_first_token": None}),
        ({"tries": [{"ip": "10.0.0.11", "port": 8000, "balancer_start": STARTED_MS - 4}]}, {"forwarded": None}),
        ({"tries": [{"ip": "2001:db8::1", "port": 8000, "balancer_start": STARTED_MS}]}, {"upstream_addr": "[2001:db8::1]:8000", "forwarded": "0.000000"}),
        ({"tries": [{}, {"ip": "10.0.0.12", "port": 8000}]}, {"upstream_addr": "-, 10.0.0.12:8000"}),
        ({"latencies": {"request": 900.25, "proxy": -1}}, {"request_time": "0.900250"}),
        ({"response": {"status": 499, "size": 0}}, {"status": "499"}),
        ({"consumer": {"custom_id": "c-1"}}, {"tenant": "c-1"}),
        ({"consumer": None}, {"tenant": None}),
        ({"request": {"id": "9ec9", "headers": {"X-Tenant": "acme"}}, "consumer": None}, {"tenant": "acme", "request_id": "9ec9"}),
        ({"request": {"headers": {"authorization": "Bearer sk-1"}}}, {"api_key": "sk-1"}),
        ({"request": {"headers": {"authorization": "REDACTED"}}}, {"api_key": None}),
        ({"request": {"headers": {}}, "trace_id": {"w3c": TRACE}}, {"traceparent": f"00-{TRACE}-0000000000000001-01"}),
        ({"started_at": 1796025600000.5}, {"time": "1796025600.900500"}),
    ],
    ids=[
        "without a try nothing was handed on", "nor with tries unknown", "a try before the start is not believed",
        "an IPv6 engine", "a try that went nowhere", "fractions of a millisecond", "a client that left", "a consumer by its other id",
        "nobody", "a tenant by header", "a key is for the tenant's sake", "a redacted key is none", "Kong's own trace", "a start with a fraction",
    ],
)  # fmt: skip
def test_fields(changes, expected):
    fields = read("kong-json", line(**changes))
    assert {key: fields.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [
        (ai(usage={"prompt_tokens": 0, "completion_tokens": 0, "time_to_first_token": 0}), {"prompt_tokens": None, "completion_tokens": None, "time_to_first_token": None}),
        (ai(usage={"prompt_token": 7, "completion_token": 8}, plugin="ai-proxy"), {"model": "llama", "prompt_tokens": "7", "completion_tokens": "8"}),
        (ai(meta={"request_model": "UNSPECIFIED", "response_model": "llama-8b"}), {"model": "llama-8b"}),
        (ai(meta={"request_mode": "oneshot"}, usage={"time_to_first_token": 60}), {"stream": "false", "time_to_first_token": None}),
        (ai(usage={"prompt_tokens": -5, "completion_tokens": 1e30}), {"prompt_tokens": None, "completion_tokens": None}),
        ({"payload": {"request": "prompt"}}, {"model": None, "stream": "true"}),
        ("no object", {"model": None}),
    ],
    ids=[
        "0 is not known", "an older plugin's names", "a model not said", "an answer in one piece has no first token of its own",
        "counts that are none", "payloads only", "no object",
    ],
)  # fmt: skip
def test_statistics_of_models(statistics, expected):
    fields = read("kong-json", line(ai=statistics))
    assert {key: fields.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (line(latencies={}), "latencies.request: absent"),
        (line(latencies={"request": "long"}), "latencies.request: not a duration"),
        (line(latencies={"request": -1}), "latencies.request: negative"),
        (line(started_at=None), "started_at: absent"),
        (line(started_at="yesterday"), "started_at: not a number of milliseconds"),
        (line(started_at=-1), "started_at: not a number of milliseconds"),
        (f"[{line()},{line()}]", "a batch of several requests in one line: set the batch to 1, or split it"),
        ("[]", "a batch of several requests in one line: set the batch to 1, or split it"),
        (line()[:-1], "not a JSON object"),
        ("", "not a JSON object"),
    ],
    ids=[
        "no time", "a time of letters", "a negative time", "no start", "a start of letters", "a negative start", "a batch of two",
        "an empty batch", "cut", "nothing",
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_which_field(text, reason):
    assert reason_of("kong-json", text) == reason


def test_a_batch_of_one_is_read():
    assert read("kong-json", f"[{line()}]") == read("kong-json", line())


def test_every_line_of_the_fixture_is_recognised_as_kongs_alone():
    assert len(lines_of("kong-json")) >= 4
    assert {frozenset(recognised_by(each)) for each in lines_of("kong-json")} == {frozenset({"kong-json"})}


@given(
    milliseconds=st.integers(0, 10**9), started=st.integers(10**12, 9 * 10**12), waited=st.integers(0, 10**6),
    status=st.integers(0, 999), tenant=st.text(max_size=20), tokens=st.integers(1, 10**9),
)  # fmt: skip
def test_what_is_written_comes_back(*, milliseconds, started, waited, status, tenant, tokens):
    fields = read(
        "kong-json",
        line(
            latencies={"request": milliseconds}, started_at=started, response={"status": status}, consumer={"username": tenant},
            tries=[{"ip": "10.0.0.1", "port": 1, "balancer_start": started + waited}], ai=ai(usage={"prompt_tokens": tokens}),
        ),
    )  # fmt: skip
    assert fields["request_time"] == f"{milliseconds // 1000}.{milliseconds % 1000:03d}000"
    assert fields["time"] == f"{(started + milliseconds) // 1000}.{(started + milliseconds) % 1000:03d}000"
    assert fields["forwarded"] == f"{waited // 1000}.{waited % 1000:03d}000"
    assert (fields["status"], fields["prompt_tokens"]) == (str(status), str(tokens))
    assert fields.get("tenant", "") in {tenant, ""}


@given(line=mutated(lines_of("kong-json")))
def test_no_line_is_too_broken_to_be_refused(line):
    read_or_refused("kong-json", line)
