"""Own how an answer is compressed whose first part was compressed before: one gzip member, as every reader takes it."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
_LEVEL = 1
_RAW = -zlib.MAX_WBITS
_SIZE_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Deflated:
    """The beginning of an answer: its compressed bytes, which something may follow, and what the end needs to know of it."""

    content: bytes
    crc: int
    length: int


def deflated(body: bytes) -> Deflated:
    """Return `body` compressed."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    # after a full flush nothing that follows refers back
    content = compressor.compress(body) + compressor.flush(zlib.Z_FULL_FLUSH)
    return Deflated(content=content, crc=zlib.crc32(body), length=len(body))


def gzip_of(beginning: Deflated, rest: bytes) -> bytes:
    """Return the gzip of `beginning` and `rest`."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    end = compressor.compress(rest) + compressor.flush(zlib.Z_FINISH)
    crc = zlib.crc32(rest, beginning.crc)
    trailer = struct.pack("<II", crc, (beginning.length + len(rest)) & _SIZE_MASK)
    return b"".join((_HEADER, beginning.content, end, trailer))
