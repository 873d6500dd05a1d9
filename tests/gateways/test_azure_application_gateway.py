"""The access log of Azure Application Gateway, versions 1 and 2, as diagnostic settings export it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.formats import format_of
from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

NAME = "azure-application-gateway"
RESOURCE = "/SUBSCRIPTIONS/0000/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.NETWORK/APPLICATIONGATEWAYS/GW"
SECRET = "hunter2"


def version_2(*without, **changes):
    properties = {
        "instanceId": "appgw_0", "clientIP": "10.0.1.2", "clientPort": "57520", "httpMethod": "POST",
        "originalRequestUriWithArgs": f"/v1/chat/completions?q={SECRET}", "requestUri": "/v1/chat/completions", "requestQuery": f"q={SECRET}",
        "userAgent": "curl/8.0", "httpStatus": 200, "httpVersion": "HTTP/1.1", "receivedBytes": 900, "sentBytes": 2750,
        "clientResponseTime": 0, "timeTaken": 0.9, "WAFEvaluationTime": "0.000", "WAFMode": "Prevention",
        "transactionId": "592d1649f75a8d480a3c4dc6a975309d", "sslEnabled": "on", "sslClientVerify": "NONE",
        "serverRouted": "10.0.0.11:8000", "serverStatus": "200", "serverResponseLatency": "0.880", "upstreamSourcePort": "10330",
        "originalHost": "inference.example.com", "host": "inference.example.com", "error_info": "ERRORINFO_NO_ERROR",
    } | changes  # fmt: skip
    return {
        "timeStamp": "2026-11-30T08:00:01+00:00", "resourceId": RESOURCE, "listenerName": "chat", "ruleName": "r1",
        "backendPoolName": "engines", "operationName": "ApplicationGatewayAccess", "category": "ApplicationGatewayAccessLog",
        "properties": {key: value for key, value in properties.items() if key not in without},
    }  # fmt: skip


def version_1(**changes):
    properties = {
        "instanceId": "ApplicationGatewayRole_IN_0", "clientIP": "10.0.1.2", "clientPort": 46886, "httpMethod": "GET",
        "requestUri": "/v1/models", "requestQuery": f"q={SECRET}", "userAgent": "-", "httpStatus": 404, "httpVersion": "HTTP/1.0",
        "receivedBytes": 65, "sentBytes": 553, "timeTaken": 205, "sslEnabled": "off",
    } | changes  # fmt: skip
    return {
        "resourceId": RESOURCE, "operationName": "ApplicationGatewayAccess", "time": "2026-11-30T08:00:01Z",
        "category": "ApplicationGatewayAccessLog", "properties": properties,
    }  # fmt: skip


def test_a_record_of_version_2_is_read():
    assert read(NAME, json.dumps(version_2())) == {
        "time": "1796025601.000000",
        "request_time": "0.900000",
        "status": "200",
        "method": "POST",
        "uri": "/v1/chat/completions",
        "server": "chat",
        "upstream_addr": "10.0.0.11:8000",
        "upstream_status": "200",
        "upstream_response_time": "0.880",
        "request_length": "900",
        "bytes_sent": "2750",
        "request_id": "592d1649f75a8d480a3c4dc6a975309d",
    }


def test_a_record_of_version_1_counts_milliseconds():
    fields = read(NAME, json.dumps(version_1()))
    assert (fields["request_time"], fields["time"], fields["status"]) == (
        "0.205000",
        "1796025601.000000",
        "404",
    )


def test_a_row_of_the_table_is_read():
    row = {
        "Type": "AGWAccessLogs", "TimeGenerated": "2026-11-30T08:00:01Z", "BackendPoolName": "engines", "HttpMethod": "POST",
        "HttpStatus": 200, "RequestUri": "/v1/chat/completions", "TimeTaken": 3, "ServerRouted": "10.0.0.11:8000", "ListenerName": "chat",
    }  # fmt: skip
    fields = read(NAME, json.dumps(row))
    assert (fields["request_time"], fields["status"], fields["upstream_addr"]) == (
        "3.000000",
        "200",
        "10.0.0.11:8000",
    )


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (version_2(timeTaken=2), {"request_time": "2.000000"}),
        (version_2(timeTaken="0.125"), {"request_time": "0.125000"}),
        (version_1(timeTaken=2), {"request_time": "0.002000"}),
        (version_1(timeTaken=0.5), {"request_time": "0.500000"}),
        (version_2(httpStatus=499, error_info="ERRORINFO_CLIENT_CLOSED_REQUEST"), {"status": "499", "client_cancelled": "1", "error_code": "ERRORINFO_CLIENT_CLOSED_REQUEST"}),
        (version_2(httpStatus=504, error_info="ERRORINFO_UPSTREAM_TIMED_OUT"), {"status": "504", "client_cancelled": None, "error_code": "ERRORINFO_UPSTREAM_TIMED_OUT"}),
        (version_2(httpStatus=403, serverRouted="-", serverStatus="-", serverResponseLatency="-"), {"status": "403", "upstream_addr": None, "upstream_response_time": None}),
        (version_2(serverRouted="10.0.0.11:8000, 10.0.0.12:8000", serverResponseLatency="0.010, 0.020"), {"upstream_addr": "10.0.0.11:8000, 10.0.0.12:8000", "upstream_response_time": "0.010, 0.020"}),
        (version_2(serverRouted="[2001:db8::1]:8000"), {"upstream_addr": "[2001:db8::1]:8000"}),
        (version_2(sslClientCertificateSubjectName="CN=acme"), {"client_subject": "CN=acme"}),
        (version_2(requestUri='/a"b'), {"uri": '/a"b'}),
    ],
    ids=[
        "a whole number of seconds", "seconds as text", "two milliseconds", "a fraction can only be of seconds", "a client that left",
        "an engine too slow", "a firewall's refusal", "tries", "an IPv6 engine", "a client's certificate", "a quote in a path",
    ],
)  # fmt: skip
def test_fields(record, said):
    fields = read(NAME, json.dumps(record))
    assert {key: fields.get(key) for key in said} == said


def test_the_query_and_the_agent_are_not_read():
    assert SECRET not in str(read(NAME, json.dumps(version_2(userAgent=SECRET)))) + str(
        read(NAME, json.dumps(version_1()))
    )


@pytest.mark.parametrize(
    "wrapped",
    [json.dumps({"records": [version_2()]}), json.dumps(version_2()) + ",", json.dumps(version_2()) + " ,  "],
    ids=["one record in a frame", "a record before a comma", "a record before a comma with blanks"],
)
def test_a_record_is_read_in_its_frame(wrapped):
    assert read(NAME, wrapped) == read(NAME, json.dumps(version_2()))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(version_2("timeTaken")), "timeTaken: absent"),
        (json.dumps(version_2(timeTaken="-")), "timeTaken: absent"),
        (json.dumps(version_2(timeTaken="long")), "timeTaken: not a duration"),
        (json.dumps(version_2() | {"timeStamp": ""}), "timeStamp: absent"),
        (json.dumps(version_2() | {"timeStamp": "2026-11-30T08:00:01"}), "timeStamp: not an instant with its zone"),
        (json.dumps(version_1() | {"time": "yesterday"}), "time: not an instant with its zone"),
        (json.dumps({"records": [version_2(), version_2()]}), "records: several in one line; write them one a line (jq -c .records[])"),
        (json.dumps({"records": "none"}), "records: several in one line; write them one a line (jq -c .records[])"),
        (json.dumps(version_2())[:99], "not a JSON object"),
        ("[1]", "not a JSON object"),
    ],
    ids=[
        "no time taken", "a time taken of a dash", "a time taken of letters", "no time", "a time without a zone", "a time of letters",
        "two records in a line", "records that are none", "cut", "a list",
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_which_field(text, reason):
    assert reason_of(NAME, text) == reason


@pytest.mark.parametrize(
    ("text", "passed_over"),
    [
        ('{"records":[', True),
        ("]}", True),
        (json.dumps({"category": "ApplicationGatewayFirewallLog", "properties": {}}), True),
        (json.dumps(version_2()), False),
        (json.dumps(version_2())[:60], False),
        (json.dumps(version_2(userAgent='"category" "ApplicationGatewayFirewallLog"')), False),
    ],
    ids=[
        "the frame's begin",
        "the frame's end",
        "the firewall's log",
        "a request",
        "a cut request",
        "an agent that names another log",
    ],
)
def test_other_logs_are_passed_over(text, passed_over):
    assert format_of(NAME).ignores(text.encode()) is passed_over


def test_every_line_of_the_fixture_is_recognised_as_azures_alone():
    assert len(lines_of(NAME)) >= 4
    assert {frozenset(recognised_by(each)) for each in lines_of(NAME)} == {frozenset({NAME})}


@given(
    milliseconds=st.integers(0, 10**9), ended=st.integers(10**9, 9 * 10**9), status=st.integers(0, 999), path=st.text(max_size=30),
    second=st.booleans(),
)  # fmt: skip
def test_what_is_written_comes_back(*, milliseconds, ended, status, path, second):
    from fairclock.model import from_us

    stamp = f"{from_us(ended * 10**6):%Y-%m-%dT%H:%M:%S}+00:00"
    if second:
        taken = f"{milliseconds // 1000}.{milliseconds % 1000:03d}"
        record = version_2(timeTaken=taken, httpStatus=status, requestUri=path) | {"timeStamp": stamp}
    else:
        record = version_1(timeTaken=milliseconds, httpStatus=status, requestUri=path) | {"time": stamp}
    fields = read(NAME, json.dumps(record))
    assert fields["request_time"] == f"{milliseconds // 1000}.{milliseconds % 1000:03d}000"
    assert (fields["time"], fields["status"]) == (f"{ended}.000000", str(status))
    assert fields.get("uri", "") in {path, ""}


@given(line=mutated(lines_of(NAME)))
def test_no_line_is_too_broken_to_be_refused(line):
    read_or_refused(NAME, line)
