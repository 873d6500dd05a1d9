"""Own the way from the report's sections to what is shown: the same numbers under the console's names."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from fairclock.console.readings.models.base import Anchor, Part
from fairclock.console.readings.models.figures import (
    BudgetFigures,
    ClockFigures,
    CoverageFigures,
    OutcomeCount,
    PhaseFigures,
    PromiseFigures,
    TrafficFigures,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.console.readings.models.base import Measured

_UNITS = {"latency": "seconds", "availability": "ratio", "rate": "number", "cost": "number"}


def clocks_of(sections: Mapping[str, Any]) -> tuple[ClockFigures, ...]:
    """Return every clock's percentiles."""
    return tuple(
        ClockFigures(
            clock=each["clock"],
            n=each["n"],
            p50_seconds=each["p50"],
            p95_seconds=each["p95"],
            p99_seconds=each["p99"],
            p99_interval_seconds=_pair(each["p99_interval"]),
            max_seconds=each["max"],
        )
        for each in sections["latency"]
    )


def phases_of(sections: Mapping[str, Any]) -> tuple[PhaseFigures, ...]:
    """Return every phase's mean and share."""
    return tuple(
        PhaseFigures(phase=name, mean_seconds=each["seconds"], share_ratio=each["share"])
        for name, each in (sections["breakdown"] or {}).items()
    )


def traffic_of(sections: Mapping[str, Any], measured: Measured) -> TrafficFigures:
    """Return the requests by outcome."""
    traffic = sections["traffic"]
    admitted = traffic["admitted"]
    return TrafficFigures(
        admitted=admitted,
        outcomes=tuple(
            OutcomeCount(outcome=name, count=count, share_ratio=count / admitted if admitted else None)
            for name, count in traffic["outcomes"].items()
        ),
        unconfirmed=traffic["unconfirmed"],
        quarantined=traffic["quarantined"],
        ambiguous=traffic["ambiguous"],
        retried=traffic["retried"],
        is_simulated=sections["simulated"],
        measured=measured.model_copy(update={"anchor": Anchor.OUTCOMES}),
    )


def coverage_of(sections: Mapping[str, Any], measured: Measured) -> CoverageFigures:
    """Return how much was read through and joined."""
    coverage = sections["coverage"]
    return CoverageFigures(
        gateway_ratio=coverage["gateway"],
        engine_ratio=coverage["engine"],
        joined_ratio=coverage["joined"],
        measured=measured.model_copy(update={"anchor": Anchor.COVERAGE}),
    )


def promises_of(
    contract: str, sections: Mapping[str, Any], measured: Measured, *, is_issued: bool
) -> tuple[PromiseFigures, ...]:
    """Return every promise with its verdict."""
    shown = measured.model_copy(update={"anchor": Anchor.PROMISES})
    return tuple(
        PromiseFigures(
            contract=contract,
            version_sha256=each["version_sha256"],
            objective=each["name"],
            kind=each["kind"],
            clause=each["clause"],
            clock=each["clock"],
            percentile=each["percentile"],
            threshold=each["threshold"],
            threshold_unit=_UNITS[each["kind"]],  # type: ignore[arg-type]  # the four kinds
            during=each["during"],
            part=part_of(each["part"]),
            unit=each["unit"],
            n=each["n"],
            over=each["violations"],
            allowed=each["allowed"],
            unknown=each["unknown"],
            value=each["value"],
            value_interval=_pair(each["interval"]),
            verdict=each["verdict"],
            verdict_without_exclusions=each["verdict_without_exclusions"],
            reason=each["reason"],
            is_issued=is_issued,
            measured=shown,
        )
        for each in sections["objectives"]
    )


def budgets_of(contract: str, sections: Mapping[str, Any], measured: Measured) -> tuple[BudgetFigures, ...]:
    """Return every error budget."""
    shown = measured.model_copy(update={"anchor": Anchor.BUDGETS})
    return tuple(
        BudgetFigures(
            contract=contract,
            objective=each["objective"],
            part=part_of(each["part"]),
            kind=each["kind"],
            allowed=each["allowed"],
            spent=each["spent"],
            remaining=each["remaining"],
            remaining_ratio=each["remaining_ratio"],
            is_exhausted=each["is_exhausted"],
            exhausted_at=instant(each["exhausted_at"]),
            measured=shown,
        )
        for each in sections["error_budgets"]
    )


def part_of(part: Mapping[str, str] | None) -> Part | None:
    """Return the part of the traffic."""
    return None if part is None else Part(**part)


def instant(text: str | None) -> datetime | None:
    """Return the instant that the report's text names."""
    return None if text is None else datetime.fromisoformat(text)


def _pair(values: list[float | None] | None) -> tuple[float | None, float | None] | None:
    return None if values is None else (values[0], values[1])
