"""Own the rules about what numbers can carry: percentiles of few requests, averages, resolution."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.clauses.quantities import decimal_text, write_duration
from fairclock.model import Clock
from sla.contracts.lint.findings import Finding, Wording, write
from sla.contracts.objectives import LatencyObjective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.problems import Path
    from sla.contracts.contract import Contract

GATEWAY_RESOLUTION_US = 1_000
"""nginx writes its times in whole milliseconds."""
_GATEWAY_CLOCKS = frozenset(
    {Clock.END_TO_END, Clock.EXCLUDING_QUEUE, Clock.OUTSIDE, Clock.TIME_TO_FIRST_TOKEN}
)
_REQUESTS_BEYOND = 10
"""How many requests should lie beyond a percentile before it says anything."""
_MONTH_US = 30 * 86_400_000_000


def percentiles_have_volume(contract: Contract) -> Iterator[Finding]:
    """Warn of a percentile that the expected number of requests cannot support."""
    expected = contract.expected_requests_per_month
    if expected is None:
        return
    for path, objective in _latencies(contract):
        latency = objective.latency
        if latency.percentile == 100:  # noqa: PLR2004
            continue
        needed = Fraction(100 * _REQUESTS_BEYOND) / (100 - latency.percentile)
        share = Fraction(1) if latency.window_us is None else Fraction(latency.window_us, _MONTH_US)
        volume = expected * share
        if volume < needed:
            window = latency.window_us
            per = "per month" if window is None else f"in a window of {write_duration(window)}"
            per_zh = "每月" if window is None else f"每 {write_duration(window)} 窗口"
            percentile, count = decimal_text(latency.percentile), int(volume)
            yield Finding(
                severity="warning",
                rule="percentile-without-volume",
                path=(*path, "latency", "percentile"),
                reason=Wording(
                    en=f"P{percentile} needs {-(-needed // 1)} requests, and {count} are expected {per}",
                    zh=f"P{percentile} 至少需要 {-(-needed // 1)} 个请求，而{per_zh}预计仅 {count} 个",
                ),
                suggestion=write(f"percentile: {_supported(volume)}"),
            )


def _supported(volume: Fraction) -> str:
    for text in ("99.9", "99", "95", "90", "75"):
        if volume * (100 - Fraction(text)) >= 100 * _REQUESTS_BEYOND:
            return text
    return "50"


def percentiles_are_not_averaged(contract: Contract) -> Iterator[Finding]:
    """Warn of averages of percentiles: a bad hour disappears in them."""
    for path, objective in _latencies(contract):
        if objective.latency.combine == "mean":
            yield Finding(
                severity="warning",
                rule="averaged-percentiles",
                path=(*path, "latency", "combine"),
                reason=Wording(
                    en="the mean of percentiles is no percentile: quiet windows hide the ones that failed",
                    zh="百分位的平均值不是百分位：空闲窗口会掩盖未达标的窗口",
                ),
                suggestion=Wording(
                    en="take window and combine away, or write combine: worst",
                    zh="请删去 window 与 combine，或写作 combine: worst",
                ),
            )


def thresholds_can_be_measured(contract: Contract) -> Iterator[Finding]:
    """Warn of thresholds finer than the gateway's milliseconds."""
    for path, objective in _latencies(contract):
        latency = objective.latency
        if latency.clock in _GATEWAY_CLOCKS and latency.at_most_us % GATEWAY_RESOLUTION_US:
            rounded = max(latency.at_most_us // GATEWAY_RESOLUTION_US, 1) * GATEWAY_RESOLUTION_US
            written = write_duration(latency.at_most_us)
            yield Finding(
                severity="warning",
                rule="threshold-finer-than-source",
                path=(*path, "latency", "at_most"),
                reason=Wording(
                    en=f"the gateway measures whole milliseconds, and {written} lies between two of them",
                    zh=f"网关仅以整毫秒计时，而 {written} 不是整毫秒",
                ),
                suggestion=write(f"at_most: {write_duration(rounded)}"),
            )


def _latencies(contract: Contract) -> list[tuple[Path, LatencyObjective]]:
    return [
        (("objectives", number), each)
        for number, each in enumerate(contract.objectives)
        if isinstance(each, LatencyObjective)
    ]


RULES = (percentiles_have_volume, percentiles_are_not_averaged, thresholds_can_be_measured)
