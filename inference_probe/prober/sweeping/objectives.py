"""Own a sweep's objectives: a clock, a percentile and a limit, decided by counting."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.errors import UsageError
from inference_probe.prober.latencies import CLOCKS, latencies
from sla.percentiles import is_met

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference_probe.prober.observations import Observation

_OBJECTIVE = re.compile(r"(?P<clock>\w+)\s+p(?P<percentile>\d+(?:\.\d+)?)\s+(?P<limit>\d+(?:\.\d+)?)")


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
    found = _OBJECTIVE.fullmatch(text.strip())
    if found is not None and found["clock"] in CLOCKS:
        percentile, limit = Fraction(found["percentile"]), float(found["limit"])
        if 0 < percentile <= 100 and limit > 0:  # noqa: PLR2004 - per cent
            return SweepObjective(clock=found["clock"], percentile=percentile, limit_seconds=limit)
    raise UsageError(
        "--objective",
        "not an objective",
        found=text,
        remedy=f"write a clock, a percentile, seconds: time_to_first_token p95 0.5; clocks: {', '.join(CLOCKS)}",
    )
