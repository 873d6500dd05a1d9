"""The access log of an AWS Application Load Balancer."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

TRACE_ID = "Root=1-67891233-abcdef012345678912345678"
SECRET = "hunter2"


def line(
    *, kind="https", time="2026-11-30T08:00:01.023456Z", elb="app/inference/50dc6c495c0c9188", client="10.0.1.2:2817", target="10.0.0.11:8000",
    times="0.002 0.040 0.000", status="200", target_status="200", request=f"POST https://inference.example.com:443/v1/chat/completions?q={SECRET} HTTP/2.0",
    agent="curl/8.0", trace=TRACE_ID, created="2026-11-30T08:00:00.123000Z", actions="forward", error="-", targets="10.0.0.11:8000", statuses="200",
    rest=' "-" "-" TID_1234abcd5678ef90 "-" "-" "-"',
):  # fmt: skip
    return (
        f"{kind} {time} {elb} {client} {target} {times} {status} {target_status} 900 2750 "
        f'"{request}" "{agent}" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 '
        f"arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/engines/73e2d6bc24d8a067 "
        f'"{trace}" "inference.example.com" "arn:aws:acm:eu-central-1:123456789012:certificate/12345678" 1 {created} '
        f'"{actions}" "-" "{error}" "{targets}" "{statuses}"{rest}'
    )


def test_a_line_is_read():
    assert read("aws-alb", line()) == {
        "time": "1796025601.023456",
        "request_time": "0.900456",
        "status": "200",
        "method": "POST",
        "uri": "/v1/chat/completions",
        "server": "app/inference/50dc6c495c0c9188",
        "upstream_addr": "10.0.0.11:8000",
        "upstream_status": "200",
        "forwarded": "0.002000",
        "request_length": "900",
        "bytes_sent": "2750",
        "request_id": "1-67891233-abcdef012345678912345678",
        "traceparent": "00-67891233abcdef012345678912345678-0000000000000001-01",
    }


def test_the_request_takes_until_its_end_and_not_until_its_first_byte():
    assert read("aws-alb", line(times="0.000 0.001 0.000"))["request_time"] == "0.900456"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"status": "460", "target": "-", "target_status": "-", "times": "-1 -1 -1"}, {"status": "460", "client_cancelled": "1", "forwarded": None}),
        ({"status": "504", "times": "0.000 -1 -1", "target_status": "-"}, {"status": "504", "client_cancelled": None, "forwarded": "0.000000"}),
        ({"status": "502", "times": "-1 -1 -1", "error": "LambdaInvalidResponse"}, {"status": "502", "error_code": "LambdaInvalidResponse"}),
        ({"status": "561"}, {"status": "561"}),
        ({"status": "000", "times": "-1 -1 -1", "target": "-", "target_status": "-"}, {"status": "502", "client_cancelled": None}),
        ({"targets": "10.0.0.11:8000 10.0.0.12:8000", "statuses": "502 200"}, {"upstream_addr": "10.0.0.11:8000, 10.0.0.12:8000", "upstream_status": "502, 200"}),
        ({"targets": "-", "target": "[2001:db8::1]:8000"}, {"upstream_addr": "[2001:db8::1]:8000"}),
        ({"target": "-", "targets": "-", "actions": "waf,fixed-response"}, {"substituted": "1", "upstream_addr": None}),
        ({"status": "503", "actions": "fixed-response"}, {"substituted": None, "status": "503"}),
        ({"status": "403", "actions": "waf"}, {"status": "403", "substituted": None}),
        ({"trace": "Self=1-67891233-12456789abcdef012345678;Root=1-67891233-abcdef012345678912345678;Parent=1"}, {"request_id": "1-67891233-abcdef012345678912345678"}),
        ({"trace": "Root=anything"}, {"request_id": "Root=anything", "traceparent": None}),
        ({"trace": "-"}, {"request_id": None, "traceparent": None}),
        ({"request": "- http://inference.example.com:80- -"}, {"method": None, "uri": None}),
        ({"request": "GET http://host:80/a%20b HTTP/1.1"}, {"method": "GET", "uri": "/a%20b"}),
        ({"agent": r"a \"quoted\" agent \x22"}, {"request_time": "0.900456"}),
        ({"client": "2001:db8::1:2817"}, {"uri": "/v1/chat/completions"}),
        ({"kind": "wss"}, {"status": "200"}),
        ({"rest": ""}, {"status": "200"}),
        ({"rest": ' "-" "-" TID_1 "new" "newer" "newest" "of tomorrow"'}, {"status": "200"}),
    ],
    ids=[
        "a client that closed the connection", "a target that never answered", "a target's fault says which", "an identity provider's fault", "a connection that the balancer closed",
        "several targets are tries", "an IPv6 target", "a canned answer of the balancer", "a canned refusal is a refusal", "a firewall's refusal",
        "a trace with more than its root", "a trace of another kind", "no trace", "a request that was none", "a path as it was written",
        "an agent with quotes", "an IPv6 client", "another protocol", "an older line", "a line of the years to come",
    ],
)  # fmt: skip
def test_fields(changes, said):
    fields = read("aws-alb", line(**changes))
    assert {key: fields.get(key) for key in said} == said


def test_the_query_and_the_agent_are_not_read():
    assert SECRET not in str(read("aws-alb", line(agent=SECRET)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (line(created="-"), "request_creation_time: not an instant"),
        (line(created="2026-11-30T08:00:02Z"), "request_creation_time: after time"),
        (line(created="2026-11-30T08:00:00"), "request_creation_time: not an instant"),
        (line(time="2026-11-31T08:00:00Z"), "time: not an instant"),
        (line(status="-"), "elb_status_code: absent"),
        (line()[:40], "client:port: the line ends here"),
        (line()[:200], "request: the line ends here"),
        (line().split(' "forward"')[0].rsplit(" ", 1)[0], "request_creation_time: the line ends here"),
        ("", "type: the line ends here"),
    ],
    ids=[
        "no start", "a start after the end", "a start without a zone", "a day that is none", "no status", "cut before the client",
        "cut in the request", "cut before the start (or from before 2018)", "nothing",
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_which_field(text, reason):
    assert reason_of("aws-alb", text) == reason


def test_every_line_of_the_fixture_is_recognised_as_an_albs_alone():
    assert len(lines_of("aws-alb")) >= 4
    assert {frozenset(recognised_by(each)) for each in lines_of("aws-alb")} == {frozenset({"aws-alb"})}


@given(
    took_us=st.integers(0, 10**12), created_ms=st.integers(10**12, 9 * 10**12), status=st.integers(100, 999),
    path=st.text("abc019/_.~%-", max_size=40), before_ms=st.integers(-1, 10**6),
)  # fmt: skip
def test_what_is_written_comes_back(*, took_us, created_ms, status, path, before_ms):
    created = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=created_ms)
    ended = created + timedelta(microseconds=took_us)
    before = "-1" if before_ms < 0 else f"{before_ms // 1000}.{before_ms % 1000:03d}"
    fields = read(
        "aws-alb",
        line(
            created=f"{created:%Y-%m-%dT%H:%M:%S.%f}Z", time=f"{ended:%Y-%m-%dT%H:%M:%S.%f}Z", status=str(status), times=f"{before} 0.1 0.0",
            request=f"GET https://host:443/{path} HTTP/1.1",
        ),
    )  # fmt: skip
    assert fields["request_time"] == f"{took_us // 10**6}.{took_us % 10**6:06d}"
    assert (
        fields["time"]
        == f"{(created_ms * 1000 + took_us) // 10**6}.{(created_ms * 1000 + took_us) % 10**6:06d}"
    )
    assert (fields["status"], fields["uri"]) == (str(status), f"/{path}")
    assert fields.get("forwarded") == (None if before_ms < 0 else f"{before}000")


@given(line=mutated(lines_of("aws-alb")))
def test_no_line_is_too_broken_to_be_refused(line):
    read_or_refused("aws-alb", line)
