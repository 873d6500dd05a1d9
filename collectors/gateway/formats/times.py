"""Own how gateways write instants and durations, and how both become seconds as text, exact to the microsecond."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

_US_PER_SECOND = 1_000_000
_SECONDS = re.compile(r"(\d{1,15})(?:\.(\d{1,30}))?", re.ASCII)
_LOG_TIME = re.compile(
    r"(\d{2})/([A-Z][a-z]{2})/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))? ([+-])(\d{2})(\d{2})",
    re.ASCII,
)
_USUAL_ISO = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z", re.ASCII)
_MONTHS = {
    "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6,
    "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12,
}  # fmt: skip
_PLAIN_INTEGER = re.compile(r"\d{1,18}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,4})?", re.ASCII)
_LARGEST = Decimal(10) ** 18


def us_of_seconds(text: str) -> int | None:
    """Return µs of "1764000000.123", or None where it is no such number."""
    found = _SECONDS.fullmatch(text)
    if found is None:
        return None
    return int(found[1]) * _US_PER_SECOND + int((found[2] or "")[:6].ljust(6, "0"))


def seconds_text(us: int) -> str:
    """Return µs as seconds: "1764000000.123456"."""
    sign = "-" if us < 0 else ""
    whole, fraction = divmod(abs(us), _US_PER_SECOND)
    return f"{sign}{whole}.{fraction:06d}"


def us_of_iso(text: str) -> int | None:
    """Return µs since 1970 of "2026-11-30T12:00:00.123Z", or None where it is no instant; without a zone it is none."""
    usual = _USUAL_ISO.fullmatch(text)
    if usual is None:
        return _us_of_any_iso(text)
    second_us = _us_of_any_iso(usual[1] + "Z")
    return None if second_us is None else second_us + int((usual[2] or "")[:6].ljust(6, "0"))


@lru_cache(maxsize=256)  # a second's lines all say the same
def _us_of_any_iso(text: str) -> int | None:
    try:
        instant = datetime.fromisoformat(text)
        return None if instant.tzinfo is None else _since_1970(instant)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=256)  # a second's lines all say the same
def us_of_log_time(text: str) -> int | None:
    """Return µs since 1970 of "30/Nov/2026:12:00:00 +0800", perhaps with a fraction, or None where it is no instant."""
    found = _LOG_TIME.fullmatch(text)
    if found is None or found[2] not in _MONTHS:
        return None
    day, month, year, hour, minute, second, fraction, sign, zone_hours, zone_minutes = found.groups()
    try:
        local = datetime(
            int(year), _MONTHS[month], int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC
        )
    except ValueError:
        return None
    offset = (int(zone_hours) * 60 + int(zone_minutes)) * 60 * (-1 if sign == "-" else 1)
    us = int((fraction or "")[:6].ljust(6, "0"))
    return (int(local.timestamp()) - offset) * _US_PER_SECOND + us


def _since_1970(instant: datetime) -> int:
    whole = instant.replace(microsecond=0)
    return int(whole.timestamp()) * _US_PER_SECOND + instant.microsecond


def duration_text(text: str, *, unit_us: int) -> str | None:
    """Return a duration given in units of `unit_us` µs as seconds, or None where it is no number.

    What is negative stays so: it is the reader's to know what -1 means in its format.
    """
    if _PLAIN_INTEGER.fullmatch(text):
        return seconds_text(int(text) * unit_us)
    if not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    if abs(value) >= _LARGEST:
        return None
    return seconds_text(int(value * unit_us))
