"""Own the sections of ``report.json``: each a function from counted values to plain JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import utc_text
from sla.evaluation.numbers import mean_seconds, ratio, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.model import Interval
    from sla.contracts import Contract
    from sla.evaluation.breakdown import Phase
    from sla.evaluation.coverage import Coverage
    from sla.evaluation.daily import Day
    from sla.evaluation.traffic import Traffic
    from sla.evaluation.values import ClockRow

_HOUR_US = 3_600_000_000


def contract_section(contract: Contract) -> dict[str, Any]:
    """Return who promised what to whom, and under which version."""
    return {
        "id": contract.id,
        "title": contract.title.model_dump(exclude_none=True),
        "version_sha256": contract.version_sha256,
        "provider": {"name": contract.provider.name},
        "customer": {"name": contract.customer.name, "tenants": list(contract.customer.tenants)},
        "term": {
            "from": contract.term.first_day.isoformat(),
            "to": contract.term.last_day.isoformat(),
            "time_zone": contract.term.time_zone,
        },
        "clock": {"start": contract.clock.start},
        "scope": {
            "models": list(contract.scope.models),
            "routes": list(contract.scope.routes),
            "regions": list(contract.scope.regions),
        },
        "language": None if contract.language is None else {"authoritative": contract.language.authoritative},
        # what the contract leaves out is printed as what then holds
        "period": {"month": contract.period.month, "partial": contract.period.partial},
        "evaluate_per": list(contract.evaluate_per) or "none",
        "retries": "all" if contract.retries.with_backoff is None else "with_backoff",
        "quota": None if contract.quota is None else contract.quota.model_dump(mode="json", by_alias=True),
        "insufficient": {"below": contract.insufficient.below, "verdict": contract.insufficient.verdict},
    }


def period_section(contract: Contract, label: str, period: Interval) -> dict[str, Any]:
    """Return the month as instants and hours; 743 or 745 where the clocks change."""
    hours, rest = divmod(period.length_us, _HOUR_US)
    return {
        "month": label,
        "from": utc_text(period.start),
        "to": utc_text(period.end),
        "time_zone": contract.term.time_zone,
        "hours": hours if rest == 0 else period.length_us / _HOUR_US,
    }


def traffic_section(traffic: Traffic) -> dict[str, Any]:
    """Return the requests in scope by how they ended and how they were joined."""
    return {
        "admitted": traffic.admitted,
        "excluded": traffic.excluded,
        "unconfirmed": traffic.unconfirmed,
        "quarantined": traffic.quarantined,
        "ambiguous": traffic.ambiguous,
        "retried": traffic.retried,
        "outcomes": {str(outcome): count for outcome, count in traffic.outcomes.items()},
    }


def coverage_section(coverage: Coverage, traffic: Traffic, ok: int) -> dict[str, Any]:
    """Return the ratios of time read through, and of `ok` requests with a usable engine row."""
    return {
        "gateway": ratio(coverage.gateway_us, coverage.elapsed_us),
        "engine": ratio(coverage.engine_us, coverage.elapsed_us),
        "joined": ratio(traffic.joined_ok, ok),
    }


def latency_section(rows: Sequence[ClockRow]) -> list[dict[str, Any]]:
    """Return the percentiles of every clock, in seconds."""
    return [
        {
            "clock": str(row.clock),
            "n": row.count,
            "p50": seconds(row.p50_us),
            "p95": seconds(row.p95_us),
            "p99": seconds(row.p99_us),
            "p99_interval": interval(row.p99_interval_us),
            "max": seconds(row.max_us),
        }
        for row in rows
    ]


def breakdown_section(phases: Mapping[str, Phase]) -> dict[str, Any]:
    """Return each phase's mean and share; each is rounded on its own, from exact values."""
    return {
        name: {
            "seconds": mean_seconds(phase.sum_us, phase.count),
            "share": ratio(phase.sum_us, phase.of_us),
        }
        for name, phase in phases.items()
    }


def daily_section(days: Sequence[Day]) -> list[dict[str, Any]]:
    """Return the P99 of each local day, with and without queueing."""
    return [
        {
            "date": day.date.isoformat(),
            "n": day.count,
            "p99_with_queue": seconds(day.with_queue_us),
            "p99_without_queue": seconds(day.without_queue_us),
        }
        for day in days
    ]


def unmeasured_section(contract: Contract) -> dict[str, Any]:
    """Return the clause about unmeasured time as it was applied."""
    unmeasured = contract.unmeasured
    return {
        "time": unmeasured.time,
        "coverage_floor": float(unmeasured.coverage_floor),
        "below_floor": unmeasured.below_floor,
        "unknown_clock": unmeasured.unknown_clock,
    }


def interval(bounds: tuple[int | None, int | None] | None) -> list[float | None] | None:
    """Return the two ends in seconds; an open end is None, as is no interval."""
    return None if bounds is None else [seconds(bound) for bound in bounds]
