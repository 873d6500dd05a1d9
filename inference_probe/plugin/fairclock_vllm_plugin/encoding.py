"""Own how a record is written as OTLP: opentelemetry/proto/logs/v1/logs.proto, in protobuf's wire format.

Written by hand because it is part of what the plugin costs vLLM: the message classes take several times as long for the
same bytes. Everything that does not change from record to record is written once.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DOUBLE = Struct("<d").pack
_FIXED64 = Struct("<Q").pack
_MASK = (1 << 64) - 1
_SMALL = 0x80
_INFO = b"\x10\x09"  # severity_number = SEVERITY_NUMBER_INFO


def varint(value: int) -> bytes:
    """Return `value` as a varint; a negative one as the 64 bits of its two's complement."""
    if 0 <= value < _SMALL:
        return _ONE_BYTE[value]
    value &= _MASK
    encoded = bytearray()
    while value >= _SMALL:
        encoded.append(_SMALL | value & 0x7F)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


_ONE_BYTE = [bytes([value]) for value in range(_SMALL)]


def field(number: int, value: bytes) -> bytes:
    """Return a length-delimited field."""
    return varint(number << 3 | 2) + varint(len(value)) + value


class Attribute:
    """One attribute of a log record; each method writes the whole attribute with one value."""

    def __init__(self, key: str) -> None:
        self._key = field(1, key.encode())
        key_bytes = len(self._key)
        # attributes = 6, key = 1, value = 2 with double_value = 4: of the same length whatever the value
        self._double = b"\x32" + varint(key_bytes + 11) + self._key + b"\x12\x09\x21"
        self._one_byte = b"\x32" + varint(key_bytes + 4) + self._key + b"\x12\x02\x18"
        self._two_bytes = b"\x32" + varint(key_bytes + 5) + self._key + b"\x12\x03\x18"

    def double(self, value: float) -> bytes:
        """Write a number of seconds or a ratio, whatever it is."""
        return self._double + _DOUBLE(value)

    def integer(self, value: int) -> bytes:
        """Write a count."""
        if 0 <= value < 0x80:  # noqa: PLR2004 - one byte of seven bits, or two
            return self._one_byte + _ONE_BYTE[value]
        if 0 <= value < 0x4000:  # noqa: PLR2004
            return self._two_bytes + bytes((value & 0x7F | 0x80, value >> 7))
        return field(6, self._key + field(2, b"\x18" + varint(value)))

    def text(self, value: str) -> bytes:
        """Write a text; half a character, which JSON can escape and UTF-8 cannot hold, becomes a question mark."""
        return field(6, self._key + field(2, field(1, value.encode("utf-8", "replace"))))


EVENT = Attribute("event.name")


class Event:
    """A kind of log record, by the name of its event."""

    def __init__(self, name: str) -> None:
        # event_name is what OpenTelemetry has now; collectors from before drop it and keep the attribute
        self._rest = _INFO + EVENT.text(name) + field(12, name.encode())

    def record(self, time_ns: int, attributes: bytes) -> bytes:
        """Return one LogRecord as an element of ScopeLogs; `attributes` are written already."""
        instant = _FIXED64(max(0, time_ns) & _MASK)
        body = b"".join((b"\x09", instant, self._rest, attributes, b"\x59", instant))
        return b"\x12" + varint(len(body)) + body


class Envelope:
    """What is around the records of every request."""

    def __init__(self, resource: Mapping[str, str], *, scope: str, version: str) -> None:
        attributes = b"".join(
            field(1, field(1, key.encode()) + field(2, field(1, value.encode("utf-8", "replace"))))
            for key, value in resource.items()
        )
        self._resource = field(1, attributes)
        self._scope = field(1, field(1, scope.encode()) + field(2, version.encode()))

    def request(self, records: Iterable[bytes]) -> bytes:
        """Return an ExportLogsServiceRequest."""
        scope_logs = self._scope + b"".join(records)
        return field(1, self._resource + field(2, scope_logs))
