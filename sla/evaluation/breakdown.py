"""Own where the time of fully measured requests went: five phases that add up to `end_to_end`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.model import Clock
from sla.evaluation.clocks import column_of
from sla.evaluation.endings import FULLY_MEASURED
from sla.evaluation.fragments import count_if, sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.store import Query

_ENGINE_PHASES = {
    "frontend": "frontend_us",
    "queue": "queue_us",
    "prefill": "prefill_us",
    "decode": "decode_us",
}
PHASES = ("network", *_ENGINE_PHASES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase: its time in all fully measured requests (`sum_us`), theirs together, and how many they are."""

    sum_us: int
    of_us: int
    count: int


def breakdown_aggregates() -> dict[str, Query]:
    """Return the aggregates that `read_breakdown` reads; sums are 128 bits wide."""
    columns = {**_ENGINE_PHASES, "end_to_end": column_of(Clock.END_TO_END)}
    return {
        "measured": count_if(FULLY_MEASURED),
        **{
            f"sum_{phase}_us": sql(f"sumIf(toInt128(ifNull({column}, 0)), {FULLY_MEASURED.sql})")
            for phase, column in columns.items()
        },
    }


def read_breakdown(row: Mapping[str, Any]) -> dict[str, Phase]:
    """Return the phases in their order on a request's way."""
    total = int(row["sum_end_to_end_us"])
    sums = {phase: int(row[f"sum_{phase}_us"]) for phase in _ENGINE_PHASES}
    sums["network"] = total - sum(sums.values())
    return {phase: Phase(sum_us=sums[phase], of_us=total, count=row["measured"]) for phase in PHASES}
