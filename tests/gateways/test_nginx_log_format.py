"""nginx in a log_format of one's own: compiled into a parser, or refused where a line could be cut in two ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.formats import format_of
from fairclock.errors import ConfigurationError
from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

NECESSARY = "$msec $status $request_time"


def fields_of(log_format, line):
    return read(f"nginx:{log_format}", line)


@pytest.mark.parametrize(
    ("log_format", "line", "expected"),
    [
        pytest.param(
            NECESSARY, "1796025600.123 200 0.450",
            {"time": "1796025600.123000", "status": "200", "request_time": "0.450"}, id="what is necessary",
        ),
        pytest.param(
            "[$time_iso8601] $status $request_time", "[2026-11-30T16:00:00+08:00] 200 0.450",
            {"time": "1796025600.000000", "status": "200", "request_time": "0.450"}, id="ISO 8601",
        ),
        pytest.param(
            "[$time_local] $status $request_time", "[30/Nov/2026:13:30:00 +0530] 200 0.450",
            {"time": "1796025600.000000", "status": "200", "request_time": "0.450"}, id="local time, half-hour zone",
        ),
        pytest.param(
            "[$time_local] $msec $status $request_time", "[30/Nov/2026:08:00:00 +0000] 1796025600.123 200 0.450",
            {"time": "1796025600.123000", "status": "200", "request_time": "0.450"}, id="of two times the finer",
        ),
        pytest.param(
            f'{NECESSARY} "$request"', '1796025600.123 200 0.450 "POST /v1/chat/completions?key=1 HTTP/1.1"',
            {"method": "POST", "uri": "/v1/chat/completions"}, id="a request line, its arguments dropped",
        ),
        pytest.param(
            f"{NECESSARY} $upstream_addr $upstream_status $upstream_response_time",
            "1796025600.123 200 0.450 10.0.0.1:80, 10.0.0.2:80 : 10.0.0.3:80 502, 504 : 200 0.100, - : 0.300",
            {"upstream_addr": "10.0.0.1:80, 10.0.0.2:80 : 10.0.0.3:80", "upstream_status": "502, 504 : 200",
             "upstream_response_time": "0.100, - : 0.300"}, id="several upstreams",
        ),
        pytest.param(
            f"{NECESSARY} [$remote_addr]:$remote_port", "1796025600.123 200 0.450 [2001:db8::7]:4711", {}, id="IPv6",
        ),
        pytest.param(
            "log_format main escape=json '{\"t\":\"$msec\",\"s\":$status,'\n  '\"rt\":$request_time,\"id\":\"$http_x_request_id\"}';",
            '{"t":"1796025600.123","s":200,"rt":0.450,"id":"a\\"b\\u0007\\\\c"}',
            {"request_id": 'a"b\a\\c', "status": "200"}, id="the directive as it stands, JSON of one's own keys",
        ),
        pytest.param(
            f'{NECESSARY} "$http_x_request_id"', '1796025600.123 200 0.450 "a\\x22b\\xC3\\xA9"',
            {"request_id": 'a"bé'}, id="escape=default",
        ),
        pytest.param(
            f"escape=none '{NECESSARY} $http_x_request_id'", '1796025600.123 200 0.450 a "b" c',
            {"request_id": 'a "b" c'}, id="escape=none with one free value at the end",
        ),
        pytest.param(
            '"$msec" $status "$request_time"', '"1796025600.123" 200 "0.450"', {"status": "200"}, id="bare text that begins and ends with a quote",
        ),
        pytest.param(f"{NECESSARY} $request_completion", "1796025600.123 200 0.450 -", {"request_completion": ""}, id="not completed"),
        pytest.param(f"{NECESSARY} $request_completion", "1796025600.123 200 0.450 OK", {"request_completion": "OK"}, id="completed"),
        pytest.param(
            f'{NECESSARY} "$http_x_request_id" $request_id', '1796025600.123 200 0.450 "-" 4f9d',
            {"request_id": "4f9d"}, id="the client gave no id: nginx's own",
        ),
        pytest.param(
            f'{NECESSARY} "${{tenant}}" "$fairclock_model" "$prompt_tokens"', '1796025600.123 200 0.450 "acme" "m" "12"',
            {"tenant": "acme", "model": "m", "prompt_tokens": "12"}, id="variables of the operator's own, by their names",
        ),
        pytest.param(
            f'{NECESSARY} "$http_authorization"', '1796025600.123 200 0.450 "Bearer sk-1"', {"api_key": "sk-1"}, id="a key, for its tenant",
        ),
        pytest.param(
            f'{NECESSARY} "$ssl_client_s_dn" $ssl_client_verify', '1796025600.123 200 0.450 "CN=acme" SUCCESS',
            {"client_subject": "CN=acme"}, id="a certificate that was checked",
        ),
        pytest.param(
            f'{NECESSARY} "$sent_http_content_type"', '1796025600.123 200 0.450 "text/event-stream; charset=utf-8"', {"stream": "true"}, id="a stream",
        ),
    ],
)  # fmt: skip
def test_a_line_says_what_its_variables_say(log_format, line, expected):
    fields = fields_of(log_format, line)
    assert fields | expected == fields


def test_a_certificate_that_was_not_checked_is_nobodys():
    log_format = f'{NECESSARY} "$ssl_client_s_dn" "$ssl_client_verify"'
    assert "client_subject" not in fields_of(
        log_format, '1796025600.123 200 0.450 "CN=acme" "FAILED:self signed certificate"'
    )


@pytest.mark.parametrize(
    ("log_format", "message"),
    [
        pytest.param("combined", "combined format does not say how long a request took: it lacks $request_time; add what is missing", id="combined by name"),
        pytest.param(
            '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"',
            "combined format does not say how long", id="combined by its text",
        ),
        pytest.param("$status", "lacks a time ($msec, else $time_iso8601 or $time_local) and $request_time", id="nothing but a status"),
        pytest.param(f"{NECESSARY} $remote_user $http_user_agent", 'put each into double quotes: "$remote_user" "$http_user_agent"', id="two free values"),
        pytest.param(f"escape=none '{NECESSARY} \"$http_a\" \"$http_b\"'", "use escape=default or json", id="two free values in quotes that are not escaped"),
        pytest.param("$msec$status $request_time", "$msec and $status stand side by side", id="nothing between two"),
        pytest.param("$msec $status $request_time.$pid", "the value of $request_time can itself hold the '.'", id="a point after a number"),
        pytest.param("$msec $status $request_time $upstream_addr, $pid", "the value of $upstream_addr can itself hold the ','", id="a comma after a list"),
        pytest.param(f"escape=xml '{NECESSARY}'", "nginx knows no such escape (xml)", id="an escape that there is not"),
        pytest.param("log_format x '$msec", "a quote is not closed", id="a quote that is not closed"),
        pytest.param(" ", "is empty", id="nothing"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_in_one_way_only_is_refused(log_format, message):
    with pytest.raises(ConfigurationError) as refused:
        format_of(f"nginx:{log_format}")
    assert message in str(refused.value)
    assert str(refused.value).startswith("gateway.log_format: ")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("- 200 0.450", "$msec: not a time", id="no time"),
        pytest.param("1796025600.123 200", "not a line of this log_format", id="a line that breaks off"),
        pytest.param(
            "1796025600.123 200 0.450 more", "not a line of this log_format", id="more than there should be"
        ),
        pytest.param("", "not a line of this log_format", id="nothing"),
        pytest.param(b"\xff\xfe\x00", "not a line of this log_format", id="bytes"),
    ],
)
def test_hostile_lines_are_refused_with_field_and_fault(line, reason):
    assert reason_of(f"nginx:{NECESSARY}", line) == reason


def test_ingress_nginx_is_read():
    first, tried_twice, left, no_request, _ = (
        read("ingress-nginx", line) for line in lines_of("ingress-nginx")
    )
    assert first == {
        "time": "1796025600.000000", "request_time": "1.250", "status": "200", "method": "POST", "uri": "/v1/chat/completions",
        "request_id": "4f9d2c1b7a3e5f60718293a4b5c6d7e8", "request_length": "912", "bytes_sent": "2750",
        "upstream_addr": "10.244.1.17:8000", "upstream_status": "200", "upstream_response_time": "1.248",
    }  # fmt: skip
    assert tried_twice["upstream_addr"] == "10.244.1.17:8000, 10.244.1.18:8000"
    assert (tried_twice["uri"], tried_twice["request_id"]) == ("/v1/completions", "order-7")
    assert left["status"] == "499"
    assert no_request["method"] == no_request["uri"] == ""


def test_ingress_nginx_is_recognised_and_nothing_else():
    assert {frozenset(recognised_by(line)) for line in lines_of("ingress-nginx")} == {
        frozenset({"ingress-nginx"})
    }


# Round trip: what nginx writes comes back


def escaped(value, escape):
    """Write a variable's bytes as nginx does (ngx_http_log_escape, ngx_escape_json)."""
    if escape == "none":
        return value
    if escape == "default":
        if not value:
            return b"-"
        return b"".join(
            b"\\x%02X" % each if each in b'"\\' or each < 32 or each > 126 else bytes([each])
            for each in value
        )
    short = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}
    return b"".join(short.get(each) or (b"\\u%04X" % each if each < 32 else bytes([each])) for each in value)


