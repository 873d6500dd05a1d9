"""Own how a local date and time of a zone becomes an instant.

Two local times are not one instant, and the contract says nothing about them, so the rule is stated here:

- a local time that does not exist (clocks go forward over it) is the first instant that exists after it;
- a local time that exists twice (clocks go back over it) is its first occurrence where something starts and
  its second where something ends, so that a period covers both;
- a day starts at the first occurrence of its 00:00, and ends where the next day starts.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])([0-9]{1,2})(?::?([0-5][0-9]))?")
_LARGEST_OFFSET_HOURS = 14
_FIXED_ABBREVIATIONS = frozenset({"EST", "MST", "HST", "GMT0", "GMT+0", "GMT-0"})
_MINUTES_PER_HOUR = 60


@cache
def zone_names() -> frozenset[str]:
    """Return the names of the time zones that are known here."""
    return frozenset(available_timezones()) - {"Factory", "localtime", "posixrules"}


@cache
def zone_of(name: str) -> tzinfo:
    """Return the zone called `name`, an IANA name or an offset such as ``+08:00``; ValueError if unknown."""
    if name in zone_names():
        return ZoneInfo(name)
    match = _OFFSET.fullmatch(name)
    if match is not None:
        sign, hours, minutes = match.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        if offset <= timedelta(hours=_LARGEST_OFFSET_HOURS):
            return timezone(-offset if sign == "-" else offset, name)
    raise ValueError(name)


def is_offset_zone(name: str) -> bool:
    """Tell whether `name` is an offset and no place, so that it follows no change of the clocks."""
    return name not in zone_names() or name.startswith("Etc/GMT") or name in _FIXED_ABBREVIATIONS


def instant_of(day: date, minute: int, zone: tzinfo, *, edge: Literal["start", "end"] = "start") -> datetime:
    """Return the instant (UTC) of `minute` minutes after local midnight of `day`; 1440 is the day's end."""
    if minute == 24 * _MINUTES_PER_HOUR:
        return day_start(day + timedelta(days=1), zone)
    local = datetime.combine(day, time(minute // _MINUTES_PER_HOUR, minute % _MINUTES_PER_HOUR), zone)
    return _resolve(local, edge)


def day_start(day: date, zone: tzinfo) -> datetime:
    """Return the first instant (UTC) of the local `day`."""
    return _resolve(datetime.combine(day, time(0), zone), "start")


def instant_of_local(local: datetime, *, edge: Literal["start", "end"] = "start") -> datetime:
    """Return the instant (UTC) of an aware local time, by the rule above; its own fold is not looked at."""
    return _resolve(local, edge)


def _resolve(local: datetime, edge: Literal["start", "end"]) -> datetime:
    first = local.replace(fold=0)
    second = local.replace(fold=1)
    before, after = first.utcoffset(), second.utcoffset()
    if before is None or after is None:
        raise ValueError(f"the zone {local.tzinfo} has no offset at {local}")
    if after > before:
        return _first_instant_after_gap(second.astimezone(UTC), first.astimezone(UTC), local.tzinfo)
    return (first if edge == "start" else second).astimezone(UTC)


def _first_instant_after_gap(low: datetime, high: datetime, zone: tzinfo | None) -> datetime:
    """Return the instant in (low, high] at which the zone's offset changes, to the second."""
    old = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == old:
            low = middle
        else:
            high = middle
    return high
