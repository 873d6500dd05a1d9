"""Own what of a syslog message is the gateway's line: RFC 5424, and what is sent under the name of RFC 3164."""

from __future__ import annotations

import re

_RFC_5424 = re.compile(
    rb"<\d{1,3}>[1-9]\d{0,2} \S+ \S+ \S+ \S+ \S+ (?:-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: |$)", re.DOTALL
)
_RFC_3164 = re.compile(
    rb"<\d{1,3}>"
    rb"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |\d{4}-\d\d-\d\dT\S+ )?"
    rb"(?:[^\s{]+ )?"  # the host, which nginx leaves out where it is told to
    rb"[^\s:\[{]{1,64}(?:\[[^\]\s]*\])?: ?"
)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_JSON_COOKIE = b"@cee:"
_ENDS = b"\r\n\0"


def content_of(message: bytes) -> bytes:
    """Return the content of a syslog message; one without a header that can be read is returned as it is."""
    header = _RFC_5424.match(message) or _RFC_3164.match(message)
    content = message[header.end() :] if header else message
    content = content.removeprefix(_BYTE_ORDER_MARK).strip(_ENDS)
    if content.startswith(_JSON_COOKIE):
        content = content.removeprefix(_JSON_COOKIE).lstrip()
    return content
