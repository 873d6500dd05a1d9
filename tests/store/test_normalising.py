"""One nginx line becomes one row, or a dead letter that says why."""

from __future__ import annotations

import json

import pytest

from tests.store.conftest import engine_line, gateway_line

OUTCOMES = {
    "200 is ok": ({}, "ok"),
    "200 with - as completion is ok: unknown is not incomplete": ({"request_completion": "-"}, "ok"),
    "200 without the completion key is ok": ({"request_completion": None}, "ok"),
    "200 with an empty completion: the client left": ({"request_completion": ""}, "client_aborted"),
    "an empty completion wins over substituted": (
        {"request_completion": "", "substituted": "1"},
        "client_aborted",
    ),
    "499: the client left": ({"status": "499"}, "client_aborted"),
    "000: the client left": ({"status": "000"}, "client_aborted"),
    "504 is a time-out": ({"status": "504"}, "timeout"),
    "a substituted answer": ({"substituted": "true"}, "substituted"),
    "substituted wins over incomplete": ({"substituted": "1", "incomplete": "1"}, "substituted"),
    "an incomplete answer": ({"incomplete": "1"}, "incomplete"),
    "incomplete set by another word is not set": ({"incomplete": "yes"}, "ok"),
    "a length finish at the client's limit is ok": ({"finish_reason": "length"}, "ok"),
    "429 is a quota": ({"status": "429"}, "quota_rejected"),
    "503 by limit_req is a quota": ({"status": "503", "limit_req_status": "REJECTED"}, "quota_rejected"),
    "503 by limit_conn is a quota": ({"status": "503", "limit_conn_status": "REJECTED"}, "quota_rejected"),
    "503 in a dry run is no quota": (
        {"status": "503", "limit_req_status": "REJECTED_DRY_RUN"},
        "capacity_rejected",
    ),
    "503 else is capacity": ({"status": "503", "limit_req_status": "PASSED"}, "capacity_rejected"),
    "502 is the server's": ({"status": "502"}, "server_error"),
    "444 is the server's": ({"status": "444"}, "server_error"),
    "a status beyond the known is the server's": ({"status": "101"}, "server_error"),
    "301 is the client's": ({"status": "301"}, "client_error"),
    "400 is the client's": ({"status": "400"}, "client_error"),
    "a number instead of a string": ({"status": 200}, "ok"),
}


@pytest.mark.parametrize("case", OUTCOMES.values(), ids=OUTCOMES.keys())
def test_outcome(books, case):
    changes, outcome = case
    line = json.loads(gateway_line())
    for key, value in changes.items():
        line.pop(key, None)
        if value is not None:
            line[key] = value
    books.feed([json.dumps(line).encode()])
    assert books.requests("outcome") == [(outcome,)]


DEAD = {
    "binary": (b"\x00\x01\xff\xfe", "not a JSON object"),
    "another format": (
        b'1.2.3.4 - - [07/Oct/2026:03:00:00 +0000] "GET / HTTP/1.1" 200 5',
        "not a JSON object",
    ),
    "an array": (b'["1790000000","200"]', "not a JSON object"),
    "cut in the middle": (gateway_line()[:60], "not a JSON object"),
    "no time": (b'{"status":"200","request_time":"1"}', "time: absent"),
    "a time that is no number": (
        gateway_line().replace(b'"time": "1', b'"time": "x1'),
        "time: not a number of seconds",
    ),
    "NaN": (b'{"time":"nan","status":"200","request_time":"1"}', "time: not a number of seconds"),
    "1970": (b'{"time":"12.5","status":"200","request_time":"1"}', "time: before 2000"),
    "2106": (
        b'{"time":"4294967295","status":"200","request_time":"1"}',
        "time: more than a day in the future",
    ),
    "no request_time": (b'{"time":"1790000000","status":"200","request_time":"-"}', "request_time: absent"),
    "a negative request_time": (
        b'{"time":"1790000000","status":"200","request_time":"-1"}',
        "request_time: negative",
    ),
    "no status": (b'{"time":"1790000000","request_time":"1"}', "status: absent"),
    "a status of four digits": (
        b'{"time":"1790000000","request_time":"1","status":"2000"}',
        "status: not a number from 0 to 999",
    ),
}


@pytest.mark.parametrize("case", DEAD.values(), ids=DEAD.keys())
def test_a_bad_line_is_a_dead_letter_and_costs_no_neighbour(books, case):
    line, reason = case
    (counts,) = books.feed([gateway_line(0), line, gateway_line(9)])
    assert (counts.read, counts.stored, counts.dead_letters) == (3, 2, 1)
    assert books.scalar("SELECT any(reason) FROM dead_letters") == reason
    (again,) = books.feed([gateway_line(0), line, gateway_line(9)])
    assert (again.stored, again.duplicates, again.dead_letters) == (0, 2, 1), (
        "a replayed dead letter is one again"
    )


