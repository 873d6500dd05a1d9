"""Own a contract as it was understood: every clause, every default by name, the calendar written out."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from sla.calendars import HolidaysUnknown
from sla.calendars.holidays import library_version
from sla.contracts.defaults import applied_defaults
from sla.contracts.where import During

if TYPE_CHECKING:
    from fairclock.model import Interval
    from sla.contracts.contract import Contract

_US_PER_HOUR = 3_600_000_000


def shown(contract: Contract, month: str | None = None) -> dict[str, Any]:
    """Return the contract as JSON: clauses, defaults, what is not evaluated, calendar; periods of `month`."""
    return {
        "schema": "fairclock.contract/1",
        "source": contract.source_path,
        "version_sha256": contract.version_sha256,
        "clauses": clauses_of(contract),
        "defaults": {each.path: each.value for each in applied_defaults(contract)},
        "not_evaluated": contract.not_evaluated(),
        "calendar": expanded_calendar(contract),
        "month": None if month is None else expanded_month(contract, month),
    }


def clauses_of(contract: Contract) -> dict[str, Any]:
    """Return what the file says, each value in its one spelling."""
    written: dict[str, Any] = contract.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude_unset=True
    )
    return written


def expanded_calendar(contract: Contract) -> dict[str, Any]:
    """Return the days off and the weekend days worked in each year of the term, with a hash over them all."""
    calendar = contract.calendar.holiday_calendar
    if calendar is None:
        return {"time_zone": contract.term.time_zone, "holidays": None}
    first, last = contract.term.first_day, contract.term.last_day
    years: dict[str, Any] = {}
    for number in range(first.year, last.year + 1):
        try:
            year = calendar.year(number)
        except HolidaysUnknown as unknown:
            years[str(number)] = {"unknown": unknown.problem}
        else:
            years[str(number)] = {
                "off": {day.isoformat(): name for day, name in year.off},
                "worked": [day.isoformat() for day in year.makeup],
            }
    digest = hashlib.sha256(json.dumps(years, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return {
        "time_zone": contract.term.time_zone,
        "holidays": calendar.code,
        "library": f"holidays {library_version()}",
        "years": years,
        "years_sha256": digest,
    }


def expanded_month(contract: Contract, month: str) -> dict[str, Any]:
    """Return the month's instants and when each named period holds in it, in local time."""
    window = contract.month(month)
    periods = {
        name: [
            _local(contract, interval)
            for interval in contract.intervals(During(name=name, negated=False), window)
        ]
        for name in contract.calendar.periods
    }
    return {
        "month": month,
        **_local(contract, window),
        "hours": window.length_us / _US_PER_HOUR,
        "periods": periods,
    }


def _local(contract: Contract, interval: Interval) -> dict[str, str]:
    start, end = (instant.astimezone(contract.zone) for instant in (interval.start, interval.end))
    return {"from": start.isoformat(), "to": end.isoformat()}
