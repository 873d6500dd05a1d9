"""Own how a customer's log becomes measurements: CSV or JSON lines, columns by name, every bad line named and counted.

Nothing passes through a float, and nothing is guessed that changes a number: a duration without a unit in its column's name
needs one, an instant without a zone is bad unless a zone is given.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from fairclock.errors import InputError, UsageError
from fairclock.model import to_us

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import tzinfo

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_LOOKED_FOR = {
    "id": ("request_id", "x_request_id", "x-request-id", "id"),
    "trace": ("trace_id", "traceparent", "trace"),
    "start": ("start", "started_at", "start_time", "sent_at", "timestamp", "time"),
    "duration": (
        "duration", "duration_ms", "duration_s", "duration_us", "elapsed", "elapsed_ms", "elapsed_s", "elapsed_us",
        "latency", "latency_ms", "latency_s", "latency_us",
    ),
    "first_token": ("time_to_first_token", "ttft", "ttft_ms", "ttft_s", "first_token_ms"),
    "status": ("status", "status_code", "code"),
}  # fmt: skip
COLUMNS = tuple(_LOOKED_FOR)
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_TRACE = re.compile(r"[0-9a-f]{32}")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SECONDS_FROM, _MILLISECONDS_FROM, _MICROSECONDS_FROM = 10**9, 10**12, 10**15
_NANOSECONDS_FROM = 10**18
_LONGEST_US = 86_400_000_000
_EXCERPT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What the customer's columns are called and mean.

    columns: their names by ours (`COLUMNS`); what is not named is looked for. unit: of durations, where no column's name ends
    with one. zone: of instants that have none.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    unit: str | None = None
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Theirs:
    """One request as the customer measured it; `line` is where it stands in the file. None: not in the file."""

    line: int
    id: str = ""
    trace: str = ""
    start_us: int | None = None
    duration_us: int
    first_token_us: int | None = None
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that is no measurement, and why."""

    line: int
    problem: str
    excerpt: str


