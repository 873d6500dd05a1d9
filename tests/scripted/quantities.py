"""Own the small words of scripts: durations, numbers, local instants, intervals."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

_UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_INSTANT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?(?: ?(Z|[+-]\d{2}:\d{2}))?"
)


def duration_us(text: str) -> int:
    """Read ``1.5s`` as whole microseconds; raises ValueError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"not a duration ({text}); write such as 300ms, 1.5s or 5m")
    exact = Fraction(match[1]) * _UNITS_US[match[2]]
    if exact.denominator != 1:
        raise ValueError(f"finer than a microsecond ({text})")
    return int(exact)


def value(text: str) -> Fraction | None:
    """Read an expected figure: ``12``, ``98.5%``, ``985/1000``, ``1.2s`` (seconds) or ``none``; raises ValueError."""
    if text == "none":
        return None
    if _DURATION.fullmatch(text):
        return Fraction(duration_us(text), 1_000_000)
    if text.endswith("%"):
        return _number(text[:-1]) / 100
    whole, slash, part = text.partition("/")
    return _number(whole) / _number(part) if slash else _number(text)


def _number(text: str) -> Fraction:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"not a number ({text}); write such as 12, 98.5%, 985/1000, 1.2s or none")
    return Fraction(text)


def instant(text: str, zone: str) -> datetime:
    """Read ``2026-03-02 10:00:00.5``, local in `zone` unless an offset follows; the day alone is its 00:00.

    A local time that clocks skip or repeat raises ValueError: say it with its offset.
    """
    match = _INSTANT.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"not an instant ({text}); write such as 2026-03-02 10:00, local, or with Z or +08:00"
        )
    day, clock, offset = match.groups()
    local = datetime.fromisoformat(f"{day}T{clock or '00:00'}")
    if offset:
        return datetime.fromisoformat(f"{local.isoformat()}{offset}").astimezone(UTC)
    first = local.replace(tzinfo=ZoneInfo(zone), fold=0)
    second = local.replace(tzinfo=ZoneInfo(zone), fold=1)
    if first.utcoffset() != second.utcoffset():
        raise ValueError(f"{text} comes twice or never in {zone}; write its offset, such as {text} +02:00")
    return first.astimezone(UTC)


def interval(text: str, zone: str) -> tuple[datetime, datetime]:
    """Read ``2026-03`` (the local month) or ``INSTANT .. INSTANT``; raises ValueError."""
    if re.fullmatch(r"\d{4}-\d{2}", text):
        first = date.fromisoformat(f"{text}-01")
        after = (first + timedelta(days=31)).replace(day=1)
        return instant(first.isoformat(), zone), instant(after.isoformat(), zone)
    start, dots, end = text.partition("..")
    if not dots:
        raise ValueError(f"not an interval ({text}); write such as 2026-03, or INSTANT .. INSTANT")
    found = instant(start, zone), instant(end, zone)
    if found[0] >= found[1]:
        raise ValueError(f"ends before it begins ({text})")
    return found


def iso(value: datetime) -> str:
    """Return an instant as commands take it."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