FREE = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(str.encode)
IN_A_LINE = FREE.filter(lambda value: not set(b"\r\n") & set(value))
ITEMS = st.lists(
    st.sampled_from(["10.0.0.1:80", "[2001:db8::1]:80", "unix:/run/x.sock", "-"]), min_size=1, max_size=4
)


@pytest.mark.parametrize("escape", ["default", "json"])
@given(data=st.data())
def test_what_is_written_comes_back(escape, data):
    first, second, third = (data.draw(FREE) for _ in range(3))
    separators = data.draw(st.lists(st.sampled_from([", ", " : "]), min_size=3, max_size=3))
    items = data.draw(ITEMS)
    addresses = "".join(
        item + separator for item, separator in zip(items, [*separators[: len(items) - 1], ""], strict=True)
    )
    log_format = f'escape={escape} "\\"$http_a\\" $http_x_request_id \\"$msec\\" {{$upstream_addr}} [$status] \\"$tenant\\" $request_time"'
    line = b'"%s" %s "1796025600.123" {%s} [200] "%s" 0.450' % (
        escaped(first, escape), escaped(second, escape), addresses.encode(), escaped(third, escape),
    )  # fmt: skip
    fields = fields_of(log_format, line)
    wanted = {"request_id": second.decode(), "tenant": third.decode(), "upstream_addr": addresses}
    absent = {key: value for key, value in wanted.items() if value in {"", "-"}}
    assert {key: fields.get(key, "") for key in wanted} == wanted | dict.fromkeys(absent, "")


@given(value=IN_A_LINE, data=st.data())
def test_a_client_moves_nothing_where_nothing_is_escaped(value, data):
    del data
    fields = fields_of(
        f"escape=none '{NECESSARY} $http_x_request_id $bytes_sent'", b"1796025600.123 200 0.450 %s 17" % value
    )
    assert (fields["status"], fields["request_time"], fields["bytes_sent"]) == ("200", "0.450", "17")
    assert fields.get("request_id", "") == ("" if value == b"-" else value.decode())


@given(line=mutated(lines_of("ingress-nginx")) | st.binary(max_size=300))
def test_no_line_breaks_a_reader(line):
    read_or_refused("ingress-nginx", line)
    read_or_refused(f"nginx:{NECESSARY}", line)
