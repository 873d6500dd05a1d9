"""What of a syslog message is the gateway's line, and where one message ends in a connection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.syslog.connections import MessageSplitter
from collectors.gateway.syslog.messages import content_of

LINE = b'{"time":"1795980364.100","uri":"/v1/a: b","status":"200"}'


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(b"<190>Oct  7 12:00:00 gw-1 nginx: " + LINE, id="as nginx sends it"),
        pytest.param(b"<190>Oct 17 12:00:00 nginx: " + LINE, id="as nginx sends it without its host"),
        pytest.param(
            b"<190>Oct 17 12:00:00 fe80::1 nginx: " + LINE, id="from a host that is an IPv6 address"
        ),
        pytest.param(b"<13>Oct 17 12:00:00 gw nginx[1234]: " + LINE, id="with a process id"),
        pytest.param(
            b"<13>2026-10-07T12:00:00.123+02:00 gw nginx: " + LINE, id="with the time as rsyslog writes it"
        ),
        pytest.param(b"<13>Oct 17 12:00:00 gw nginx: @cee: " + LINE, id="marked as JSON"),
        pytest.param(b"<13>Oct 17 12:00:00 gw nginx:" + LINE, id="without a space before the content"),
        pytest.param(b"<190>1 2026-10-07T12:00:00Z gw nginx 12 ID47 - " + LINE, id="RFC 5424"),
        pytest.param(b"<190>1 - - - - - - " + LINE, id="RFC 5424 with nothing but content"),
        pytest.param(
            rb'<190>1 2026-10-07T12:00:00Z gw nginx 12 - [a@1 k="v\"\]x"][b@1 q="1"] '
            b"\xef\xbb\xbf" + LINE,
            id="RFC 5424 with structured data and a byte order mark",
        ),
        pytest.param(
            b"<13>Oct 17 12:00:00 gw nginx: " + LINE + b"\r\n\0", id="with an end that says nothing"
        ),
        pytest.param(LINE, id="the line alone"),
    ],
)
def test_the_content_is_the_line(message):
    assert content_of(message) == LINE


@pytest.mark.parametrize("message", [b"", b"<190>", b"nonsense", b"<999999>x: y", b"<1>" + b"[" * 50_000])
def test_what_is_no_syslog_stays_as_it_is(message):
    assert content_of(message) == message


def test_an_empty_content_is_empty():
    assert content_of(b"<190>1 2026-10-07T12:00:00Z gw nginx 12 ID47 -") == b""


MESSAGES = [b"<190>Oct  7 12:00:00 gw nginx: " + LINE, b"<1>1 - - - - - - \xff\xfe", b"<1>x: y"]


def counted(message):
    return b"%d %s" % (len(message), message)


def ended(message):
    return message + b"\n"


def split(data, cuts, **limits):
    splitter, found, last = MessageSplitter(**limits), [], 0
    for cut in [*sorted(cuts), len(data)]:
        found += splitter.feed(data[last:cut])
        last = max(last, cut)
    return found + splitter.finish()


@given(st.data())
def test_messages_are_the_same_however_they_are_framed_and_cut(data):
    chosen = data.draw(st.lists(st.tuples(st.sampled_from(MESSAGES), st.sampled_from([counted, ended]))))
    stream = b"".join(frame(message) for message, frame in chosen)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=10))
    assert split(stream, cuts) == [message for message, _ in chosen]


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=10))
def test_bytes_that_are_no_syslog_are_split_the_same_however_they_are_cut(data, cuts):
    assert split(data, [min(cut, len(data)) for cut in cuts], longest_message_bytes=60) == split(
        data, [], longest_message_bytes=60
    )


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        pytest.param(b"<1>a: b\0<1>c: d\0", [b"<1>a: b", b"<1>c: d"], id="a NUL ends a message, too"),
        pytest.param(b"\n\n<1>a: b\n\n", [b"<1>a: b"], id="blank lines are nothing"),
        pytest.param(b"<1>a: b", [b"<1>a: b"], id="the end of the connection ends a message"),
        pytest.param(b"20 <1>a: b", [], id="a counted message that was cut off is no message"),
        pytest.param(
            b"7 <1>a: b12 <1>with\nline\n", [b"<1>a: b", b"<1>with\nline"], id="a count covers newlines"
        ),
        pytest.param(
            b"42 is the answer\n<1>a: b\n", [b"42 is the answer", b"<1>a: b"], id="a number is no count"
        ),
        pytest.param(
            b"90 <" + b"x" * 89 + b"7 <1>a: b",
            [b"<" + b"x" * 59, b"<1>a: b"],
            id="a counted one that is too long",
        ),
        pytest.param(
            b"<" + b"x" * 200 + b"\n<1>a: b\n", [b"<" + b"x" * 59, b"<1>a: b"], id="a line that is too long"
        ),
    ],
)
def test_framing(data, messages):
    assert split(data, range(len(data)), longest_message_bytes=60) == messages
