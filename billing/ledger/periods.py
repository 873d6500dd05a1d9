"""Own the months of a ledger: open, then draft while late rows may come, then final, and never changed again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from billing.ledger.entries import EntryKind
from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.model.zones import day_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime, tzinfo

    from billing.ledger.entries import Draft

_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
_MONTHS_PER_YEAR = 12
STATE = "state"
NUMBER = "number"


class PeriodState(StrEnum):
    """What may still become of a month."""

    OPEN = "open"
    DRAFT = "draft"
    FINAL = "final"


@dataclass(frozen=True, slots=True, kw_only=True)
class Months:
    """The months of a zone."""

    zone: tzinfo

    def label(self, instant: datetime) -> str:
        """Return the month ``2026-10`` in which `instant` lies."""
        local = instant.astimezone(self.zone)
        return f"{local.year:04d}-{local.month:02d}"

    def interval(self, label: str) -> Interval:
        """Return the instants of a month; UsageError if `label` is none."""
        match = _MONTH.fullmatch(label)
        if match is None or match[1] in {"0000", "9999"}:
            raise UsageError("month", "not a month", found=label, remedy="write a year and a month, 2026-10")
        first = date(int(match[1]), int(match[2]), 1)
        after = date(*_next(first.year, first.month), 1)
        return Interval(start=day_start(first, self.zone), end=day_start(after, self.zone))

    def bounds(self, window: Interval) -> list[datetime]:
        """Return the instants inside `window` at which a month begins."""
        found = []
        at = self.interval(self.label(window.start)).end
        while at < window.end:
            found.append(at)
            at = self.interval(self.label(at)).end
        return found


def after(label: str) -> str:
    """Return the month after `label`."""
    year, month = _next(int(label[:4]), int(label[5:]))
    return f"{year:04d}-{month:02d}"


def states(entries: Iterable[Draft]) -> dict[str, PeriodState]:
    """Return the state of each month that somebody closed, from a tenant's entries in order."""
    return {each.period: PeriodState(each.facts[STATE]) for each in entries if each.kind is EntryKind.CLOSE}


def booked_in(about: str, known: Mapping[str, PeriodState]) -> str:
    """Return the month in which something about `about` is booked: the first from there on that is not final."""
    label = about
    while known.get(label) is PeriodState.FINAL:
        label = after(label)
    return label


def may_be_final_from(period: Interval, grace: timedelta) -> datetime:
    """Return the instant from which a month can be final: its end, and the time that late rows have."""
    return period.end + grace


def _next(year: int, month: int) -> tuple[int, int]:
    return (year + 1, 1) if month == _MONTHS_PER_YEAR else (year, month + 1)
