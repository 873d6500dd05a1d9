"""Own how received lines become frames: numbered within their stream, with the event time that they cover.

A stream is one connection, or all datagrams. What a relay sends again over a new connection is a new stream and
adds nothing; equal lines within one stream are several requests. A stream cannot be read again, so what is
remembered of it is bounded: a line that comes once more long after its own time is taken for a line sent again.
"""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.gateway.formats import AUTO, FORMATS, SHIPPED, Detected, FormatChoice
from collectors.gateway.syslog.messages import content_of
from collectors.gateway.tailing.event_times import event_times, possible_times
from collectors.gateway.tailing.framing import cuts
from collectors.gateway.tailing.key_index import KeyIndex
from collectors.gateway.tailing.numbering import Numbering
from collectors.lines import LineSplitter
from collectors.otlp.coverage import ListeningCoverage
from fairclock.errors import InputError
from fairclock.model import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from collectors.gateway.formats import GatewayFormat

_LOG = logging.getLogger(__name__)
_NS_PER_US = 1_000
MOST_REMEMBERED_LINES = 200_000


class Stream:
    """Number the lines of one stream."""

    def __init__(self, *, most_remembered_lines: int = MOST_REMEMBERED_LINES) -> None:
        self.generation = uuid.uuid4().hex
        self.offset = 0
        self._numbering = Numbering(most_remembered_lines=most_remembered_lines)
        self._form: GatewayFormat | None = None

    def form(self, lines: Sequence[bytes], choice: FormatChoice) -> GatewayFormat:
        """Return the format of the stream's lines; a stream that could be in several is taken for none of them."""
        if self._form is not None:
            return self._form
        try:
            detected = choice.of(lines, where="syslog")
        except InputError as doubt:
            _LOG.warning("%s", doubt)
            detected = Detected(form=FORMATS[SHIPPED], why="", certain=False)
        if detected.certain:
            self._form = detected.form
            detected.tell(_LOG, "syslog")
        self._numbering.form = detected.form
        return detected.form

    def number(self, lines: list[bytes], buckets: Sequence[int | None]) -> list[tuple[int, int]]:
        """Return (index, k) of each line that came before."""
        self._numbering.index = KeyIndex()  # nothing can be read again
        return self._numbering.number(lines, buckets, start=self.offset, read_again=lambda _start, _end: ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """Messages of one stream, in the order in which they came; `covers` says that none is missing among them."""

    stream: Stream
    messages: Sequence[bytes]
    covers: bool = True


@dataclass(frozen=True, slots=True)
class Loss:
    """Messages were lost here: no time is covered from the latest one before to the next."""


class Framing:
    """Make frames of what was received, and know what event time was listened to."""

    def __init__(self, *, source: str, log_format: str = AUTO) -> None:
        self._source = source
        self._choice = FormatChoice(log_format)
        self._coverage = ListeningCoverage()
        self._listening_since: float | None = None

    def frames(
        self, received: Iterable[Received | Loss], *, now_us: int, monotonic_seconds: float
    ) -> list[Frame]:
        """Return the frames of `received`; the present is given by both clocks."""
        frames: list[Frame] = []
        for each in received:
            if isinstance(each, Loss):
                self._coverage, self._listening_since = ListeningCoverage(), None
                continue
            if self._listening_since is None:
                self._listening_since = monotonic_seconds
            frames += self._stream_frames(each, now_us, monotonic_seconds - self._listening_since)
        return frames

    def _stream_frames(self, received: Received, now_us: int, listened_seconds: float) -> list[Frame]:
        stream = received.stream
        joined = b"\n".join(map(content_of, received.messages)) + b"\n"
        lines = [line for line in LineSplitter(from_the_start=False).feed(joined) if line]
        form = stream.form(lines, self._choice)
        times = event_times(lines, form)
        repeats = stream.number(lines, times.buckets)
        frames: list[Frame] = []
        for begin, end in cuts(lines):
            payload = b"\n".join(lines[begin:end]) + b"\n"
            numbers = tuple((at - begin, k) for at, k in repeats if begin <= at < end)
            ends_us = possible_times(times.times_us[begin:end], now_us=now_us) if received.covers else []
            covered = self._coverage.observe(
                [end_us * _NS_PER_US for end_us in ends_us], listened_seconds=listened_seconds
            )
            frames.append(self._frame(stream, form, payload, covered[0] if covered else None, numbers))
            # A frame covers one interval; what more there is goes into frames without lines.
            frames += [self._frame(stream, form, b"", other) for other in covered[1:]]
        return frames

    def _frame(
        self,
        stream: Stream,
        form: GatewayFormat,
        payload: bytes,
        covered: tuple[int, int] | None,
        repeats: tuple[tuple[int, int], ...] = (),
    ) -> Frame:
        frame = Frame(
            kind="gateway",
            format=form.full_name,
            source=self._source,
            generation=stream.generation,
            offset=stream.offset,
            payload=payload,
            repeats=repeats,
            covered=covered,
        )
        stream.offset += len(payload)
        return frame
