"""Own the decision after a step: on, back, or once more, each with its reasons. What was not measured never lets a version on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.latencies import FROM_INTENDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference_probe.prober.canary.policy import CanaryPolicy
    from inference_probe.prober.observations import Observation


_Reason = tuple[str, str]
"""In English and in Chinese."""

_KEPT: _Reason = ("every threshold is kept", "各项阈值均满足")


class Recommendation(StrEnum):
    """What is recommended after a step."""

    ADVANCE = "advance"
    FINISH = "finish"  # all of the traffic
    ROLLBACK = "rollback"
    HOLD = "hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One version in one step; None is not measured."""

    probes: int
    mean_seconds: float | None
    error_ratio: float | None
    memory_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is recommended at a share of the traffic, and the share that it leads to (both in per cent).

    reasons_zh: the same reasons in Chinese.
    """

    recommendation: Recommendation
    share_percent: float
    next_percent: float
    reasons: tuple[str, ...]
    reasons_zh: tuple[str, ...]
    baseline: Side
    canary: Side

    def tree(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "recommendation": self.recommendation.value,
            "share_percent": self.share_percent,
            "next_percent": self.next_percent,
            "reasons": list(self.reasons),
            **{
                name: {
                    "probes": side.probes,
                    "mean_seconds": side.mean_seconds,
                    "error_ratio": side.error_ratio,
                    "memory_bytes": side.memory_bytes,
                }
                for name, side in (("baseline", self.baseline), ("canary", self.canary))
            },
        }


def side(seen: Sequence[Observation], *, clock: str, memory_bytes: float | None) -> Side:
    """Count one version's probes. The mean is over those that were answered; those that were not are its error ratio.

    A probe that is refused as wrong counts as a failure here: both versions are asked the same, and if it is wrong, neither answers.
    """
    telling = [each for each in seen if each.says_something or each.outcome is ProbeOutcome.CLIENT_ERROR]
    mark = FROM_INTENDED[clock]
    values = [
        getattr(each, mark) - each.intended
        for each in telling
        if each.outcome is ProbeOutcome.OK and getattr(each, mark) is not None
    ]
    failed = sum(each.outcome is not ProbeOutcome.OK for each in telling)
    return Side(
        probes=len(telling),
        mean_seconds=round(fmean(values), 6) if values else None,
        error_ratio=round(failed / len(telling), 6) if telling else None,
        memory_bytes=memory_bytes,
    )


def decide(policy: CanaryPolicy, share_percent: float, baseline: Side, canary: Side) -> Decision:
    """Decide one step: back where any threshold is passed; once more where something was not measured; else on."""
    worse = tuple(_worse(policy, baseline, canary))
    missing = tuple(_missing(policy, baseline, canary))
    reasons: tuple[_Reason, ...]
    shares = policy.shares()
    larger = next((each for each in shares if each > share_percent), 100.0)
    if worse:
        recommendation, following, reasons = Recommendation.ROLLBACK, 0.0, worse
    elif missing:
        recommendation, following, reasons = Recommendation.HOLD, share_percent, missing
    elif share_percent >= 100:  # noqa: PLR2004 - per cent
        recommendation, following, reasons = Recommendation.FINISH, 100.0, (_KEPT,)
    else:
        recommendation, following, reasons = Recommendation.ADVANCE, larger, (_KEPT,)
    return Decision(
        recommendation=recommendation,
        share_percent=share_percent,
        next_percent=following,
        reasons=tuple(english for english, _ in reasons),
        reasons_zh=tuple(chinese for _, chinese in reasons),
        baseline=baseline,
        canary=canary,
    )


def _worse(policy: CanaryPolicy, baseline: Side, canary: Side) -> list[_Reason]:
    """Return the thresholds that are passed; too few probes of either side pass none."""
    found: list[_Reason] = []
    limits = policy.thresholds
    if min(baseline.probes, canary.probes) < policy.least_probes:
        return found
    if baseline.mean_seconds and canary.mean_seconds is not None:
        ratio = canary.mean_seconds / baseline.mean_seconds
        if ratio > limits.mean_ratio:
            found.append(
                (
                    f"mean {policy.clock} is {ratio:.3f} times the old one, at most {limits.mean_ratio:g}",
                    f"{policy.clock} 均值为旧版本的 {ratio:.3f} 倍，上限 {limits.mean_ratio:g}",
                )
            )
    if baseline.error_ratio is not None and canary.error_ratio is not None:
        points = (canary.error_ratio - baseline.error_ratio) * 100
        if points > limits.error_rate_points:
            found.append(
                (
                    f"failures are {points:.2f} points more, at most {limits.error_rate_points:g}",
                    f"失败率高出 {points:.2f} 个百分点，上限 {limits.error_rate_points:g}",
                )
            )
    if limits.memory_ratio is not None and baseline.memory_bytes and canary.memory_bytes is not None:
        ratio = canary.memory_bytes / baseline.memory_bytes
        if ratio > limits.memory_ratio:
            found.append(
                (
                    f"memory is {ratio:.3f} times the old one, at most {limits.memory_ratio:g}",
                    f"内存为旧版本的 {ratio:.3f} 倍，上限 {limits.memory_ratio:g}",
                )
            )
    return found


def _missing(policy: CanaryPolicy, baseline: Side, canary: Side) -> list[_Reason]:
    found: list[_Reason] = []
    for name, chinese, each in (("old", "旧版本", baseline), ("new", "新版本", canary)):
        if each.probes < policy.least_probes:
            found.append(
                (
                    f"{each.probes} probes of the {name} version say something, {policy.least_probes} are needed",
                    f"{chinese}仅有 {each.probes} 个有效探测，至少需要 {policy.least_probes} 个",
                )
            )
        elif each.mean_seconds is None:
            found.append(
                (
                    f"no answer of the {name} version has a {policy.clock}",
                    f"{chinese}没有任何应答测得 {policy.clock}",
                )
            )
        if policy.thresholds.memory_ratio is not None and not each.memory_bytes:
            found.append((f"the memory of the {name} version is not known", f"{chinese}的内存未知"))
    return found
