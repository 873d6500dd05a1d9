"""Own how frames travel: the spool's records one after the other, closed by the record that closes a segment.

So a body that was cut, or changed under way, is refused as a whole; the sender still has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporters.spool.records import (
    VERSION,
    Found,
    Type,
    body_of,
    decode_frame,
    encode_frame,
    end_body,
    end_of,
    header,
    walk_through,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model import Frame

PATH = "/v1/frames"
MEDIA_TYPE = f"application/vnd.fairclock.frames.v{VERSION}"
LARGEST_BATCH_BYTES = 48 << 20
"""Room for a frame with the largest body that an OTLP sender may send, and then some."""

_NO_SEGMENT = 0  # the segments of a spool count from 1: a record under way passes for none of theirs


def encode_batch(frames: Sequence[Frame], *, sent_us: int) -> bytes:
    """Return the body that carries `frames`; `sent_us` is the present, µs since 1970."""
    pieces: list[bytes] = []
    length = 0
    for frame in frames:
        body = body_of(encode_frame(frame, appended_us=sent_us))
        pieces += (header(Type.FRAME, body, segment=_NO_SEGMENT), body.data)
        length += body.record_bytes
    end = end_body(frames=len(frames), at=length)
    return b"".join([*pieces, header(Type.END, end, segment=_NO_SEGMENT), end.data])


def decode_batch(data: bytes) -> list[Frame]:
    """Return the frames in a body; raises ValueError, with a sentence, unless every one of them is whole."""
    frames: list[Frame] = []

    def read(size: int, at: int) -> bytes:
        return data[at : at + size]

    for step in walk_through(read, segment=_NO_SEGMENT, start=0, end=len(data)):
        if step.found is Found.FRAME:
            frames.append(decode_frame(step.body))
        elif step.found is not Found.END:
            raise ValueError(f"the batch is damaged at byte {step.start} of {len(data)}")
        elif end_of(step.body) != (len(frames), step.start) or step.end != len(data):
            raise ValueError("the batch does not hold what its end says")
        else:
            return frames
    raise ValueError("the batch ends before its last record")
