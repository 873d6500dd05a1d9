"""Own the rules about what is promised: clocks that need caps, promises that shedding would meet, targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Clock
from sla.contracts.lint.findings import Finding, Wording, add, write
from sla.contracts.objectives import (
    AvailabilityObjective,
    Downtime,
    LatencyObjective,
    Objective,
    RateObjective,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairclock.clauses.problems import Path
    from sla.contracts.contract import Contract

_PARTIAL_CLOCKS = (Clock.INFERENCE, Clock.EXCLUDING_QUEUE)
_CAPS = {
    Clock.QUEUE: "{name: queue-cap, latency: {clock: queue, percentile: 95, at_most: 500ms}}",
    Clock.OUTSIDE: "{name: outside-cap, latency: {clock: outside, percentile: 99, at_most: 800ms}}",
}
_AVAILABILITY = "{name: availability, availability: {formula: request_ratio, target: 99.9%}}"


def partial_clocks_are_capped(contract: Contract) -> Iterator[Finding]:
    """Require caps on `queue` and `outside` where a promise leaves queueing out."""
    for path, objective in _latencies(contract):
        if objective.latency.clock not in _PARTIAL_CLOCKS:
            continue
        for clock, clause in _CAPS.items():
            caps = [each for _, each in _latencies(contract) if each.latency.clock is clock]
            if not _covered(objective, caps):
                name, promised = clock.value, objective.latency.clock.value
                only = " covers the same requests and times" if caps else " exists"
                yield Finding(
                    severity="error",
                    rule="uncapped-clock",
                    path=(*path, "latency", "clock"),
                    reason=Wording(
                        en=f"`{promised}` leaves waiting out, and no objective on `{name}`{only}: "
                        "a request could wait for minutes and the promise be kept",
                        zh=f"`{promised}` 不含等待时间，且没有覆盖相同请求与时段的 `{name}` 上限："
                        "请求等待数分钟仍算达标",
                    ),
                    suggestion=add(clause),
                    absence=True,
                )


def latency_has_availability(contract: Contract) -> Iterator[Finding]:
    """Require an availability beside a latency: refusing requests would meet the latency."""
    available = [each for each in contract.objectives if isinstance(each, AvailabilityObjective)]
    uncovered = [
        (path, each)
        for path, each in _numbered(contract)
        if isinstance(each, LatencyObjective | RateObjective) and not _covered(each, available)
    ]
    if not uncovered:
        return
    names = ", ".join(each.name for _, each in uncovered)
    yield Finding(
        severity="error",
        rule="latency-without-availability",
        path=uncovered[0][0] if available else ("objectives",),
        reason=Wording(
            en=f"no availability objective covers the requests and times of {names}: refusing requests would meet them",
            zh=f"{names} 所涉请求与时段没有可用性指标覆盖：拒绝请求即可达标",
        ),
        suggestion=add(_AVAILABILITY),
        absence=True,
    )


def downtime_has_error_ratio(contract: Contract) -> Iterator[Finding]:
    """Require the error ratio from which on an interval is bad."""
    for path, objective in _numbered(contract):
        if isinstance(objective, AvailabilityObjective):
            availability = objective.availability
            if isinstance(availability, Downtime) and availability.bad_above is None:
                yield Finding(
                    severity="error",
                    rule="downtime-without-error-ratio",
                    path=(*path, "availability"),
                    reason=Wording(
                        en="nothing says how many errors make an interval bad",
                        zh="未约定错误率达到多少的区间计为不可用",
                    ),
                    suggestion=add("bad_above: 5%"),
                )


def targets_leave_a_budget(contract: Contract) -> Iterator[Finding]:
    """Refuse targets of 100 %: one failure at night breaks them, and no budget can be computed."""
    for path, objective in _numbered(contract):
        for steps, whole, clause in _targets(objective):
            if whole:
                yield Finding(
                    severity="error",
                    rule="target-of-100",
                    path=(*path, *steps),
                    reason=Wording(
                        en="a target of 100 % is broken by a single request and leaves no error budget",
                        zh="100% 的目标会被单个请求打破，且没有错误预算",
                    ),
                    suggestion=write(clause),
                )


def _targets(objective: Objective) -> list[tuple[Path, bool, str]]:
    if isinstance(objective, AvailabilityObjective):
        return [(("availability", "target"), objective.availability.target == 1, "target: 99.9%")]
    if isinstance(objective, LatencyObjective):
        return [(("latency", "percentile"), objective.latency.percentile == 100, "percentile: 99")]  # noqa: PLR2004
    if isinstance(objective, RateObjective):
        return [(("rate", "windows_met"), objective.rate.windows_met == 1, "windows_met: 99%")]
    return []


def _covered(objective: Objective, others: Sequence[Objective]) -> bool:
    """Tell whether one of `others` holds wherever and whenever `objective` does."""
    return any(
        other.during in {None, objective.during} and (not other.where.given or other.where == objective.where)
        for other in others
    )


def _numbered(contract: Contract) -> list[tuple[Path, Objective]]:
    return [(("objectives", number), each) for number, each in enumerate(contract.objectives)]


def _latencies(contract: Contract) -> list[tuple[Path, LatencyObjective]]:
    return [(path, each) for path, each in _numbered(contract) if isinstance(each, LatencyObjective)]


RULES = (
    partial_clocks_are_capped,
    latency_has_availability,
    downtime_has_error_ratio,
    targets_leave_a_budget,
)
