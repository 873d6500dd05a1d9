"""Own ranges of time: what a query asks for, and which instants that means."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Range, RangeName
from fairclock.console.readings.protocol import Wanted
from fairclock.errors import NotEvaluable, UsageError
from fairclock.model import Interval, shared
from sla.calendars import period_of_month
from sla.contracts.versions import versions_of
from sla.evaluation.months import month_before
from sla.slices import latest_month

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sla.contracts import Contract

MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])", re.ASCII)
_LENGTHS = {
    RangeName.HOUR: timedelta(hours=1),
    RangeName.DAY: timedelta(hours=24),
    RangeName.WEEK: timedelta(days=7),
}
_LONGEST = timedelta(days=93)
_FIRST, _LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def wanted_of(query: Mapping[str, str], *, otherwise: RangeName = RangeName.DAY) -> Wanted:
    """Return the range that `range`, `from`, `to` and `month` of a query ask for; UsageError where they make none."""
    name, month = query.get("range"), query.get("month")
    bounds = {key: query[key] for key in ("from", "to") if query.get(key)}
    if bounds:
        if len(bounds) != len(("from", "to")) or name or month:
            raise UsageError("from", "a range is from and to, or a name", remedy="give from and to alone")
        starts_at, ends_at = (instant_of(text, where=key) for key, text in bounds.items())
        if not starts_at < ends_at <= starts_at + _LONGEST:
            raise UsageError(
                "to",
                "does not end a range",
                found=bounds["to"],
                remedy=f"end it after its start, and at most {_LONGEST.days} days later",
            )
        return Wanted(name=RangeName.CUSTOM, starts_at=starts_at, ends_at=ends_at)
    if month:
        if not MONTH.fullmatch(month):
            raise UsageError("month", "is no month", found=month, remedy="write the year and month: 2026-10")
        if not _FIRST.year <= int(month[:4]) < _LAST.year:
            raise UsageError(
                "month",
                "lies too far away",
                found=month,
                remedy=f"name one from {_FIRST.year} to {_LAST.year - 1}",
            )
        if name not in {None, "", "month"}:
            raise UsageError("range", "is not a month", found=name, remedy="leave it out, or write month")
        return Wanted(name=RangeName.MONTH, month=month)
    known = [each.value for each in RangeName if each is not RangeName.CUSTOM]
    if name and name not in known:
        raise UsageError("range", "is none that is known", found=name, remedy=f"write {', '.join(known)}")
    return Wanted(name=RangeName(name) if name else otherwise)


def instant_of(text: str, *, where: str) -> datetime:
    """Return the instant that ISO 8601 text with a zone names, in UTC; UsageError."""
    remedy = "write an instant with its zone: 2026-10-14T09:00:00Z"
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(where, "is no instant", found=text[:100], remedy=remedy) from error
    if found.tzinfo is None:
        raise UsageError(where, "has no zone", found=text[:100], remedy=remedy)
    return within_reach(found, where=where)


def within_reach(instant: datetime, *, where: str) -> datetime:
    """Return an aware instant in UTC; UsageError for years that nobody measures in, and that the store cannot hold."""
    remedy = f"name an instant from {_FIRST.year} to {_LAST.year - 1}"
    try:
        found = instant.astimezone(UTC)
    except OverflowError as error:
        raise UsageError(where, "lies too far away", remedy=remedy) from error
    if not _FIRST <= found < _LAST:
        raise UsageError(where, "lies too far away", found=found.isoformat(), remedy=remedy)
    return found


def resolved(wanted: Wanted, as_of: datetime, versions: Sequence[Contract] = ()) -> Range:
    """Return the range, as it was at `as_of`; a month is that of the contract's `versions`, else UTC's.

    Raises NotEvaluable for a month in which no version is in force, or that has not begun.
    """
    zone = versions[-1].term.time_zone if versions else "UTC"
    if wanted.name is RangeName.MONTH:
        label = wanted.month or (latest_of(versions, as_of) if versions else f"{as_of:%Y-%m}")
        if label is None:
            raise NotEvaluable("range", "the contract has not begun", remedy="choose another range")
        period = month_of_all(versions, label) if versions else period_of_month(label, UTC)
        return _range(RangeName.MONTH, period, as_of, zone=zone, month=label)
    if wanted.starts_at is not None and wanted.ends_at is not None:
        return _range(
            RangeName.CUSTOM, Interval(start=wanted.starts_at, end=wanted.ends_at), as_of, zone=zone
        )
    length = _LENGTHS[wanted.name]
    return _range(wanted.name, Interval(start=as_of - length, end=as_of), as_of, zone=zone)


def interval_of(shown: Range) -> Interval:
    """Return the range as an interval."""
    return Interval(start=shown.starts_at, end=shown.ends_at)


def elapsed_of(shown: Range) -> Interval:
    """Return what of the range had passed."""
    return Interval(start=shown.starts_at, end=shown.elapsed_to)


def latest_of(versions: Sequence[Contract], as_of: datetime) -> str | None:
    """Return the latest month of a contract that had begun; None if none had."""
    found = [latest_month(each.contract, as_of, each.in_force) for each in versions_of(versions)]
    return max((each for each in found if each is not None), default=None)


def months_of(versions: Sequence[Contract], as_of: datetime) -> list[str]:
    """Return the months of a contract that had begun by `as_of`, the latest first."""
    latest = latest_of(versions, as_of)
    found: list[str] = []
    begins = min((each.in_force.start for each in versions_of(versions)), default=as_of)
    while latest is not None and versions[0].whole_month(latest).end > begins:
        try:
            period = month_of_all(versions, latest)
        except NotEvaluable:  # between two versions' terms
            pass
        else:
            if period.start < as_of:
                found.append(latest)
        latest = month_before(latest)
    return found


def month_of_all(versions: Sequence[Contract], label: str) -> Interval:
    """Return the instants of a month in which some version is in force; NotEvaluable where none is."""
    parts = []
    for each in versions_of(versions):
        whole = each.contract.whole_month(label)
        part = shared(whole, each.in_force)
        if part is not None:
            parts.append(part)
    if not parts:
        raise NotEvaluable(
            f"month {label}",
            "no version of the contract is in force",
            remedy="choose a month of the contract's term",
        )
    return Interval(start=parts[0].start, end=parts[-1].end)


def _range(
    name: RangeName, period: Interval, as_of: datetime, *, zone: str, month: str | None = None
) -> Range:
    return Range(
        name=name,
        starts_at=period.start,
        ends_at=period.end,
        elapsed_to=max(period.start, min(period.end, as_of)),
        month=month,
        time_zone=zone,
    )
