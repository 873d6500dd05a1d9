"""Own how the readings of a second become one row: mean, least and greatest, last, or every bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from collectors.gpu.fields import FIELDS, Folding

if TYPE_CHECKING:
    from collectors.gpu.readings import Process, Readings


@dataclass(slots=True)
class Range:
    """Readings of one field: how many, their sum, the least and the greatest."""

    count: int
    total: float
    least: float
    greatest: float

    @classmethod
    def of(cls, value: float) -> Range:
        """Return the range of a single reading."""
        return cls(1, value, value, value)

    def add(self, other: Range) -> None:
        """Take the readings of `other` in; the order does not matter."""
        self.count += other.count
        self.total += other.total
        self.least = min(self.least, other.least)
        self.greatest = max(self.greatest, other.greatest)


@dataclass(slots=True)
class Fold:
    """The readings of one device in one second."""

    ranges: dict[str, Range] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    bits: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    processes: tuple[Process, ...] | None = None

    @property
    def samples(self) -> int:
        """Return how often the device was read, by the field that was read most often."""
        most = max((each.count for each in self.ranges.values()), default=0)
        return max(most, int(bool(self.last or self.bits)))

    def add(self, readings: Readings) -> None:
        """Take one more look at the device in."""
        for name, value in readings.values.items():
            folding = FIELDS[name].folding
            if folding is Folding.RANGE:
                self._add_range(name, Range.of(value))
            elif folding is Folding.BITS:
                self.bits[name] = self.bits.get(name, 0) | int(value)
            else:
                self.last[name] = value
        self.missing.update(readings.missing)
        if readings.processes is not None:
            self.processes = readings.processes

    def merge(self, later: Fold) -> None:
        """Take what was read later in the same second in: the same as adding its readings one by one."""
        for name, part in later.ranges.items():
            self._add_range(name, part)
        for name, bits in later.bits.items():
            self.bits[name] = self.bits.get(name, 0) | bits
        self.last.update(later.last)
        self.missing.update(later.missing)
        if later.processes is not None:
            self.processes = later.processes

    def columns(self) -> dict[str, float]:
        """Return the columns of the row, those without a value left out."""
        columns: dict[str, float] = {}
        for name, part in self.ranges.items():
            decimals = FIELDS[name].decimals
            mean = part.total / part.count
            mean = round(mean, decimals) if decimals else round(mean)
            # a sum of fractions may miss its own mean by its last bit
            mean = min(max(mean, part.least), part.greatest)
            columns.update(zip(FIELDS[name].columns, (mean, part.least, part.greatest), strict=True))
        columns.update(self.last)
        columns.update(self.bits)
        return columns

    def reasons(self) -> dict[str, str]:
        """Return why fields are null, of those that no reading of the second had."""
        known = {*self.ranges, *self.last, *self.bits}
        if self.processes is not None:
            known.add("processes")
        return {name: reason for name, reason in self.missing.items() if name not in known}

    def _add_range(self, name: str, part: Range) -> None:
        there = self.ranges.get(name)
        if there is None:
            self.ranges[name] = Range(part.count, part.total, part.least, part.greatest)
        else:
            there.add(part)
