"""Own how much energy a device took between two rows: by its counter, else by its power.

The counter's difference is exact, also over seconds without a row, so that sums over rows are the counter's own.
Where there is no counter, or it began anew, power is integrated between the two rows, by the trapezoid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.gpu.readings import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

_US_PER_SECOND = 1_000_000
_LONGEST_INTEGRATED_US = 120 * _US_PER_SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Energy:
    """What was taken over `seconds`; `is_integrated` where power had to stand in for the counter."""

    millijoules: int
    seconds: float
    is_integrated: bool


@dataclass(slots=True)
class EnergyMeter:
    """The last readings of one device."""

    _counter: tuple[int, int] | None = None
    _power: tuple[int, float] | None = None
    _accounted_us: int = 0

    def read(self, at_us: int, columns: Mapping[str, float]) -> Energy | Reason:
        """Return what was taken since the row before; `columns` are those of the row at `at_us`, in order of time."""
        counter, power = columns.get("energy_total_millijoules"), columns.get("power_milliwatts_mean")
        taken = self._counted(at_us, counter) or self._integrated(at_us, power)
        is_first = self._counter is None and self._power is None
        if counter is not None:
            self._counter = at_us, int(counter)
        if power is not None:
            self._power = at_us, power
        if taken is not None:
            self._accounted_us = at_us
            return taken
        if counter is None and power is None:
            return Reason.NOT_AVAILABLE
        return Reason.FIRST_READING if is_first else Reason.GAP

    def _counted(self, at_us: int, counter: float | None) -> Energy | None:
        if counter is None or self._counter is None:
            return None
        before_us, before = self._counter
        if counter < before or not self._accounted_us <= before_us < at_us:
            return None
        return Energy(
            millijoules=int(counter) - before,
            seconds=(at_us - before_us) / _US_PER_SECOND,
            is_integrated=False,
        )

    def _integrated(self, at_us: int, power: float | None) -> Energy | None:
        if power is None or self._power is None:
            return None
        before_us, before = self._power
        is_open = self._accounted_us <= before_us < at_us
        if not is_open or at_us - before_us > _LONGEST_INTEGRATED_US:
            return None
        seconds = (at_us - before_us) / _US_PER_SECOND
        return Energy(millijoules=round((before + power) / 2 * seconds), seconds=seconds, is_integrated=True)
