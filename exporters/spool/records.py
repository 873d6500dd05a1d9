"""Own how a frame lies on the disk: a header with its own checksum, then a body with another.

A valid header vouches for the length, so damage in a body costs that record alone. The header's checksum
begins with the segment's number: bytes of another segment never pass for a record of this one.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING

import google_crc32c

from exporters.spool import disk
from fairclock.model import Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairclock.model import FrameKind

MAGIC = b"\xf7\xc1"
VERSION = 1
_HEADER = struct.Struct("<2sBBII")  # magic, version, type, body's length, body's checksum
_CHECKSUM = struct.Struct("<I")
HEADER_BYTES = _HEADER.size + _CHECKSUM.size
# kind, covered or not, lengths of format, source, generation, number of repeats, offset, appended, covered from, to
_FRAME = struct.Struct("<BBHHHIQQqq")
_APPENDED = struct.Struct("<Q")
_APPENDED_AT = 20
_REPEAT_BYTES = 8
_LONGEST_TEXT_BYTES = 65_535
_KINDS: tuple[FrameKind, ...] = ("gateway", "engine", "sample", "gpu")
_END = struct.Struct("<QQ")  # frames in the segment, where this record begins
END_BYTES = HEADER_BYTES + _END.size


class Type(IntEnum):
    """What a record is."""

    FRAME = 1
    END = 2


class Found(IntEnum):
    """What a walk met."""

    FRAME = 1
    END = 2
    DAMAGED = 3  # the body's checksum does not hold; the next record begins where the header says
    BROKEN = 4  # no header: nothing behind it can be found
    TORN = 5  # the beginning of a record, as a writer that was killed leaves it


_TYPES = frozenset(Type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A piece of a segment from `start` to `end`; `body` is there for whole records only."""

    found: Found
    start: int
    end: int
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A record's body with its checksum, ready for any segment."""

    data: bytes
    checksum: int

    @property
    def record_bytes(self) -> int:
        """Return how long the record will be."""
        return HEADER_BYTES + len(self.data)


def encode_frame(frame: Frame, *, appended_us: int) -> bytes:
    """Return `frame` as bytes; raises ValueError where a name is longer than 65,535 bytes."""
    texts = [_encoded(text) for text in (frame.format, frame.source, frame.generation)]
    covered = frame.covered or (0, 0)
    fixed = _FRAME.pack(
        _KINDS.index(frame.kind), frame.covered is not None, *map(len, texts), len(frame.repeats),
        frame.offset, appended_us, *covered,
    )  # fmt: skip
    numbers = [number for repeat in frame.repeats for number in repeat]
    return b"".join((fixed, *texts, struct.pack(f"<{len(numbers)}I", *numbers), frame.payload))


def decode_frame(data: bytes) -> Frame:
    """Return the frame that `encode_frame` wrote; raises ValueError for anything else."""
    try:
        kind, has_covered, *lengths, repeats, offset, _, covered_from, covered_to = _FRAME.unpack_from(data)
        at = _FRAME.size
        texts = []
        for length in lengths:
            texts.append(data[at : at + length].decode("utf-8", "surrogatepass"))
            at += length
        numbers = struct.unpack_from(f"<{2 * repeats}I", data, at)
        at += _REPEAT_BYTES * repeats
        return Frame(
            kind=_KINDS[kind], format=texts[0], source=texts[1], generation=texts[2], offset=offset,
            payload=data[at:], repeats=tuple(zip(numbers[::2], numbers[1::2], strict=True)),
            covered=(covered_from, covered_to) if has_covered else None,
        )  # fmt: skip
    except (struct.error, IndexError) as error:
        raise ValueError(f"not a frame: {error}") from error


def appended_us(data: bytes) -> int:
    """Return when the frame of this body was appended, µs since 1970."""
    return int(_APPENDED.unpack_from(data, _APPENDED_AT)[0])


def _encoded(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > _LONGEST_TEXT_BYTES:
        raise ValueError(f"a frame's name is longer than {_LONGEST_TEXT_BYTES} bytes: {text[:100]!r}")
    return data


def body_of(data: bytes) -> Body:
    """Return `data` with its checksum."""
    return Body(data=data, checksum=google_crc32c.value(data))


def end_body(*, frames: int, at: int) -> Body:
    """Return the body of the record that closes a segment with `frames`, itself beginning at `at`."""
    return body_of(_END.pack(frames, at))


def end_of(body: bytes) -> tuple[int, int]:
    """Return (frames, at) of a closing record."""
    frames, at = _END.unpack(body)
    return frames, at


def header(kind: Type, body: Body, *, segment: int) -> bytes:
    """Return the header of a record in `segment`."""
    head = _HEADER.pack(MAGIC, VERSION, kind, len(body.data), body.checksum)
    return head + _CHECKSUM.pack(google_crc32c.extend(_seed(segment), head))


def walk(descriptor: int, *, segment: int, start: int, end: int) -> Iterator[Step]:
    """Go through the records of an open segment from `start` to `end`; stops after END, BROKEN or TORN."""
    return walk_through(partial(disk.read, descriptor), segment=segment, start=start, end=end)


def walk_through(read: Callable[[int, int], bytes], *, segment: int, start: int, end: int) -> Iterator[Step]:
    """Go through the records between `start` and `end` of what `read(size, at)` returns, as `walk` does."""
    seed = _seed(segment)
    while start < end:
        head = read(min(HEADER_BYTES, end - start), start)
        if len(head) < HEADER_BYTES:
            begins = head.startswith(MAGIC[: len(head)]) or MAGIC.startswith(head[:2])
            found = Found.TORN if begins and head else Found.BROKEN
            yield Step(found=found, start=start, end=end)
            return
        if google_crc32c.extend(seed, head[: _HEADER.size]) != _CHECKSUM.unpack_from(head, _HEADER.size)[0]:
            yield Step(found=Found.BROKEN, start=start, end=end)
            return
        _, _, kind, length, checksum = _HEADER.unpack_from(head)
        following = start + HEADER_BYTES + length
        if following > end:
            yield Step(found=Found.TORN, start=start, end=end)
            return
        body = read(length, start + HEADER_BYTES)
        if len(body) < length or google_crc32c.value(body) != checksum or kind not in _TYPES:
            yield Step(found=Found.DAMAGED, start=start, end=following)
        else:
            yield Step(found=Found(kind), start=start, end=following, body=body)
            if kind == Type.END:
                return
        start = following


def _seed(segment: int) -> int:
    return int(google_crc32c.value(segment.to_bytes(8, "little")))
