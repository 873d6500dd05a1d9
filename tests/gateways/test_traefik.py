"""Traefik's access log, as JSON in nanoseconds and in its Common Log Format."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def json_line(*without, **changes):
    said = {
        "ClientAddr": "10.0.1.2:33317", "ClientHost": "10.0.1.2", "DownstreamContentSize": 2750, "DownstreamStatus": 200,
        "Duration": 900_123_456, "OriginDuration": 899_000_999, "OriginStatus": 200, "Overhead": 1_122_457,
        "RequestContentSize": 900, "RequestMethod": "POST", "RequestPath": "/v1/chat/completions?user=secret",
        "RetryAttempts": 0, "RouterName": "acme@file", "ServiceAddr": "10.0.0.11:8000", "ServiceName": "engines@file",
        "SpanId": "00f067aa0ba902b7", "StartLocal": "2026-11-30T16:00:00.123456789+08:00",
        "StartUTC": "2026-11-30T08:00:00.123456789Z", "TraceId": TRACE, "downstream_Content-Type": "text/event-stream",
        "level": "info", "msg": "", "request_X-Request-Id": "order-7", "request_X-Tenant": "acme",
        "time": "2026-11-30T16:00:01+08:00",
    } | changes  # fmt: skip
    return json.dumps({key: value for key, value in said.items() if key not in without})


def clf_line(
    *, host="10.0.1.2", start="30/Nov/2026:08:00:00 +0000", request="POST /v1/chat/completions HTTP/1.1", status="200",
    size="2750", referer='"-"', agent='"curl/8.0"', count="17", router='"acme@file"', server='"http://10.0.0.11:8000"', took="900ms",
):  # fmt: skip
    return (
        f'{host} - - [{start}] "{request}" {status} {size} {referer} {agent} {count} {router} {server} {took}'
    )


def test_a_line_of_json_is_read():
    assert read("traefik-json", json_line()) == {
        "time": "1796025601.023579",
        "request_time": "0.900123",
        "upstream_response_time": "0.899000",
        "status": "200",
        "method": "POST",
        "uri": "/v1/chat/completions?user=secret",  # whoever writes the canonical line cuts it
        "server": "acme@file",
        "upstream_addr": "10.0.0.11:8000",
        "bytes_sent": "2750",
        "request_length": "900",
        "request_id": "order-7",
        "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01",
        "tenant": "acme",
        "stream": "true",
    }


@pytest.mark.parametrize(
    ("without", "changes", "said"),
    [
        ((), {"RetryAttempts": 2}, {"upstream_addr": "-, -, 10.0.0.11:8000"}),
        (("ServiceAddr",), {"ServiceURL": {"Scheme": "http", "Host": "10.0.0.12:8000"}}, {"upstream_addr": "10.0.0.12:8000"}),
        (("ServiceAddr",), {"ServiceURL": "http://u:p@[2001:db8::1]:8000"}, {"upstream_addr": "[2001:db8::1]:8000"}),
        (("StartUTC",), {}, {"time": "1796025601.023579"}),
        (("DownstreamStatus",), {"OriginStatus": 502}, {"status": "502"}),
        ((), {"DownstreamStatus": 499}, {"status": "499"}),
        ((), {"DownstreamStatus": 504, "OriginStatus": 200}, {"status": "504"}),
        (("TraceId", "SpanId"), {"trace_id": TRACE}, {"traceparent": f"00-{TRACE}-0000000000000001-01"}),
        (("TraceId",), {"request_Traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}, {"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}),
        ((), {"request_X-Tenant": "REDACTED"}, {"tenant": None}),
        ((), {"downstream_X-Request-Id": "r-1"}, {"request_id": "r-1"}),
        (("OriginDuration",), {}, {"upstream_response_time": None}),
        ((), {"OriginDuration": -5}, {"upstream_response_time": None}),
        ((), {"downstream_Content-Type": "application/json; charset=utf-8"}, {"stream": "false"}),
        ((), {"DownstreamStatus": 500}, {"stream": None}),
        ((), {"TLSClientSubject": "CN=acme,O=Acme"}, {"client_subject": "CN=acme,O=Acme"}),
        ((), {"Duration": 0}, {"request_time": "0.000000"}),
    ],
    ids=[
        "retries are tries", "a server as an object", "a server as a text, without its password", "the local start",
        "the origin's status where there is no other", "a client that left", "the status that the client saw",
        "a trace without a span", "a header's trace where Traefik has none", "a redacted tenant is none",
        "the id that the engine answered with", "an unknown time of the origin", "a negative time of the origin",
        "an answer in one piece", "an error is no stream and no other", "a client's certificate", "no time at all",
    ],
)  # fmt: skip
def test_json(without, changes, said):
    fields = read("traefik-json", json_line(*without, **changes))
    assert {key: fields.get(key) for key in said} == said


@pytest.mark.parametrize(
    ("without", "changes", "reason"),
    [
        (("Duration",), {}, "Duration: not a number of nanoseconds"),
        ((), {"Duration": -1}, "Duration: not a number of nanoseconds"),
        ((), {"Duration": "1.5s"}, "Duration: not a number of nanoseconds"),
        ((), {"Duration": 1.5}, "Duration: not a number of nanoseconds"),
        ((), {"Duration": 10**30}, "Duration: not a number of nanoseconds"),
        (("StartUTC", "StartLocal"), {}, "StartUTC: absent"),
        ((), {"StartUTC": "2026-11-30T08:00:00"}, "StartUTC: not an instant"),
        ((), {"StartUTC": "2026-02-31T08:00:00Z"}, "StartUTC: not an instant"),
    ],
    ids=[
        "no duration", "a negative duration", "a duration as text", "half a nanosecond", "a duration beyond counting",
        "no start", "a start without a zone", "a day that is none",
    ],
)  # fmt: skip
def test_json_that_cannot_be_read_says_which_field(without, changes, reason):
    assert reason_of("traefik-json", json_line(*without, **changes)) == reason


def test_a_common_log_line_is_read_to_the_second_and_not_in_the_providers_favour():
    assert read("traefik-clf", clf_line()) == {
        "time": "1796025600.901000",
        "request_time": "0.901000",
        "status": "200",
        "method": "POST",
        "uri": "/v1/chat/completions",
        "server": "acme@file",
        "upstream_addr": "10.0.0.11:8000",
        "bytes_sent": "2750",
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"agent": '"a "quoted" agent" 7 "x" "y" 1ms'}, {"status": "200", "request_time": "0.901000"}),
        ({"request": 'GET /a?"500" HTTP/1.1'}, {"status": "200", "uri": "/a"}),
        ({"host": "2001:db8::1"}, {"uri": "/v1/chat/completions"}),
        ({"router": '"-"', "server": '"-"'}, {"server": "-", "upstream_addr": ""}),
        ({"router": "-", "server": "-"}, {"upstream_addr": ""}),
        ({"start": "30/Nov/2026:16:00:00 +0800"}, {"time": "1796025600.901000"}),
        ({"took": "0ms"}, {"request_time": "0.001000"}),
        ({"request": "GET /v1/models?key=secret HTTP/1.1"}, {"uri": "/v1/models"}),
    ],
    ids=[
        "an agent with quotes", "a query with quotes", "an IPv6 client", "no router", "no router, unquoted", "another zone",
        "less than a millisecond counts as one", "the query is dropped",
    ],
)  # fmt: skip
def test_common_log(changes, said):
    fields = read("traefik-clf", clf_line(**changes))
    assert {key: fields.get(key) for key in said} == said


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (clf_line(status="-", size="-"), "status: absent (Traefik answered itself; its JSON says what)"),
        (clf_line(took="900"), "duration: the line does not end in milliseconds"),
        (clf_line(took="-1ms"), "duration: the line does not end in milliseconds"),
        (clf_line()[:90], "duration: the line does not end in milliseconds"),
        (clf_line()[:60], "request: no time in brackets, request line and status"),
        (clf_line(start="31/Feb/2026:08:00:00 +0000"), "start: not an instant"),
        (clf_line(start="30/Nov/2026"), "request: no time in brackets, request line and status"),
        ("nothing of the kind", "request: no time in brackets, request line and status"),
        (clf_line(host=clf_line(took="1ms")), "request: twice in one line"),
        (clf_line(agent=f'"{clf_line(took="1ms")}"'), "request: twice in one line"),
    ],
    ids=[
        "no status",
        "no unit",
        "a negative duration",
        "cut in the agent",
        "cut in the request",
        "a day that is none",
        "half a time",
        "something else",
        "an address that is a line of its own",
        "an agent that is a line of its own",
    ],
)
def test_common_log_that_cannot_be_read_says_which_field(line, reason):
    assert reason_of("traefik-clf", line) == reason


@pytest.mark.parametrize("name", ["traefik-json", "traefik-clf"])
def test_every_line_of_the_fixture_is_recognised_as_its_own_alone(name):
    assert len(lines_of(name)) >= 4
    assert {frozenset(recognised_by(line)) for line in lines_of(name)} == {frozenset({name})}


@given(
    duration=st.integers(0, 10**15), status=st.integers(100, 599), path=st.text(max_size=40), tenant=st.text(max_size=20),
    ns=st.integers(0, 999_999_999), retries=st.integers(0, 20),
)  # fmt: skip
def test_what_is_written_as_json_comes_back(*, duration, status, path, tenant, ns, retries):
    line = json_line(
        Duration=duration, DownstreamStatus=status, RequestPath="/" + path, RetryAttempts=retries,
        StartUTC=f"2026-11-30T08:00:00.{ns:09d}Z", **{"request_X-Tenant": tenant},
    )  # fmt: skip
    fields = read("traefik-json", line)
    us = duration // 1000
    assert fields["request_time"] == f"{us // 1_000_000}.{us % 1_000_000:06d}"
    end = 1_796_025_600_000_000 + ns // 1000 + us
    assert fields["time"] == f"{end // 1_000_000}.{end % 1_000_000:06d}"
    assert (fields["status"], fields["uri"]) == (str(status), "/" + path)
    assert fields.get("tenant", "") in {tenant, ""}
    assert len(fields["upstream_addr"].split(", ")) == retries + 1


@given(
    milliseconds=st.integers(0, 10**9), status=st.integers(100, 599), path=st.text('abc"/?[]()\\x22', max_size=30),
    agent=st.text('abc"/?[]() \\x22', max_size=30),
)  # fmt: skip
def test_what_is_written_as_common_log_comes_back(milliseconds, status, path, agent):
    fields = read(
        "traefik-clf",
        clf_line(
            request=f"GET /{path} HTTP/1.1", status=str(status), agent=f'"{agent}"', took=f"{milliseconds}ms"
        ),
    )
    assert fields["request_time"] == f"{(milliseconds + 1) // 1000}.{(milliseconds + 1) % 1000:03d}000"
    assert (fields["method"], fields["status"], fields["uri"]) == (
        "GET",
        str(status),
        f"/{path}".partition("?")[0],
    )


@given(line=mutated([*lines_of("traefik-json"), *lines_of("traefik-clf")]))
def test_no_line_is_too_broken_to_be_refused(line):
    read_or_refused("traefik-json", line)
    read_or_refused("traefik-clf", line)