def test_no_text_enters_through_a_dead_letter(books):
    books.feed([b'{"prompt":"my password is hunter2, \xe5\xaf\x86\xe7\xa0\x81"}'])
    excerpt = books.scalar("SELECT any(excerpt) FROM dead_letters")
    assert excerpt == '{"xxxxxx":"xx xxxxxxxx xx xxxxxx0, xx"}'


FIELDS = {
    "the query string is cut": ({"uri": "/v1/chat?key=secret#x"}, "route", "/v1/chat"),
    "attempts count commas and colons": (
        {"upstream_addr": "10.0.0.1:80, [::1]:81 : unix:/tmp/x"},
        "(attempts, upstream)",
        (3, "unix:/tmp/x"),
    ),
    "no upstream is no attempt": ({"upstream_addr": "-"}, "(attempts, upstream)", (0, "")),
    "the last upstream's time makes forwarded": (
        {"upstream_addr": "a, b", "upstream_response_time": "0.500, 1.400"},
        "forwarded_us",
        600_000,
    ),
    "an upstream time 1 ms above the request's keeps its sign": (
        {"upstream_response_time": "2.001"},
        "forwarded_us",
        -1_000,
    ),
    "an upstream time far above the request's is unknown": (
        {"upstream_response_time": "9.000"},
        "forwarded_us",
        None,
    ),
    "a first request's handshake": (
        {"connection_time": "2.080", "connection_requests": "1"},
        "connected_us",
        80_000,
    ),
    "a kept-alive connection's idling is no handshake": (
        {"connection_time": "99.0", "connection_requests": "2"},
        "connected_us",
        None,
    ),
    "a Chinese tenant": ({"tenant": "云帆金融"}, "tenant", "云帆金融"),
    "a tenant that is SQL": (
        {"tenant": "\"'; DROP TABLE requests; --"},
        "tenant",
        "\"'; DROP TABLE requests; --",
    ),
    "an absent tenant": ({"tenant": "-"}, "tenant", ""),
    "unknown tokens are not zero": ({"prompt_tokens": "-"}, "prompt_tokens", None),
    "zero tokens are zero": ({"completion_tokens": "0"}, "completion_tokens", 0),
    "an unknown stream flag": ({"stream": ""}, "stream", None),
    "a simulated row says so": ({"simulated": "1"}, "simulated", 1),
}


@pytest.mark.parametrize("case", FIELDS.values(), ids=FIELDS.keys())
def test_field(books, case):
    changes, column, expected = case
    books.feed([gateway_line(**changes)])
    assert books.requests(column) == [(expected,)]


def test_bytes_that_are_not_utf8_cost_no_request(books):
    (counts,) = books.feed([gateway_line().replace(b"acme", b"ac\xffme")])
    assert counts.stored == 1
    assert books.requests("tenant") == [("ac\ufffdme",)]


def test_default_escaping_of_nginx_is_understood(books):
    (counts,) = books.feed([gateway_line().replace(b"acme", b"ac\\x22me")])
    assert counts.stored == 1
    assert books.requests("tenant") == [('ac"me',)]


def test_the_first_and_last_millisecond_are_exact(books):
    books.feed([b'{"time":"1790000000.001","request_time":"0.001","status":"200"}'])
    from datetime import UTC, datetime

    assert books.scalar("SELECT any(received_at) FROM gateway_requests") == datetime.fromtimestamp(
        1790000000, UTC
    )


ENGINE_DEAD = {
    "no start": ({"start_ns": None}, "start: absent or not a number of nanoseconds"),
    "NaN as queue": ({"queue": "NaN"}, "gen_ai.latency.time_in_queue: absent or not a possible duration"),
    "infinity as decode": (
        {"decode": "inf", "inference": None},
        "gen_ai.latency.time_in_model_decode: absent or not a possible duration",
    ),
    "no prefill and no inference to make it of": (
        {"prefill": None, "inference": None},
        "gen_ai.latency.time_in_model_prefill: absent or not a possible duration",
    ),
    "a bad span": ({"bad": "trace id of 3 bytes"}, "span: trace id of 3 bytes"),
}


@pytest.mark.parametrize("case", ENGINE_DEAD.values(), ids=ENGINE_DEAD.keys())
def test_a_bad_engine_line_is_a_dead_letter(books, case):
    changes, reason = case
    (counts,) = books.feed(engine=[engine_line(**changes), engine_line(5.0)])
    assert (counts.stored, counts.dead_letters) == (1, 1)
    assert books.scalar("SELECT any(reason) FROM dead_letters") == reason


def test_decode_follows_from_inference_and_prefill(books):
    books.feed(engine=[engine_line(decode=None)])
    assert books.scalar("SELECT any(decode_us) FROM engine_requests") == 1_100_000


def test_a_span_that_ends_before_it_starts_is_kept_with_its_own_durations(books):
    (counts,) = books.feed(engine=[engine_line(end_ns="1")])
    assert counts.stored == 1
