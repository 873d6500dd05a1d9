"""Own percentiles of what a run saw: nearest rank, counted, where an answer that never came ranks above all that did."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sla.percentiles import interval_ranks, rank

if TYPE_CHECKING:
    from collections.abc import Iterable

NEVER = float("inf")
"""The duration of what did not come; printed as null."""

_P50, _P95, _P99 = Fraction(50), Fraction(95), Fraction(99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Durations in ascending order, in seconds."""

    values: tuple[float, ...]

    @property
    def n(self) -> int:
        """Return how many there are, those that never came too."""
        return len(self.values)

    def at(self, percentile: Fraction | str) -> float | None:
        """Return the value at the percentile's rank: `NEVER` where that falls on what did not come, None of nothing."""
        return self.values[rank(self.n, Fraction(percentile)) - 1] if self.values else None

    def over(self, threshold_seconds: float) -> int:
        """Return how many lie above."""
        return sum(each > threshold_seconds for each in self.values)

    def tree(self) -> dict[str, Any]:
        """Return n, P50, P95, P99, P99's interval and the greatest; null where something never came."""
        low, high = interval_ranks(self.n, _P99) if self.values else (None, None)
        return {
            "n": self.n,
            "p50": _shown(self.at(_P50)),
            "p95": _shown(self.at(_P95)),
            "p99": _shown(self.at(_P99)),
            "p99_interval": [_shown(self.values[each - 1]) if each else None for each in (low, high)],
            "max": _shown(self.values[-1] if self.values else None),
        }


def ranked(values: Iterable[float]) -> Ranked:
    """Put durations in order."""
    return Ranked(values=tuple(sorted(values)))


def _shown(value: float | None) -> float | None:
    return None if value is None or value == NEVER else round(value, 6)
