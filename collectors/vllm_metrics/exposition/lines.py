"""Own how one line of an exposition is read with all care: quoted names, escapes, exemplars, timestamps."""

from __future__ import annotations

import re

from collectors.vllm_metrics.exposition.numbers import read_milliseconds, read_number, read_seconds
from collectors.vllm_metrics.exposition.samples import TYPES, Labels, MetricType, Sample

_BLANKS = " \t"
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_QUOTED = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_ESCAPE = re.compile(r'\\([\\n"])')
_PLAIN = {"\\": "\\", "n": "\n", '"': '"'}
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
NAME_LABEL = "__name__"
TWICE = "labels: the same name twice, or one that may not be"


def read_line(line: str, *, is_openmetrics: bool) -> Sample:
    """Read a line that is no comment. Raises `ValueError` with the reason why it is none."""
    unreadable = _UNREADABLE.search(line)
    if unreadable:
        raise ValueError("line: holds a NUL" if unreadable[0] == "\0" else "line: not UTF-8")
    name, labels, position = _read_series(line)
    fields = line[position:].split("#", 1)[0].split()
    if position < len(line) and line[position] not in _BLANKS:
        raise ValueError("line: nothing parts the series from its value")
    if not fields:
        raise ValueError("value: absent")
    value = read_number(fields[0])
    timestamp_us = None
    if len(fields) > 1:
        timestamp_us = (read_seconds if is_openmetrics else read_milliseconds)(fields[1])
    if len(fields) > 2:  # noqa: PLR2004 - value and timestamp
        raise ValueError("line: more than a value and a timestamp")
    return Sample(name, labels, value, timestamp_us)


def read_type(comment: str) -> tuple[str, MetricType] | None:
    """Read the family and type of a ``# TYPE`` line, None for any other comment. Raises `ValueError`."""
    words = comment.lstrip(_BLANKS)[1:].split(None, 1)
    if len(words) < 2 or words[0] != "TYPE":  # noqa: PLR2004 - TYPE and what follows
        return None
    rest = words[1].strip()
    match = _QUOTED.match(rest) if rest.startswith('"') else _METRIC.match(rest)
    if match is None or _UNREADABLE.search(rest):
        raise ValueError("TYPE: not of a metric's name")
    name = unescape(match[1]) if rest.startswith('"') else match[0]
    after = rest[match.end() :]
    kind = TYPES.get(after.strip().lower())
    if kind is None or after[0] not in _BLANKS:
        raise ValueError("TYPE: not one of the known types")
    return name, kind


def unescape(text: str) -> str:
    r"""Resolve ``\\``, ``\"`` and ``\n``; a backslash before anything else is itself."""
    return _ESCAPE.sub(lambda match: _PLAIN[match[1]], text) if "\\" in text else text


def _read_series(line: str) -> tuple[str, Labels, int]:
    start = len(line) - len(line.lstrip(_BLANKS))
    match = _METRIC.match(line, start)
    name, position = (match[0], match.end()) if match else ("", start)
    after = _skip(line, position)
    if line[after : after + 1] != "{":
        if not name:
            raise ValueError("name: not of a metric")
        return name, (), position
    return _read_braces(line, after + 1, name)


def _read_braces(line: str, position: int, name: str) -> tuple[str, Labels, int]:
    """Read labels up to the closing brace; the name may be among them, quoted and without a value."""
    labels: dict[str, str] = {}
    while not line.startswith("}", position := _skip(line, position)):
        term, value, position = _read_term(line, position)
        if value is None:
            if name:
                raise ValueError("labels: a name without a value")
            name = term
        elif term in labels:
            raise ValueError(TWICE)
        else:
            labels[term] = value
        if line[position : position + 1] == ",":
            position += 1
        elif line[position : position + 1] != "}":
            raise ValueError("labels: no comma or brace where one is due")
    if not name:
        raise ValueError("name: absent")
    return name, tuple(sorted(labels.items())), position + 1


def _read_term(line: str, position: int) -> tuple[str, str | None, int]:
    """Read ``name="value"``, or a quoted name alone; return where the blanks after it end."""
    quoted = line[position : position + 1] == '"'
    match = (_QUOTED if quoted else _LABEL).match(line, position)
    if match is None:
        raise ValueError("labels: no name where one is due")
    name = unescape(match[1]) if quoted else match[0]
    if not name or name == NAME_LABEL:
        raise ValueError(TWICE)
    position = _skip(line, match.end())
    if line[position : position + 1] != "=":
        if not quoted:
            raise ValueError("labels: a name without a value")
        return name, None, position
    value = _QUOTED.match(line, _skip(line, position + 1))
    if value is None:
        raise ValueError("labels: a value without its quotes")
    return name, unescape(value[1]), _skip(line, value.end())


def _skip(line: str, position: int) -> int:
    while line[position : position + 1] in (" ", "\t"):
        position += 1
    return position