def read_log(content: bytes, layout: Layout, *, where: str) -> tuple[list[Theirs], list[BadLine]]:
    """Return the measurements of a log and its bad lines; every line that is not empty is one or the other.

    InputError where the file as a whole cannot be read, UsageError where a column or a unit has to be named.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            where, "is not UTF-8 text", found=str(error)[:80], remedy="save it as UTF-8"
        ) from error
    rows = _json_rows(text) if text.lstrip()[:1] == "{" else _csv_rows(text)
    found: list[Theirs] = []
    bad: list[BadLine] = []
    names: dict[str, str] | None = None
    for line, row, excerpt in rows:
        if not isinstance(row, dict):
            bad.append(BadLine(line=line, problem=row, excerpt=excerpt[:_EXCERPT]))
            continue
        if names is None:
            names = _named(row, layout, where)
        try:
            found.append(_measured(line, row, names, layout))
        except ValueError as error:
            bad.append(BadLine(line=line, problem=str(error), excerpt=excerpt[:_EXCERPT]))
    if not found and not bad:
        raise InputError(where, "holds no line", remedy="name a CSV file with a header, or JSON lines")
    return found, bad


def _json_rows(text: str) -> Iterator[tuple[int, dict[str, Any] | str, str]]:
    for line, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        try:
            row = json.loads(raw, parse_float=Decimal)
        except (ValueError, RecursionError):
            yield line, "is no JSON", raw
            continue
        yield line, row if isinstance(row, dict) else "is no JSON object", raw


def _csv_rows(text: str) -> Iterator[tuple[int, dict[str, Any] | str, str]]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            yield line, f"is no CSV ({error})", ""
            continue
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if header is None:
            header = [cell.strip() for cell in row]
        elif len(row) != len(header):
            yield line, f"has {len(row)} cells, the header has {len(header)}", delimiter.join(row)
        else:
            yield line, dict(zip(header, row, strict=True)), delimiter.join(row)


def _named(row: Mapping[str, Any], layout: Layout, where: str) -> dict[str, str]:
    """Return which column holds what; UsageError where one that is needed has to be named."""
    lowered = {str(name).strip().lower(): str(name) for name in row}
    names: dict[str, str] = {}
    for ours, candidates in _LOOKED_FOR.items():
        if ours in layout.columns:
            wanted = layout.columns[ours]
            if wanted.strip().lower() not in lowered:
                raise UsageError(
                    f"--column {ours}={wanted}", f"{where} has no such column", found=_list(row),
                    remedy="name one of these",
                )  # fmt: skip
            names[ours] = lowered[wanted.strip().lower()]
            continue
        known = next((each for each in candidates if each in lowered), None)
        if known is not None:
            names[ours] = lowered[known]
    if "duration" not in names:
        raise UsageError(
            "--column duration=NAME", f"{where} has no column that is known to hold durations", found=_list(row),
            remedy="name it",
        )  # fmt: skip
    if not {"id", "trace", "start"} & set(names):
        raise UsageError(
            "--column id=NAME", f"{where} has neither ids nor starts", found=_list(row),
            remedy="name the column of request ids, of trace ids, or of starts",
        )  # fmt: skip
    for ours in ("duration", "first_token"):
        if ours in names and _unit(names[ours], layout) is None:
            raise UsageError(
                "--unit",
                f"the column {names[ours]} does not say in which unit it counts",
                remedy="write s, ms or us",
            )
    return names


def _list(row: Iterable[object]) -> str:
    return ", ".join(map(str, row))[:200]


def _unit(name: str, layout: Layout) -> int | None:
    ending = name.strip().lower().rpartition("_")[2]
    unit = ending if ending in UNITS else layout.unit
    return None if unit is None else UNITS[unit]


def _measured(line: int, row: Mapping[str, Any], names: Mapping[str, str], layout: Layout) -> Theirs:
    def text(ours: str) -> str:
        value = row.get(names[ours]) if ours in names else None
        return "" if value is None else str(value).strip()

    said = {ours: text(ours) for ours in COLUMNS}
    trace = _trace(said["trace"])
    id_ = said["id"]
    if not trace and _TRACEPARENT.fullmatch(id_.lower()):
        trace, id_ = _trace(id_), ""
    if not (trace or id_ or said["start"]):
        raise ValueError("has neither an id nor a start")
    duration_us = _length(said["duration"], names["duration"], layout)
    if duration_us is None:
        raise ValueError("has no duration")
    return Theirs(
        line=line,
        id=id_,
        trace=trace,
        start_us=_instant(said["start"], layout) if said["start"] else None,
        duration_us=duration_us,
        first_token_us=_length(said["first_token"], names["first_token"], layout)
        if "first_token" in names
        else None,
        status=said["status"],
    )


def _trace(text: str) -> str:
    """Return a trace id in its one spelling, out of a traceparent too; empty where the text is none."""
    lowered = text.lower()
    parent = _TRACEPARENT.fullmatch(lowered)
    found = parent[1] if parent else lowered.replace("-", "")
    return found if _TRACE.fullmatch(found) and found != "0" * 32 else ""


def _length(text: str, name: str, layout: Layout) -> int | None:
    if text in {"", "-"}:
        return None
    length = _decimal(text, "a duration")
    microseconds = int(length * (_unit(name, layout) or 1))
    if not 0 <= microseconds <= _LONGEST_US:
        raise ValueError(f"has the duration {text}, which is none")
    return microseconds


def _decimal(text: str, what: str) -> Decimal:
    try:
        if not _NUMBER.fullmatch(text):
            raise InvalidOperation  # noqa: TRY301 - one sentence for both
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"has {text[:40]!r}, which is not {what}") from error


def _instant(text: str, layout: Layout) -> int:
    """Return an instant: ISO 8601, or a number since 1970 whose size says whether it counts seconds, ms, µs or ns."""
    if _NUMBER.fullmatch(text):
        number = _decimal(text, "an instant")
        for least, factor in (
            (_NANOSECONDS_FROM, Decimal("0.001")),
            (_MICROSECONDS_FROM, Decimal(1)),
            (_MILLISECONDS_FROM, Decimal(1_000)),
            (_SECONDS_FROM, Decimal(1_000_000)),
        ):
            if least <= number < least * 10:
                return int(number * factor)
        raise ValueError(f"has {text[:40]!r}, which is no instant since 2001")
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"has {text[:40]!r}, which is no instant") from error
    if value.tzinfo is None:
        if layout.zone is None:
            raise ValueError(f"has {text[:40]!r}, an instant without a zone (name one with --zone)")
        value = value.replace(tzinfo=layout.zone)
    return to_us(value)
