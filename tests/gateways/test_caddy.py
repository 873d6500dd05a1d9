"""Caddy's JSON access log, in whichever units its encoder writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.formats import format_of
from fairclock.errors import ConfigurationError
from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

TRACE = "00-de1611bb51b54c4192b2722f98e9f68c-de1611bb51b54c41-01"


def line(*without, request=None, answer=None, **changes):
    said = {
        "level": "info", "ts": 1796025600.123456, "logger": "http.log.access.log0", "msg": "handled request",
        "request": {
            "remote_ip": "10.0.1.2", "remote_port": "57520", "client_ip": "10.0.1.2", "proto": "HTTP/2.0", "method": "POST",
            "host": "inference.example.com", "uri": "/v1/chat/completions?user=secret", "headers": {"User-Agent": ["curl"]},
        } | (request or {}),
        "bytes_read": 900, "user_id": "", "duration": 0.900123456, "size": 2750, "status": 200,
        "resp_headers": {"X-Request-Id": ["order-7"], "Traceparent": [TRACE], "X-Tenant": ["acme"], "Content-Type": ["text/event-stream"]}
        | (answer or {}),
    } | changes  # fmt: skip
    return json.dumps(
        {key: value for key, value in said.items() if key not in without}, separators=(",", ":")
    )


def test_a_line_is_read():
    assert read("caddy-json", line()) == {
        "time": "1796025600.123456",
        "request_time": "0.900123",
        "status": "200",
        "method": "POST",
        "uri": "/v1/chat/completions?user=secret",  # whoever writes the canonical line cuts it
        "server": "inference.example.com",
        "bytes_sent": "2750",
        "request_length": "900",
        "stream": "true",
        "request_id": "order-7",
        "traceparent": TRACE,
        "tenant": "acme",
    }


@pytest.mark.parametrize(
    ("ts", "time"),
    [
        (1796025600, "1796025600.000000"),
        (1796025600.5, "1796025600.500000"),
        (1796025600123.456, "1796025600.123456"),
        (1796025600123456789, "1796025600.123456"),
        ("2026-11-30T08:00:00.123Z", "1796025600.123000"),
        ("2026-11-30T16:00:00.123+0800", "1796025600.123000"),
        ("2026-11-30T08:00:00Z", "1796025600.000000"),
        ("2026/11/30 08:00:00.123", "1796025600.123000"),
        ("30/Nov/2026:16:00:00 +0800", "1796025600.000000"),
    ],
    ids=["whole seconds", "seconds", "milliseconds", "nanoseconds", "ISO 8601", "ISO 8601 in a zone", "RFC 3339", "wall clock, UTC", "common log"],
)  # fmt: skip
def test_the_time_is_read_as_the_encoder_wrote_it(ts, time):
    assert read("caddy-json", line(ts=ts))["time"] == time


@pytest.mark.parametrize(
    ("name", "duration", "seconds"),
    [
        ("caddy-json", 0.000001234, "0.000001"),
        ("caddy-json", 1, "1.000000"),
        ("caddy-json", 1.5e-05, "0.000015"),
        ("caddy-json", "1.5s", "1.500000"),
        ("caddy-json", "1h2m3.5s", "3723.500000"),
        ("caddy-json", "900.123456ms", "0.900123"),
        ("caddy-json", "12.5µs", "0.000012"),
        ("caddy-json", "999ns", "0.000000"),
        ("caddy-json:s", 1.5, "1.500000"),
        ("caddy-json:ms", 900.5, "0.900500"),
        ("caddy-json:ns", 900123456, "0.900123"),
    ],
)
def test_the_duration_is_read_in_its_unit(name, duration, seconds):
    assert read(name, line(duration=duration))["request_time"] == seconds


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"status": 0}, {"status": "0", "stream": None}),
        ({"status": 504}, {"status": "504"}),
        ({"answer": {"X-Tenant": [""], "X-Request-Id": []}}, {"tenant": None, "request_id": None}),
        ({"answer": {"X-Tenant": ["REDACTED"]}, "request": {"headers": {"X-Tenant": ["other"]}}}, {"tenant": "other"}),
        ({"request": {"headers": {"Authorization": ["Bearer sk-1"], "Cookie": ["c"]}}}, {"api_key": "sk-1", "tenant": "acme"}),
        ({"request": {"headers": {"Authorization": ["REDACTED"]}}}, {"api_key": None}),
        ({"answer": {"X-Request-Id": ["order-7", "theirs"]}}, {"request_id": "order-7"}),
        ({"answer": {"Content-Type": ["application/json"]}}, {"stream": "false"}),
        ({"request": {"tls": {"client_common_name": "acme"}}}, {"client_subject": "acme"}),
        ({"request": {"headers": "none", "method": ["GET"]}, "resp_headers": None}, {"method": None, "request_id": None, "request_time": "0.900123"}),
    ],
    ids=[
        "a client that left has status 0", "an engine too slow", "an empty header is absent", "a redacted header is absent",
        "a key is for the tenant's sake only", "a redacted key is none", "the first of two", "an answer in one piece",
        "a client's certificate", "what is no object is absent",
    ],
)  # fmt: skip
def test_fields(changes, said):
    fields = read("caddy-json", line(**changes))
    assert {key: fields.get(key) for key in said} == said


@pytest.mark.parametrize(
    ("without", "changes", "reason"),
    [
        (("ts",), {}, "ts: absent"),
        ((), {"ts": "soon"}, "ts: not an instant"),
        ((), {"ts": 17.5}, "ts: no unit makes it an instant of this century"),
        ((), {"ts": "2026-11-30T08:00:00"}, "ts: not an instant"),
        (("duration",), {}, "duration: absent"),
        ((), {"duration": "long"}, "duration: not a duration"),
        ((), {"duration": "1s 5"}, "duration: not a duration"),
        ((), {"duration": None}, "duration: absent"),
    ],
)
def test_what_cannot_be_read_says_which_field(without, changes, reason):
    assert reason_of("caddy-json", line(*without, **changes)) == reason


@pytest.mark.parametrize("broken", [line()[:-1], line()[:40], "{}"[:1], "[]", '"handled request"', ""])
def test_what_is_no_object_is_said_to_be_none(broken):
    assert reason_of("caddy-json", broken) == "not a JSON object"


def test_a_duration_that_is_no_number_of_the_unit_is_refused():
    assert reason_of("caddy-json:ns", line(duration="1s")) == "duration: not a duration"
    assert reason_of("caddy-json:ns", line("duration")) == "duration: absent"


def test_a_unit_unheard_of_is_refused():
    with pytest.raises(ConfigurationError, match="no unit that Caddy writes durations in"):
        format_of("caddy-json:hours")


@pytest.mark.parametrize(
    ("said", "passed_over"),
    [
        ('{"level":"info","ts":1.0,"logger":"tls","msg":"finished cleaning storage units"}', True),
        (
            '{"level":"error","ts":1.0,"logger":"http.log.error.log0","msg":"EOF","request":{"uri":"/"},"status":502}',
            True,
        ),
        (line(), False),
        (line()[:40], False),
        ('{"level":"info","ts":1.0', False),
    ],
    ids=["another logger", "the error log's copy of a request", "a request", "a cut request", "a cut line"],
)
def test_other_loggers_are_passed_over(said, passed_over):
    form = format_of("caddy-json")
    assert form.ignores(said.encode()) is passed_over
    assert not passed_over or form.ended_us(said.encode()) is None


def test_every_request_of_the_fixture_is_recognised_as_caddys_alone():
    lines = [each for each in lines_of("caddy-json") if not format_of("caddy-json").ignores(each)]
    assert len(lines) >= 5
    assert {frozenset(recognised_by(each)) for each in lines} == {frozenset({"caddy-json"})}


@given(
    us=st.integers(0, 10**12), ended=st.integers(10**15, 9 * 10**15), status=st.integers(0, 999),
    uri=st.text(max_size=40), tenant=st.text(max_size=20),
)  # fmt: skip
def test_what_is_written_comes_back(us, ended, status, uri, tenant):
    written = line(status=status, request={"uri": uri}, answer={"X-Tenant": [tenant]})
    written = written.replace("1796025600.123456", f"{ended // 10**6}.{ended % 10**6:06d}")
    written = written.replace("0.900123456", f"{us // 10**6}.{us % 10**6:06d}")
    fields = read("caddy-json", written)
    assert fields["time"] == f"{ended // 10**6}.{ended % 10**6:06d}"
    assert fields["request_time"] == f"{us // 10**6}.{us % 10**6:06d}"
    assert fields["status"] == str(status)
    assert fields.get("uri", "") in {uri, ""}
    assert fields.get("tenant", "") in {tenant, ""}


@given(line=mutated(lines_of("caddy-json")))
def test_no_line_is_too_broken_to_be_refused(line):
    for name in ("caddy-json", "caddy-json:ms", "caddy-json:ns"):
        read_or_refused(name, line)
