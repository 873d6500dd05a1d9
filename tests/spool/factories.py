"""Frames, and what is done to the files of a spool."""

from pathlib import Path

from exporters.spool import Spool
from fairclock.model import Frame

SEGMENT_BYTES = 600


def good_frame(number=0, **changes):
    fields = {
        "kind": "gateway",
        "format": "nginx-json",
        "source": "edge",
        "generation": "8:15:beef",
        "offset": number * 100,
        "payload": b'{"time":"%d"}\n' % number * 3,
        "repeats": ((1, 1), (2, 2)),
        "covered": (number, number + 1),
    }
    return Frame(**{**fields, **changes})


def opened(directory, *, segment_bytes=SEGMENT_BYTES, limit_bytes=1_000_000, **settings):
    return Spool(Path(directory), limit_bytes=limit_bytes, segment_bytes=segment_bytes, **settings)


def waiting(spool):
    """Return every frame that was not acknowledged."""
    return spool.read(spool.position, max_bytes=1 << 40)[0]


def offsets(frames):
    return [frame.offset // 100 for frame in frames]


def segments(directory):
    return sorted((Path(directory) / "segments").iterdir())


def quarantined(directory):
    return sorted((Path(directory) / "quarantine").iterdir())
