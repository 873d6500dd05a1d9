"""Own the oracle's reading of a contract file: plain dictionaries, every scalar still text."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import yaml

if TYPE_CHECKING:
    from pathlib import Path

_UNITS_US = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "us": 1, "µs": 1}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UTC = ZoneInfo("UTC")
_EPOCH = datetime(1970, 1, 1, tzinfo=_UTC)

Clauses = dict[str, Any]


def read_contract(path: Path) -> Clauses:
    """Return the file with all numbers as the text that was written."""
    clauses: Clauses = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return clauses


def duration_us(text: str) -> Fraction:
    """Read ``1.5s`` exactly."""
    match = re.fullmatch(r"([0-9.]+)\s*([a-zµ]+)", text)
    assert match, text
    return Fraction(match.group(1)) * _UNITS_US[match.group(2)]


def ratio(text: str) -> Fraction:
    """Read ``99.9%`` or ``0.999`` exactly."""
    return Fraction(text.removesuffix("%")) / 100 if text.endswith("%") else Fraction(text)


def to_us(instant: datetime) -> int:
    """Return Unix microseconds, exactly."""
    return (instant - _EPOCH) // timedelta(microseconds=1)


def from_us(instant_us: int, zone: ZoneInfo = _UTC) -> datetime:
    """Return the aware instant."""
    return (_EPOCH + timedelta(microseconds=instant_us)).astimezone(zone)


def period_us(contract: Clauses, month: str) -> tuple[int, int]:
    """Return the calendar month in the contract's zone, cut to its term; half open."""
    zone = ZoneInfo(contract["term"]["time_zone"])
    year, number = (int(part) for part in month.split("-"))
    first = _instant(date(year, number, 1), timedelta(), zone, last=False)
    after = _instant(date(year + number // 12, number % 12 + 1, 1), timedelta(), zone, last=False)
    begin, end = term_us(contract)
    return max(first, begin), min(after, end)


def term_us(contract: Clauses) -> tuple[int, int]:
    """Return the term, its last day included; half open."""
    zone = ZoneInfo(contract["term"]["time_zone"])
    begin = date.fromisoformat(contract["term"]["from"])
    end = date.fromisoformat(contract["term"]["to"]) + timedelta(days=1)
    return _instant(begin, timedelta(), zone, last=False), _instant(end, timedelta(), zone, last=False)


def in_period(contract: Clauses, during: str | None, received_us: int) -> bool:
    """Tell whether an instant lies in a named period, or in ``not`` one."""
    if during is None:
        return True
    words = during.split()
    zone = ZoneInfo(contract["term"]["time_zone"])
    today = from_us(received_us, zone).date()
    inside = any(
        start <= received_us < end and _is_one_of(day, rule["days"])
        for rule in contract["calendar"][words[-1]]
        for day in (today - timedelta(days=1), today)
        for start, end in [_on(day, rule, zone)]
    )
    return not inside if words[0] == "not" else inside


def _on(day: date, rule: Clauses, zone: ZoneInfo) -> tuple[int, int]:
    """Return from when to when a rule holds that starts on `day`; it may run over midnight."""
    start, end = _clock(rule["from"]), _clock(rule["to"])
    over_midnight = end <= start
    return (
        _instant(day, start, zone, last=False),
        _instant(day + timedelta(days=1) if over_midnight else day, end, zone, last=True),
    )


def _instant(day: date, since: timedelta, zone: ZoneInfo, *, last: bool) -> int:
    """Return when a local time comes: the first or the last time, or else the end of the gap it falls into."""
    if since == timedelta(days=1):
        return _instant(day + timedelta(days=1), timedelta(), zone, last=False)
    local = datetime.combine(day, time()) + since
    meant = local.replace(tzinfo=zone, fold=int(last))
    if from_us(to_us(meant), zone).replace(tzinfo=None) == local:
        return to_us(meant)
    low, high = to_us(local.replace(tzinfo=zone, fold=1)), to_us(local.replace(tzinfo=zone, fold=0))
    while high - low > 1:  # the offset changes once between the two readings; find where
        middle = (low + high) // 2
        if from_us(middle, zone).replace(tzinfo=None) > local:
            high = middle
        else:
            low = middle
    return high


def _is_one_of(day: date, days: str) -> bool:
    if days == "workdays":  # with China's holidays and makeup workdays
        assert (day.year, day.month) == (2026, 10), "no other month of China's calendar is written down here"
        return day.day == 10 or (day.day > 7 and day.weekday() < 5)
    return day.weekday() in _weekdays(days)


def _clock(text: str) -> timedelta:
    hours, minutes = text.split(":")
    return timedelta(hours=int(hours), minutes=int(minutes))


def _weekdays(text: str) -> set[int]:
    chosen: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        day, end = _DAYS.index(first), _DAYS.index(last or first)
        chosen.add(day)
        while day != end:
            day = (day + 1) % 7
            chosen.add(day)
    return chosen
