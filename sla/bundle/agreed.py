"""Own what of a bundle was agreed: the contract's files, what they say, and the calendar written out."""

from __future__ import annotations

from datetime import date, timedelta
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairclock.errors import InputError
from sla.bundle.written import json_bytes, span
from sla.calendars import HolidaysUnknown
from sla.calendars.holidays import library_version
from sla.contracts.loading import read_file
from sla.contracts.where import During

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairclock.model import Interval
    from sla.bundle.reach import Judging
    from sla.contracts import Contract

_SIGNATURES = ("*.sig", "*.sig.json", "*.minisig", "*.p7s")
_A_CLAIM_LATER = 3
"""A claim may close so many years after the term has ended."""


def contract_files(judges: Sequence[Judging]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the versions as they are signed, the signatures that lie beside them, and what they say as JSON.

    InputError where a file has changed since it was read.
    """
    versions = []
    for number, each in enumerate(judges, start=1):
        contract = each.contract
        path = Path(contract.source_path)
        name = f"contract/{number}-{contract.version_sha256[:12]}.yaml"
        content = read_file(path)
        _require_unchanged(contract, content)
        yield name, content
        for pattern in _SIGNATURES:
            for signature in sorted(path.parent.glob(f"{escape(path.name)}{pattern[1:]}")):
                yield f"{name}{signature.name[len(path.name) :]}", signature.read_bytes()
        versions.append(
            {
                "file": name,
                "version_sha256": contract.version_sha256,
                "in_force": None if each.in_force is None else span(each.in_force),
                "months": [month.label for month in each.months],
                "clauses": contract.model_dump(mode="json", by_alias=True, exclude_none=True),
            }
        )
    yield "contract.json", json_bytes({"schema": "fairclock.bundle.contract/1", "versions": versions})


def calendar_file(judges: Sequence[Judging]) -> bytes:
    """Return the calendar of each version: holidays by year, the months, and when each named period holds in them."""
    return json_bytes(
        {"schema": "fairclock.bundle.calendar/1", "versions": [_calendar(each) for each in judges]}
    )


def _calendar(each: Judging) -> dict[str, Any]:
    contract = each.contract
    holidays = contract.calendar.holiday_calendar
    return {
        "version_sha256": contract.version_sha256,
        "time_zone": contract.term.time_zone,
        "holidays": contract.calendar.holidays,
        "library": None if holidays is None else f"holidays {library_version()}",
        "years": {} if holidays is None else _years(contract),
        "months": [
            {
                "month": month.label,
                "whole": span(contract.whole_month(month.label)),
                "period": span(month.period),
                "named": {name: _named(contract, name, month.period) for name in contract.calendar.periods},
            }
            for month in each.months
        ],
    }


def _named(contract: Contract, name: str, window: Interval) -> list[dict[str, str]]:
    return [span(part) for part in contract.intervals(During(name=name, negated=False), window)]


def _years(contract: Contract) -> dict[str, Any]:
    holidays = contract.calendar.holiday_calendar
    assert holidays is not None  # noqa: S101 - the caller looked
    years: dict[str, Any] = {}
    first = contract.term.first_day - timedelta(days=1)
    for number in range(first.year, contract.term.last_day.year + 1 + _A_CLAIM_LATER):
        try:
            year = holidays.year(number)
        except HolidaysUnknown as unknown:
            years[str(number)] = {"unknown": unknown.problem}
            continue
        years[str(number)] = {
            "off": {day.isoformat(): name for day, name in year.off},
            "worked": [date.isoformat(day) for day in year.makeup],
            "weekend": sorted(year.weekend),
        }
    return years


def _require_unchanged(contract: Contract, content: bytes) -> None:
    import hashlib  # noqa: PLC0415

    if hashlib.sha256(content).hexdigest() != contract.version_sha256:
        raise InputError(contract.source_path, "has changed since it was read", remedy="run this again")
