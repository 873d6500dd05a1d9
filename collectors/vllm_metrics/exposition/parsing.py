"""Own how an exposition becomes samples: whatever a line is, it costs no other one.

Almost every line is ``name{label="value",…} number`` without escapes. One regular expression takes all of these at
once; the others are read one by one in `lines`, by the same rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.vllm_metrics.exposition.lines import NAME_LABEL, TWICE, read_line, read_type
from collectors.vllm_metrics.exposition.numbers import read_number
from collectors.vllm_metrics.exposition.samples import TYPES, Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from collectors.vllm_metrics.exposition.samples import Labels, MetricType, Number

_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="[^"\\\n\0\ud800-\udfff]*"'
_NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
_LINE = re.compile(
    rf"^(?:({_NAME})(?:\{{({_LABEL}(?:,{_LABEL})*)?,?\}})? ([0-9.eE+-]+)"
    rf"|# HELP {_NAME} [^\n\0\ud800-\udfff]*|# TYPE ({_NAME}) (counter|gauge|histogram)|(.*))$",
    re.MULTILINE,
)
_PAIR = re.compile(r'([a-zA-Z0-9_]+)="([^"]*)"')
_END = "# EOF"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_EXCERPT = 1_000
_AFTER_THE_END = "line: after the end"
_UNENDED = "line: the last one does not end, and may be cut off"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that could not be read: its number from 1, why, and the beginning of it."""

    number: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposition:
    """What one answer of an exporter holds.

    samples: in the order of the text, each series once: the first one stays.
    types: of families that have a ``# TYPE`` line, by the name in it.
    duplicates: how many samples of a series that came before in the same text were passed over.
    is_complete: whether it ends as its format asks, so that nothing was cut off.
    """

    samples: Sequence[Sample]
    types: Mapping[str, MetricType]
    bad_lines: Sequence[BadLine]
    duplicates: int
    is_openmetrics: bool
    is_complete: bool


def parse(body: bytes, *, content_type: str | None = None) -> Exposition:
    """Read a whole exposition; never raises for what is in it.

    Without a content type that names a format, a text that ends with ``# EOF`` is OpenMetrics. The formats differ in
    the unit of timestamps. Exemplars, help texts and units are passed over.
    """
    text = _decoded(body)
    is_openmetrics = _is_openmetrics(text, content_type)
    reading = _Reading(text, is_openmetrics=is_openmetrics)
    reading.run()
    return Exposition(
        samples=reading.samples,
        types=reading.types,
        bad_lines=reading.bad_lines,
        duplicates=reading.duplicates,
        is_openmetrics=is_openmetrics,
        is_complete=reading.is_complete,
    )


def _decoded(body: bytes) -> str:
    """Return the text, in which half a character stands for each byte that is not UTF-8."""
    text = body.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "surrogateescape")
    return text.replace("\r\n", "\n") if "\r" in text else text


def _is_openmetrics(text: str, content_type: str | None) -> bool:
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if media_type == "application/openmetrics-text":
        return True
    if media_type == "text/plain" and "version" in (content_type or ""):
        return False
    return text.rstrip().endswith("\n" + _END) or text.strip() == _END


class _Reading:
    """The reading of one text; equal label sets and equal numbers are read once."""

    def __init__(self, text: str, *, is_openmetrics: bool) -> None:
        self._text = text
        self._is_openmetrics = is_openmetrics
        self._seen: set[tuple[str, Labels]] = set()
        self._known_labels: dict[str, Labels] = {"": ()}
        self._known_numbers: dict[str, Number | None] = {}
        self.samples: list[Sample] = []
        self.types: dict[str, MetricType] = {}
        self.bad_lines: list[BadLine] = []
        self.duplicates = 0
        self.is_complete = not is_openmetrics

    def run(self) -> None:
        lines = _LINE.findall(self._text)
        unended = self._take_unended(lines)
        ended = False
        for number, (name, labels, value, family, kind, other) in enumerate(lines, 1):
            if not name and not family:
                ended = (bool(other) and self._read_other(number, other, ended=ended)) or ended
            elif ended:
                self._refuse(number, name or f"# TYPE {family}", _AFTER_THE_END)
            elif family:
                self.types.setdefault(family, TYPES[kind])
            else:
                try:
                    self._add(self._plain(name, labels, value))
                except ValueError as problem:
                    self._refuse(number, f"{name} {value}", str(problem))
        if self._is_openmetrics:
            self.is_complete = ended
        if unended is not None:
            self._refuse(len(lines) + 1, unended, _UNENDED)
            self.is_complete = False

    def _plain(self, name: str, labels_text: str, value_text: str) -> Sample:
        """Return the sample of a line that the regular expression took apart. Raises `ValueError`."""
        labels = self._known_labels.get(labels_text)
        if labels is None:
            labels = self._known_labels[labels_text] = _plain_labels(labels_text)
        if value_text in self._known_numbers:
            return Sample(name, labels, self._known_numbers[value_text])
        value = self._known_numbers[value_text] = read_number(value_text)
        return Sample(name, labels, value)

    def _take_unended(self, lines: list[tuple[str, ...]]) -> str | None:
        """Take away a last line that has no end: `12` may have been `1234`."""
        if not self._text or self._text.endswith("\n"):
            return None
        last = self._text[self._text.rfind("\n") + 1 :]
        if not last.strip() or last.lstrip().startswith("#"):
            return None
        lines.pop()
        return last

    def _read_other(self, number: int, line: str, *, ended: bool) -> bool:
        """Read a line of any other shape; return whether it is the end."""
        stripped = line.strip()
        if not stripped:
            return False
        if ended:
            self._refuse(number, line, _AFTER_THE_END)
            return False
        try:
            if stripped[0] != "#":
                self._add(read_line(line, is_openmetrics=self._is_openmetrics))
            elif stripped == _END:
                return self._is_openmetrics
            else:
                family = read_type(stripped)
                if family is not None:
                    self.types.setdefault(*family)
        except ValueError as problem:
            self._refuse(number, line, str(problem))
        return False

    def _add(self, sample: Sample) -> None:
        series = (sample.name, sample.labels)
        if series in self._seen:
            self.duplicates += 1
            return
        self._seen.add(series)
        self.samples.append(sample)

    def _refuse(self, number: int, line: str, reason: str) -> None:
        text = line[:_LONGEST_EXCERPT].encode("utf-8", "replace").decode()
        self.bad_lines.append(BadLine(number=number, reason=reason, text=text))


def _plain_labels(text: str) -> Labels:
    """Read labels that the regular expression has found well formed."""
    pairs = _PAIR.findall(text)
    names = {name for name, _ in pairs}
    if len(names) < len(pairs) or NAME_LABEL in names:
        raise ValueError(TWICE)
    pairs.sort()
    return tuple(pairs)
