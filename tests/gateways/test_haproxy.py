"""HAProxy's HTTP log: timers, termination states, and the JSON of the shipped log-format."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.formats import format_of
from fairclock.errors import ConfigurationError
from tests.gateways.reading import lines_of, mutated, read, read_or_refused, reason_of, recognised_by

# 2026-11-30 08:00:00.123 UTC
RECEIVED_US = 1_796_025_600_123_000


def http_line(
    *, client="10.0.1.2:33317", date="30/Nov/2026:08:00:00.123", frontend="inference~", server="engines/e1",
    timers="2/150/3/40/900", status="200", sent="2750", flags="----", connections="1/1/1/1/0", rest=' "POST /v1/chat/completions HTTP/1.1"',
):  # fmt: skip
    return (
        f"{client} [{date}] {frontend} {server} {timers} {status} {sent} - - {flags} {connections} 0/0{rest}"
    )


def json_line(**changes):
    said = {
        "fairclock": "haproxy", "accepted": "1796025600.100", "Th": "20", "Ti": "3", "TR": "2", "Tw": "150", "Tc": "3",
        "Tr": "40", "Ta": "900", "status": "200", "termination": "----", "retries": "0", "server_queue": "0",
        "backend_queue": "0", "frontend": "inference", "backend": "engines", "server": "e1", "read": "2750",
        "uploaded": "900", "method": "POST", "path": "/v1/chat/completions", "request_id": "order-7",
        "traceparent": "00-295404affff64f0cb1395155dd499614-295404affff64f0c-01", "tenant": "acme", "stream": "true",
    }  # fmt: skip
    return json.dumps(said | changes, separators=(",", ":"))


COMMON = {
    "time": "1796025601.023000",
    "request_time": "0.900000",
    "queue": "0.150000",
    "forwarded": "0.155000",
    "status": "200",
    "method": "POST",
    "uri": "/v1/chat/completions",
    "server": "inference",
    "upstream_addr": "engines/e1",
    "bytes_sent": "2750",
}


@pytest.mark.parametrize(
    "prefix",
    ["", "<134>Nov 30 08:00:00 lb1 haproxy[14389]: ", "Nov 30 08:00:00 lb1 haproxy[14389]: ", "<134>1 2026-11-30T08:00:00Z lb1 haproxy 14389 - - "],
    ids=["alone", "behind a syslog header", "behind a syslog header without priority", "behind a header of the newer syslog"],
)  # fmt: skip
def test_a_line_of_httplog_is_read(prefix):
    assert read("haproxy", prefix + http_line()) == COMMON


def test_the_shipped_json_is_read():
    assert read("haproxy-json", json_line()) == COMMON | {
        "request_length": "900",
        "request_id": "order-7",
        "traceparent": "00-295404affff64f0cb1395155dd499614-295404affff64f0c-01",
        "tenant": "acme",
        "stream": "true",
        "connected": "0.020000",
    }


def test_a_kept_connection_has_no_handshake():
    assert "connected" not in read("haproxy-json", json_line(Th="0"))


def test_syslog_may_stand_before_the_json():
    assert read("haproxy-json", "<134>Nov 30 08:00:00 lb1 haproxy[9]: " + json_line())["tenant"] == "acme"


@pytest.mark.parametrize(
    ("timers", "known"),
    [
        ("2/150/3/40/900", {"queue": "0.150000", "forwarded": "0.155000"}),
        ("2/0/3/40/900", {"queue": "0.000000", "forwarded": "0.005000"}),
        ("-1/-1/-1/-1/900", {}),
        ("2/-1/-1/-1/900", {}),
        ("2/500/-1/-1/900", {"queue": "0.500000"}),
        ("2/0/3/-1/900", {"queue": "0.000000", "forwarded": "0.005000"}),
    ],
    ids=[
        "a wait in the queue counts as queue",
        "no wait is a queue of zero",
        "an aborted request knows no queue",
        "one that was never queued knows none",
        "one given up in the queue was not handed on",
        "one without an answer was handed on",
    ],
)
def test_a_timer_that_was_not_reached_is_not_zero(timers, known):
    for fields in (
        read("haproxy", http_line(timers=timers)),
        read(
            "haproxy-json",
            json_line(**dict(zip(("TR", "Tw", "Tc", "Tr", "Ta"), timers.split("/"), strict=True))),
        ),
    ):
        assert {key: fields[key] for key in ("queue", "forwarded") if key in fields} == known


ENDINGS = [
    ("a usual answer", "200", "----", {"status": "200"}),
    ("a cookie's letters say nothing", "200", "--VN", {"status": "200"}),
    ("a client that left in mid-stream", "200", "CD--", {"status": "200", "client_cancelled": "1"}),
    ("a client that left before the answer", "-1", "CH--", {"status": "0", "client_cancelled": "1"}),
    ("a client that left, told 400", "400", "CH--", {"status": "400", "client_cancelled": "1"}),
    ("a client that left the queue", "503", "CQ--", {"status": "503", "client_cancelled": "1"}),
    ("an engine's error whose client left in the middle of it", "500", "CD--", {"status": "500"}),
    ("a refusal whose client left in the middle of it", "429", "CD--", {"status": "429"}),
    ("a client that stopped reading", "200", "cD--", {"status": "200", "client_cancelled": "1"}),
    ("a client too slow to ask", "408", "cR--", {"status": "408"}),
    ("an engine that died in mid-stream", "200", "SD--", {"status": "200", "incomplete": "1"}),
    ("an engine that went silent in mid-stream", "200", "sD--", {"status": "200", "timeout": "1"}),
    ("an engine that never answered", "504", "sH--", {"status": "504"}),
    ("an engine that never answered, told nothing", "-1", "sH--", {"status": "504"}),
    ("an engine that broke off, told nothing", "0", "SH--", {"status": "502"}),
    ("nobody to blame and no status", "-1", "----", {"status": "502"}),
    ("a queue that ran out", "503", "sQ--", {"status": "503"}),
    ("no engine to connect to", "503", "SC--", {"status": "503"}),
    ("refused by a rule", "429", "PR--", {"status": "429"}),
    ("an answer that the proxy broke off", "200", "PD--", {"status": "200", "incomplete": "1"}),
    ("killed by an operator in mid-stream", "200", "KD--", {"status": "200", "incomplete": "1"}),
    ("answered by HAProxy itself", "200", "LR--", {"status": "200", "substituted": "1"}),
]


@pytest.mark.parametrize(
    ("status", "flags", "said"), [each[1:] for each in ENDINGS], ids=[each[0] for each in ENDINGS]
)
def test_who_ended_it(status, flags, said):
    expected = said if flags.startswith("--") else said | {"error_code": flags}
    for fields in (
        read("haproxy", http_line(status=status, flags=flags)),
        read("haproxy-json", json_line(status=status, termination=flags)),
    ):
        keys = ("status", "client_cancelled", "incomplete", "timeout", "substituted", "error_code")
        assert {key: fields[key] for key in keys if key in fields} == expected


def test_an_answer_of_the_cache_is_none_of_an_engine():
    fields = read("haproxy", http_line(server="engines/<CACHE>"))
    assert (fields["substituted"], fields["upstream_addr"]) == ("1", "")


@pytest.mark.parametrize(
    ("retries", "tried"),
    [("0", "engines/e1"), ("2", "-, -, engines/e1"), ("+1", "-, engines/e1"), ("99999999999", "engines/e1")],
    ids=["once", "three times", "twice, the second elsewhere", "a number that is none"],
)
def test_retries_are_tries(retries, tried):
    assert read("haproxy", http_line(connections=f"1/1/1/1/{retries}"))["upstream_addr"] == tried


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (http_line(timers="2/150/3/40/+900"), "Ta: a lower bound, written before the answer ended (option logasap)"),
        (http_line(timers="2/150/3/40/-1"), "Ta: negative"),
        (http_line(timers="2/150/3/40/x"), "Ta: not a number of milliseconds"),
        (http_line(timers="0/0/900"), "timers: not five (a TCP log has three)"),
        (http_line(status="2oo"), "status: not a number"),
        (http_line(flags="?---"), "termination state: not four letters"),
        (http_line(flags="-----"), "termination state: not four letters"),
        (http_line(server="engines"), "backend/server: no slash"),
        (http_line(date="31/Feb/2026:08:00:00.123"), "accept date: not an instant"),
        (http_line(date="30/Nov/2026:08:00:00"), "accept date: absent"),
        (http_line()[:45], "frontend: the line ends here"),
        (http_line()[:75], "timers: the line ends here"),
        (http_line().split(" 0/0")[0], "connections: the line ends here"),
        ("", "accept date: absent"),
    ],
    ids=[
        "a total written too early", "a negative total", "a total of letters", "a TCP log", "a status of letters",
        "a termination state unheard of", "a termination state too long", "a server without its backend",
        "a day that is none", "a time without milliseconds", "cut in the frontend", "cut in the timers", "cut in the connections", "nothing",
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_which_field(line, reason):
    assert reason_of("haproxy", line) == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"Ta": "+900"}, "Ta: a lower bound, written before the answer ended (option logasap)"),
        ({"Ta": ""}, "Ta: not a number of milliseconds"),
        ({"accepted": "1796025600"}, None),
        ({"accepted": "soon"}, "accepted: not a number of seconds"),
        ({"status": "-"}, "status: not a number"),
        ({"termination": ""}, "termination state: not four letters"),
    ],
    ids=[
        "a total written too early",
        "no total",
        "a whole second",
        "no time",
        "no status",
        "no termination state",
    ],
)
def test_json_that_cannot_be_read_says_which_field(changes, reason):
    if reason is None:
        assert read("haproxy-json", json_line(**changes))["time"].endswith(".923000")
    else:
        assert reason_of("haproxy-json", json_line(**changes)) == reason


@pytest.mark.parametrize(
    ("rest", "method", "uri"),
    [
        (' "GET /v1/models?secret=1 HTTP/1.1"', "GET", "/v1/models"),
        (' {acme|order-7} {vllm} "GET /v1/models HTTP/1.1"', "GET", "/v1/models"),
        (' {acme#7C#7B} "GET /a#22b HTTP/1.1"', "GET", '/a"b'),
        (' "GET https://host:443/v1/models?q=1 HTTP/2.0"', "GET", "/v1/models"),
        (' "GET /v1/\\x22 HTTP/1.1"', "GET", "/v1/\\x22"),
        (' "<BADREQ>"', "", ""),
        (' "POST /v1/comple', "POST", None),
        (' "POS', None, None),
        ("", None, None),
    ],
    ids=[
        "the query is dropped", "captured headers are passed over", "HAProxy's own escapes are undone", "an absolute address",
        "other escapes stay", "no request at all", "a request that syslog cut has no path",
        "nor has half a method one", "no request line",
    ],
)  # fmt: skip
def test_the_request_line(rest, method, uri):
    fields = read("haproxy", http_line(rest=rest))
    assert (fields.get("method"), fields.get("uri")) == (method, uri)
    assert fields["request_time"] == "0.900000"


def test_an_ipv6_client_is_read():
    assert read("haproxy", http_line(client="2001:db8::7:33317")) == COMMON


def test_captured_headers_are_read_only_where_they_are_named():
    line = http_line(rest=' {order-7|ac#22me|secret} "GET / HTTP/1.1"')
    assert "order-7" not in read("haproxy", line).values()
    fields = read("haproxy:UTC,captures=request_id|tenant|-", line)
    assert (fields["request_id"], fields["tenant"]) == ("order-7", 'ac"me')
    assert "secret" not in "".join(fields.values())


@pytest.mark.parametrize(
    ("zone", "date", "received"),
    [
        ("UTC", "30/Nov/2026:08:00:00.123", datetime(2026, 11, 30, 8, 0, 0, 123_000, tzinfo=UTC)),
        ("Asia/Shanghai", "30/Nov/2026:16:00:00.123", datetime(2026, 11, 30, 8, 0, 0, 123_000, tzinfo=UTC)),
        ("Europe/Berlin", "25/Oct/2026:02:30:00.000", datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
        ("Asia/Kolkata", "01/Jan/2026:05:30:00.000", datetime(2026, 1, 1, tzinfo=UTC)),
    ],
    ids=["as it stands", "in a zone", "the first of an hour that comes twice", "in a zone of half hours"],
)
def test_a_time_without_a_zone_is_read_in_the_zone_that_was_said(zone, date, received):
    fields = read(f"haproxy:{zone}", http_line(date=date, timers="0/0/0/0/0"))
    assert float(fields["time"]) == pytest.approx(received.timestamp(), abs=1e-6)


@pytest.mark.parametrize(
    "argument", ["Mars/Olympus", "", "UTC,captures=password", "UTC,other=1", "../../etc/passwd", "\0"]
)
def test_an_argument_that_means_nothing_is_refused(argument):
    with pytest.raises(ConfigurationError, match=r"gateway\.format"):
        format_of(f"haproxy:{argument}")


def test_the_full_name_finds_the_same_format_again():
    form = format_of("haproxy:Asia/Shanghai,captures=tenant")
    assert format_of(form.full_name).full_name == form.full_name == "haproxy:Asia/Shanghai,captures=tenant"


@pytest.mark.parametrize(
    ("line", "passed_over"),
    [
        (b"<133>Nov 30 08:00:00 lb1 haproxy[9]: Server engines/e1 is DOWN, reason: Layer4 timeout", True),
        (b"<133>Nov 30 08:00:00 lb1 haproxy[9]: backend engines has no server available!", True),
        (b"Proxy inference started.", True),
        (b"10.0.0.1:4711 [30/Nov/2026:08:00:00.123] inference/1: SSL handshake failure", True),
        (http_line().encode(), False),
        (http_line(rest=' {x 1] a/b: y} "GET /Server x HTTP/1.1"').encode(), False),
        (b"<134>Nov 30 08:00:00 lb1 haproxy[9]: " + http_line(rest=' {]: Server x} "GET / HTTP/1.1"').encode(), False),
        (b"whatever", False),
    ],
    ids=[
        "a server that went down", "a backend without servers", "a start", "a handshake that failed", "not a request",
        "not a request whose header looks like a message", "not one behind syslog either", "not what nobody knows",
    ],
)  # fmt: skip
def test_what_haproxy_says_about_itself_is_passed_over(line, passed_over):
    assert format_of("haproxy").ignores(line) is passed_over


def test_who_lets_it_be_recognised_is_told_that_its_times_are_taken_for_utc():
    why = format_of("haproxy").recognise(lines_of("haproxy")[0])
    assert why is not None
    assert "UTC (else haproxy:ZONE)" in why


def test_every_line_of_the_fixture_is_recognised_as_haproxys_alone():
    lines = [line for line in lines_of("haproxy") if not format_of("haproxy").ignores(line)]
    assert len(lines) >= 8
    assert {frozenset(recognised_by(line)) for line in lines} == {frozenset({"haproxy"})}
    assert {frozenset(recognised_by(line)) for line in lines_of("haproxy-json")} == {
        frozenset({"haproxy-json"})
    }


timers = st.integers(0, 10_000_000)


@given(
    request=timers, queued=timers, connected=timers, total=timers, ms=st.integers(0, 999),
    status=st.integers(100, 599), path=st.text("abcABC019/_.~%-", max_size=40),
)  # fmt: skip
def test_what_is_written_comes_back(*, request, queued, connected, total, ms, status, path):
    line = http_line(
        date=f"30/Nov/2026:08:00:00.{ms:03d}", timers=f"{request}/{queued}/{connected}/7/{total}", status=str(status),
        rest=f' "GET /{path}?q=1 HTTP/1.1"',
    )  # fmt: skip
    changes = {
        "TR": request,
        "Tw": queued,
        "Tc": connected,
        "Ta": total,
        "status": status,
        "path": f"/{path}",
    }
    as_json = json_line(
        accepted=f"1796025600.{ms:03d}", Th="0", Ti="0", **{key: str(value) for key, value in changes.items()}
    )
    for fields in (read("haproxy", line), read("haproxy-json", as_json)):
        assert fields["request_time"] == f"{total // 1000}.{total % 1000:03d}000"
        assert fields["queue"] == f"{queued // 1000}.{queued % 1000:03d}000"
        handed_on = request + queued + connected
        assert fields["forwarded"] == f"{handed_on // 1000}.{handed_on % 1000:03d}000"
        assert fields["time"] == f"{1796025600 + (ms + total) // 1000}.{(ms + total) % 1000:03d}000"
        assert (fields["status"], fields["uri"]) == (str(status), f"/{path}")


@given(line=mutated([*lines_of("haproxy"), *lines_of("haproxy-json")]))
def test_no_line_is_too_broken_to_be_refused(line):
    read_or_refused("haproxy", line)
    read_or_refused("haproxy:Europe/Berlin,captures=tenant|request_id", line)
    read_or_refused("haproxy-json", line)
