"""Own how counts become a verdict: the count itself, too small a volume, too little coverage.

Everything is counted in integers and compared as exact fractions; no percentile, interval or rounded ratio
takes part. The clauses are applied in this order: the count decides; a volume below the minimum is what
`insufficient.verdict` says; coverage below the floor turns whatever is not already violated into what
`unmeasured.below_floor` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from sla.percentiles import allowed_over, is_met

if TYPE_CHECKING:
    from fractions import Fraction

ForSmallVolume = Literal["met", "violated", "void", "carry_over"]
ForSmallCoverage = Literal["violated", "void"]


class Verdict(StrEnum):
    """What is said of one objective in one period."""

    MET = "met"
    VIOLATED = "violated"
    INSUFFICIENT_DATA = "insufficient_data"
    NOT_MEASURED = "not_measured"


WORST_FIRST: tuple[str, ...] = (
    Verdict.VIOLATED, Verdict.NOT_MEASURED, Verdict.INSUFFICIENT_DATA, Verdict.MET,
)  # fmt: skip
"""What is said where several are owed: the first of them."""


class Reason(StrEnum):
    """Why a verdict is what it is."""

    COUNTED = "counted"
    INSUFFICIENT_VOLUME = "insufficient_volume"
    NOTHING_COUNTED = "nothing_counted"
    BELOW_COVERAGE_FLOOR = "below_coverage_floor"
    PARTIAL_MONTH_VOID = "partial_month_void"
    NOT_EVALUATED = "not_evaluated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict and its reason."""

    verdict: Verdict
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What was counted for one objective.

    `valued` requests are judged by a measured value, `valued_over` of them are over; `unanswered` are over
    without a value to rank; `unknown` lack the value that would judge them. Ratios count good requests as
    `valued - valued_over` and bad ones as `valued_over`.
    """

    valued: int = 0
    valued_over: int = 0
    unanswered: int = 0
    unknown: int = 0

    def __add__(self, other: Count) -> Count:
        """Return the count of two disjoint sets of requests together."""
        return Count(
            valued=self.valued + other.valued,
            valued_over=self.valued_over + other.valued_over,
            unanswered=self.unanswered + other.unanswered,
            unknown=self.unknown + other.unknown,
        )

    def counted(self, *, unknown_is_bad: bool) -> int:
        """Return n; unknown requests are in it where the contract calls them bad."""
        return self.valued + self.unanswered + (self.unknown if unknown_is_bad else 0)

    def over(self, *, unknown_is_bad: bool) -> int:
        """Return how many of n are over."""
        return self.valued_over + self.unanswered + (self.unknown if unknown_is_bad else 0)


def latency_kept(count: Count, percentile: Fraction, *, unknown_is_bad: bool) -> bool:
    """Say whether 100·over <= (100-p)·n."""
    return is_met(
        count.over(unknown_is_bad=unknown_is_bad), count.counted(unknown_is_bad=unknown_is_bad), percentile
    )


def latency_allowed(count: Count, percentile: Fraction, *, unknown_is_bad: bool) -> int:
    """Return how many of n may be over."""
    return allowed_over(count.counted(unknown_is_bad=unknown_is_bad), percentile)


def ratio_kept(good: int, counted: int, target: Fraction) -> bool:
    """Say whether good/counted reaches `target`, without dividing; equality meets."""
    return good >= target * counted


def ratio_allowed(counted: int, target: Fraction) -> int:
    """Return how many of `counted` requests may be bad."""
    return int((1 - target) * counted // 1)


def by_count(*, kept: bool, counted: int, minimum: int, otherwise: ForSmallVolume) -> Judgement:
    """Return the verdict of a count, or what the contract says of fewer than `minimum` requests.

    Nothing counted is never a kept promise: with a `minimum` of 0 it reads `insufficient_data`.
    """
    if counted < minimum:
        named = {"met": Verdict.MET, "violated": Verdict.VIOLATED}
        verdict = named.get(otherwise, Verdict.INSUFFICIENT_DATA)
        return Judgement(verdict=verdict, reason=Reason.INSUFFICIENT_VOLUME)
    if counted == 0:
        return Judgement(verdict=Verdict.INSUFFICIENT_DATA, reason=Reason.NOTHING_COUNTED)
    return Judgement(verdict=Verdict.MET if kept else Verdict.VIOLATED, reason=Reason.COUNTED)


def under_floor(
    judgement: Judgement,
    *,
    covered_us: int,
    elapsed_us: int,
    floor: Fraction,
    otherwise: ForSmallCoverage,
) -> Judgement:
    """Return `judgement`, or what the contract says of coverage below `floor` if it is not violated already."""
    if judgement.verdict is Verdict.VIOLATED or covered_us >= floor * elapsed_us:
        return judgement
    verdict = Verdict.VIOLATED if otherwise == "violated" else Verdict.NOT_MEASURED
    return Judgement(verdict=verdict, reason=Reason.BELOW_COVERAGE_FLOOR)
