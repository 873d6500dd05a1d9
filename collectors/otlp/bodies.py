"""Own the size of a request body: as sent, and after decompression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.byte_streams import Truncated, inflated
from collectors.otlp.problems import MalformedRequest, OversizedRequest, UnsupportedRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST_BODY_BYTES = 20 << 20
"""A vLLM exporter sends batches of 512 spans, well below 1 MiB. The OpenTelemetry Collector has the same limit."""

_PLAIN = {"", "identity"}
_FLATE = {"gzip", "x-gzip", "deflate"}


def plain_body(body: bytes, encoding: str) -> bytes:
    """Return `body` without its Content-Encoding; raises a `RequestProblem`.

    Never holds more than the limit and one piece, whatever a compressed body claims to be.
    """
    name = encoding.strip().lower()
    if name in _PLAIN:
        return joined([body])
    if name not in _FLATE:
        raise UnsupportedRequest(f"Content-Encoding {encoding!r} is not read here; send gzip or nothing")
    if not body:
        raise MalformedRequest(f"the body is empty, which is no {name} stream")
    try:
        return joined(inflated([body], accept_zlib=name == "deflate"))
    except Truncated as problem:
        raise MalformedRequest(str(problem)) from problem


def joined(pieces: Iterable[bytes]) -> bytes:
    """Join `pieces`, up to the limit."""
    held: list[bytes] = []
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > LARGEST_BODY_BYTES:
            raise OversizedRequest(
                f"the body is larger than {LARGEST_BODY_BYTES >> 20} MiB; send smaller batches"
            )
        held.append(piece)
    return b"".join(held)
