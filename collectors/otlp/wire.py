"""Own a walk through protobuf's wire format, for requests whose parser gives up over one field.

See https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT_BYTES = 10


class WireError(Exception):
    """These bytes are no protobuf message."""


def submessages(data: bytes, number: int) -> Iterator[bytes]:
    """Yield the bytes of each length-delimited field `number` of the message `data`."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        kind = tag & 7
        if kind == _VARINT:
            _, position = _varint(data, position)
        elif kind == _FIXED64:
            position += 8
        elif kind == _FIXED32:
            position += 4
        elif kind == _LENGTH:
            length, start = _varint(data, position)
            position = start + length
            if position <= len(data) and tag >> 3 == number:
                yield data[start:position]
        else:
            raise WireError(f"wire type {kind}")
        if position > len(data):
            raise WireError("a field ends after its message")


def first_field(data: bytes) -> tuple[int, int]:
    """Return (number, wire type) of the first field of the message `data`; (0, 0) where it is empty."""
    if not data:
        return 0, 0
    tag, _ = _varint(data, 0)
    return tag >> 3, tag & 7


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for index in range(_LONGEST_VARINT_BYTES):
        if position + index >= len(data):
            break
        byte = data[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:  # noqa: PLR2004 - the continuation bit
            return value, position + index + 1
    raise WireError("a varint without an end")
