"""Own a sweep's objectives: a clock, a percentile and a limit, decided by counting."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.errors import UsageError
from inference_probe.prober.latencies import CLOCKS, latencies
from sla.percentiles import is_met

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference_probe.prober.observations import Observation

_WORDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepObjective:
    """So much of a clock's values, in per cent, may lie at `limit_seconds` at most."""

    clock: str
    percentile: Fraction
    limit_seconds: float

    @property
    def text(self) -> str:
        """Return it as it is written on the command line."""
        return f"{self.clock} p{float(self.percentile):g} {self.limit_seconds:g}"

    def is_met(self, seen: Sequence[Observation]) -> bool | None:
        """Say whether a stage keeps it; what failed does not, None where nothing was measured."""
        found = latencies(seen, self.clock)
        if not found.n:
            return None
        return is_met(found.over(self.limit_seconds), found.n, self.percentile)


def parse_objective(text: str) -> SweepObjective:
    """Read ``time_to_first_token p95 0.5``; raises UsageError."""
    words = text.split()
    try:
        if len(words) != _WORDS or words[0] not in CLOCKS or not words[1].startswith("p"):
            raise ValueError
        percentile, limit = Fraction(words[1][1:]), float(words[2])
        if not (0 < percentile <= 100 and 0 < limit < float("inf")):  # noqa: PLR2004 - per cent
            raise ValueError
    except (ValueError, ZeroDivisionError) as error:
        raise UsageError(
            "--objective",
            "not an objective",
            found=text,
            remedy=f"write a clock, a percentile, seconds: time_to_first_token p95 0.5; clocks: {', '.join(CLOCKS)}",
        ) from error
    return SweepObjective(clock=words[0], percentile=percentile, limit_seconds=limit)
