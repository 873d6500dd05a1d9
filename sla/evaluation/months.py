"""Own which month is judged: its instants, cut to the term, and what of it has passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.errors import NotEvaluable, UsageError
from fairclock.model import Interval

if TYPE_CHECKING:
    from datetime import datetime

    from sla.contracts import Contract

_MONTHS_PER_YEAR = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """One month of a contract: `period` lies within the term, `elapsed` is what of it had passed at as_of."""

    label: str
    period: Interval
    elapsed: Interval
    is_partial: bool
    is_first: bool


def month_of(contract: Contract, label: str, as_of: datetime, in_force: Interval | None = None) -> Month:
    """Return the month ``2026-10`` of `contract`, cut to when this version is in force.

    Raises NotEvaluable outside the term or before the month has begun.
    """
    whole = contract.whole_month(label)
    try:
        period = contract.month(label)
    except UsageError as error:
        raise NotEvaluable(
            f"month {label}", error.problem, found=error.found, remedy="choose a month of the term"
        ) from error
    if in_force is not None:
        start, end = max(period.start, in_force.start), min(period.end, in_force.end)
        period = Interval(start=start, end=max(start, end))
    if as_of <= period.start:
        raise NotEvaluable(
            f"month {label}",
            "it had not begun",
            found=f"it begins {period.start.isoformat()}, the report is as of {as_of.isoformat()}",
            remedy="wait for it, or choose an earlier month",
        )
    elapsed = Interval(start=period.start, end=min(period.end, as_of))
    return Month(
        label=label,
        period=period,
        elapsed=elapsed,
        is_partial=period != whole,
        is_first=not months_before(contract, label, in_force),
    )


def month_before(label: str) -> str:
    """Return the label of the month before."""
    year, number = map(int, label.split("-"))
    return f"{year - 1:04d}-{_MONTHS_PER_YEAR}" if number == 1 else f"{year:04d}-{number - 1:02d}"


def months_before(contract: Contract, label: str, in_force: Interval | None = None) -> list[str]:
    """Return the months before `label` in which this version was in force, the latest first."""
    first_day = contract.term.first_day
    first = f"{first_day.year:04d}-{first_day.month:02d}"
    months: list[str] = []
    while label > first:
        label = month_before(label)
        months.append(label)
    if in_force is None:
        return months
    return [each for each in months if contract.month(each).end > in_force.start]
