"""Own when a window comes again: an RFC 5545 rule over local times, as instants.

What recurs is a local time of day and a length by the clock on the wall. Where clocks change, the reading is
taken that excludes least, and the occurrence says so:

- it starts at the first instant with its local time, or at the first instant after a gap that swallows it;
- it ends at its local end, and lasts no longer than was announced: in an hour that comes twice, one pass of
  it is excluded, not two; a window that lies within a gap does not take place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from dateutil.rrule import rrule, rrulestr

from fairclock.model import Interval
from sla.calendars import instant_of_local, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

_FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_PASSED_ON = (
    "FREQ",
    "INTERVAL",
    "WKST",
    "BYDAY",
    "BYMONTHDAY",
    "BYMONTH",
    "BYYEARDAY",
    "BYWEEKNO",
    "BYSETPOS",
)
_STAMP = re.compile(r"([0-9]{8})(?:T([0-9]{6})(Z?))?")
_PART = re.compile(r"([A-Z]+)=([A-Za-z0-9,+-]+)")
_LONGEST = timedelta(days=31)
_MOST_LETTERS = 1_000


class RecurrenceError(ValueError):
    """A rule that cannot be used, with what to write instead."""

    def __init__(self, problem: str, *, found: str = "", remedy: str) -> None:
        """Keep the parts apart."""
        self.problem = problem
        self.found = found
        self.remedy = remedy
        super().__init__(f"{problem} ({found}); {remedy}")


class Change(StrEnum):
    """What a change of the clocks does to an occurrence."""

    FORWARD = "clocks_forward"
    BACK = "clocks_back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One window; `change` says why it is not its plain local time."""

    time: Interval
    change: Change | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stamp:
    """A date, a local time or an instant of a rule."""

    at: datetime
    is_date: bool
    is_utc: bool

    def covers_start(self, local: datetime, instant: datetime) -> bool:
        """Say whether an occurrence that starts so is the one that an EXDATE means."""
        if self.is_utc:
            return instant == self.at
        return local.date() == self.at.date() if self.is_date else local == self.at

    def is_before(self, local: datetime, instant: datetime) -> bool:
        """Say whether an UNTIL lies before an occurrence that starts so."""
        if self.is_utc:
            return instant > self.at
        return local.date() > self.at.date() if self.is_date else local > self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A rule and its exceptions, as read; `rule` is what is left for the library, without UNTIL and COUNT."""

    rule: str
    count: int | None
    until: _Stamp | None
    exceptions: tuple[_Stamp, ...]

    @classmethod
    def parse(cls, text: str) -> Recurrence:
        """Read ``FREQ=WEEKLY;BYDAY=SU;UNTIL=20261231`` and EXDATE lines; RecurrenceError else."""
        if len(text) > _MOST_LETTERS:
            raise RecurrenceError(
                "is too long", found=f"{len(text)} letters", remedy=f"write up to {_MOST_LETTERS}"
            )
        rules: list[str] = []
        exceptions: list[_Stamp] = []
        for line in (each.strip() for each in text.splitlines()):
            name, colon, value = line.rpartition(":")
            if not line:
                continue
            if colon and name.upper() == "EXDATE":
                exceptions += [_stamp(each, "EXDATE") for each in value.split(",")]
            elif not colon or name.upper() == "RRULE":
                rules.append(value)
            else:
                raise RecurrenceError(
                    "is not understood", found=name, remedy="write an RRULE and EXDATE lines"
                )
        if len(rules) != 1:
            raise RecurrenceError(
                "needs exactly one rule", found=f"{len(rules)}", remedy="write FREQ=WEEKLY;BYDAY=SU"
            )
        parts = _parts(rules[0])
        passed = ";".join(f"{name}={value}" for name, value in parts.items() if name in _PASSED_ON)
        _library_rule(passed, datetime(2026, 1, 1))  # noqa: DTZ001 - local times have no zone
        return cls(
            rule=passed,
            count=int(parts["COUNT"]) if "COUNT" in parts else None,
            until=_stamp(parts["UNTIL"], "UNTIL") if "UNTIL" in parts else None,
            exceptions=tuple(exceptions),
        )

    def starts(self, first: datetime, last: datetime) -> Iterator[datetime]:
        """Yield the local starts (naive) from `first` to `last`, EXDATE and a UNTIL that is an instant not applied."""
        rule = _library_rule(self.rule, first).replace(until=last)
        for number, start in enumerate(rule):
            if self.count is not None and number >= self.count:
                return
            yield start


def occurrences(
    recurrence: Recurrence, *, first: Interval, zone_name: str, window: Interval
) -> list[Occurrence]:
    """Return what takes place in `window` of a rule whose first occurrence is `first`; not cut to the window."""
    zone = zone_of(zone_name)
    local_first, length = wall_span(first, zone)
    last = window.end.astimezone(zone).replace(tzinfo=None) + timedelta(days=1)
    found: list[Occurrence] = []
    for local in recurrence.starts(local_first, last):
        occurrence, starts = _occurrence(local, length, zone)
        if recurrence.until is not None and recurrence.until.is_before(local, starts):
            break
        if any(each.covers_start(local, starts) for each in recurrence.exceptions):
            continue
        time = occurrence.time
        if time.start < time.end and time.start < window.end and time.end > window.start:
            found.append(occurrence)
    return found


def check_first(recurrence: Recurrence, first: Interval, zone_name: str) -> None:
    """Refuse a rule that does not begin with `first`, or begins where its local time is not one instant."""
    zone = zone_of(zone_name)
    local, length = wall_span(first, zone)
    if not timedelta(0) < length <= _LONGEST:
        raise RecurrenceError("lasts too long or not at all", found=str(length), remedy="write up to 31 days")
    started = next(recurrence.starts(local, local), None)
    if started != local:
        raise RecurrenceError(
            "does not begin with the first window", found=f"{local}", remedy="begin on a day of the rule"
        )
    if _occurrence(local, length, zone)[0].time != first:
        raise RecurrenceError(
            "begins where the clocks change", found=f"{local} {zone_name}", remedy="begin on another day"
        )


def wall_span(first: Interval, zone: tzinfo) -> tuple[datetime, timedelta]:
    """Return the local start (naive), and the length by the clock on the wall."""
    start, end = (each.astimezone(zone).replace(tzinfo=None, fold=0) for each in (first.start, first.end))
    return start, end - start


def _occurrence(local: datetime, length: timedelta, zone: tzinfo) -> tuple[Occurrence, datetime]:
    """Return the occurrence that starts at `local`, and the instant at which its local start lies."""
    start = instant_of_local(local.replace(tzinfo=zone))
    local_end = instant_of_local((local + length).replace(tzinfo=zone), edge="end")
    end = max(start, min(local_end, start + length))
    change = None
    if local_end - start < length:
        change = Change.FORWARD
    elif local_end - start > length:
        change = Change.BACK
    return Occurrence(time=Interval(start=start, end=end), change=change), start


def _library_rule(text: str, first: datetime) -> rrule:
    try:
        found = rrulestr(text, dtstart=first)
    except ValueError as error:
        raise RecurrenceError("is no rule", found=str(error), remedy="see RFC 5545, 3.3.10") from error
    assert isinstance(found, rrule)  # noqa: S101 - one rule, no dates beside it
    return found


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in text.upper().split(";"):
        match = _PART.fullmatch(part)
        if match is None or match[1] in parts:
            raise RecurrenceError(
                "has a part that cannot be read", found=part, remedy="write NAME=VALUE once each"
            )
        parts[match[1]] = match[2]
    unknown = sorted(set(parts) - {*_PASSED_ON, "COUNT", "UNTIL"})
    if unknown:
        raise RecurrenceError(
            "has a part that is not taken",
            found=", ".join(unknown),
            remedy=f"use {', '.join(_PASSED_ON)}, COUNT or UNTIL",
        )
    if parts.get("FREQ") not in _FREQUENCIES:
        raise RecurrenceError(
            "recurs at no frequency that is taken",
            found=parts.get("FREQ", "none"),
            remedy=f"write FREQ={'|'.join(_FREQUENCIES)}",
        )
    if "COUNT" in parts and "UNTIL" in parts:
        raise RecurrenceError("ends twice", found=text, remedy="write COUNT or UNTIL")
    if (
        any(name in parts and not parts[name].isdigit() for name in ("COUNT", "INTERVAL"))
        or parts.get("INTERVAL") == "0"
    ):
        raise RecurrenceError("counts with no number", found=text, remedy="write COUNT=10, INTERVAL=2")
    return parts


def _stamp(text: str, name: str) -> _Stamp:
    problem = RecurrenceError(
        f"has no date in {name}", found=text, remedy="write 20261231, 20261231T020000 or 20261231T020000Z"
    )
    match = _STAMP.fullmatch(text.strip())
    if match is None:
        raise problem
    try:
        day = date.fromisoformat(match[1])
        clock = datetime.strptime(match[2] or "000000", "%H%M%S").time()  # noqa: DTZ007 - a local time
    except ValueError as error:
        raise problem from error
    at = datetime.combine(day, clock, UTC if match[3] else None)
    return _Stamp(at=at, is_date=match[2] is None, is_utc=bool(match[3]))
