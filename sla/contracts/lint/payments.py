"""Own the rules about credits: tiers that overlap or contradict, more than everything, claims cut short."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.clauses.quantities import write_percent
from sla.contracts.lint.findings import Finding, Wording, write
from sla.contracts.objectives import AvailabilityObjective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.problems import Path
    from sla.contracts.contract import Contract
    from sla.contracts.remedies import AfterMonthEnd, Credits, CreditTier

LATE_DATA_DAYS = 7
"""Rows may come in so long after the month; a claim should still be open then."""
_ZERO = Fraction(0)
_SHORTEST_DAYS = {"day": 1, "workday": 1, "week": 7, "month": 28}


def tiers_agree(contract: Contract) -> Iterator[Finding]:
    """Refuse tiers of one objective that overlap, or of which the deeper pays less."""
    for tiers in _by_objective(contract.credits).values():
        yield from _overlaps(tiers)
        graded = sorted(
            ((path, tier.below, tier.credit) for path, tier in tiers if tier.below is not None),
            key=lambda each: -each[1],
        )
        for (_, higher, less), (path, lower, more) in pairwise(graded):
            if lower < higher and more <= less:
                yield _contradiction(
                    (*path, "credit"),
                    en=f"below {write_percent(lower)} pays {write_percent(more)}, no more than below {write_percent(higher)}",
                    zh=f"低于 {write_percent(lower)} 赔付 {write_percent(more)}，并不高于低于 {write_percent(higher)} 的档位",
                    clause="a higher credit for the deeper tier",
                    clause_zh="更高的赔付比例",
                )
        yield from _above_target(contract, tiers)


def _overlaps(tiers: list[tuple[Path, CreditTier]]) -> Iterator[Finding]:
    seen: dict[object, str] = {}
    mixed = len({tier.below is None for _, tier in tiers}) > 1
    for path, tier in tiers:
        condition = "violated" if tier.below is None else tier.below
        if condition in seen or (mixed and condition == "violated"):
            other = seen.get(condition, "below: …")
            yield _contradiction(
                path,
                en=f"overlaps another tier of {tier.objective} ({other}): one result would reach both",
                zh=f"与 {tier.objective} 的另一档位（{other}）重叠：同一结果同时触发两档",
                clause="one tier for each condition",
                clause_zh="每个条件只设一档",
            )
        seen[condition] = "violated: true" if tier.below is None else f"below: {write_percent(tier.below)}"


def _above_target(contract: Contract, tiers: list[tuple[Path, CreditTier]]) -> Iterator[Finding]:
    targets = {
        each.name: each.availability.target
        for each in contract.objectives
        if isinstance(each, AvailabilityObjective)
    }
    for path, tier in tiers:
        target = targets.get(tier.objective)
        if tier.below is not None and target is not None and tier.below > target:
            yield _contradiction(
                (*path, "below"),
                en=f"pays below {write_percent(tier.below)} although {write_percent(target)} keeps the promise",
                zh=f"低于 {write_percent(tier.below)} 即赔付，但达到 {write_percent(target)} 已属达标",
                clause=f"below: {write_percent(target)}",
                clause_zh=f"below: {write_percent(target)}",
            )


def _contradiction(path: Path, *, en: str, zh: str, clause: str, clause_zh: str) -> Finding:
    return Finding(
        severity="error",
        rule="contradictory-tiers",
        path=path,
        reason=Wording(en=en, zh=zh),
        suggestion=Wording(en=f"write {clause}", zh=f"可写作 {clause_zh}"),
    )


def credits_stay_below_everything(contract: Contract) -> Iterator[Finding]:
    """Refuse credits above 100 %, of one tier or of all together."""
    for path, share in _shares(contract):
        if share > 1:
            yield _too_much(path, f"{write_percent(share)} of the fees", f"费用的 {write_percent(share)}")
    credits_ = contract.credits
    if credits_ is None or credits_.cap is not None or any(tier.credit > 1 for tier in credits_.tiers):
        return
    most = _most(credits_)
    if most > 1:
        yield _too_much(
            ("credits",), f"{write_percent(most)} without a cap", f"合计 {write_percent(most)}，且无上限"
        )


def _most(credits_: Credits) -> Fraction:
    per_objective = [
        sum((tier.credit for _, tier in tiers), start=_ZERO)
        if credits_.tier == "sum"
        else max(tier.credit for _, tier in tiers)
        for tiers in _by_objective(credits_).values()
    ]
    return sum(per_objective, start=_ZERO)


def _shares(contract: Contract) -> Iterator[tuple[Path, Fraction]]:
    if contract.credits is not None:
        for number, tier in enumerate(contract.credits.tiers):
            yield ("credits", "tiers", number, "credit"), tier.credit
        if contract.credits.cap is not None:
            yield ("credits", "cap"), contract.credits.cap
    for number, level in enumerate(contract.quality.levels if contract.quality else ()):
        if level.credit is not None:
            yield ("quality", "levels", number, "credit"), level.credit


def _too_much(path: Path, en: str, zh: str) -> Finding:
    return Finding(
        severity="error",
        rule="credits-above-100",
        path=path,
        reason=Wording(en=f"credits could reach {en}: more than was paid", zh=f"赔付可达{zh}：超过已付费用"),
        suggestion=write("cap: 50%"),
    )


def one_cause_is_settled(contract: Contract) -> Iterator[Finding]:
    """Warn where one outage would reach the credits of several objectives, and nothing says what then."""
    credits_ = contract.credits
    if credits_ is not None and credits_.same_cause is None and len(_by_objective(credits_)) > 1:
        yield Finding(
            severity="warning",
            rule="same-cause-unanswered",
            path=("credits", "same_cause"),
            reason=Wording(
                en="one outage can reach the credits of several objectives, and nothing says whether they add up",
                zh="同一故障可能触发多项指标的赔付，但未约定是否累加",
            ),
            suggestion=write("same_cause: highest_only"),
        )


def claims_outlast_late_data(contract: Contract) -> Iterator[Finding]:
    """Warn of claims that close before late rows are in, or before they open."""
    claim = contract.credits.claim if contract.credits else None
    if claim is None or claim.closes is None:
        return
    closes = _days(claim.closes)
    opens = 0 if claim.opens is None else _days(claim.opens)
    if closes < LATE_DATA_DAYS or closes <= opens:
        yield Finding(
            severity="warning",
            rule="claim-closes-early",
            path=("credits", "claim", "closes"),
            reason=Wording(
                en=f"claims close {claim.closes}, but late data can change a result for {LATE_DATA_DAYS} days, "
                f"and claims open {claim.opens or 'at month end'}",
                zh=f"索赔于 {claim.closes} 截止，而迟到数据在月末后 {LATE_DATA_DAYS} 天内仍可改变结果",
            ),
            suggestion=write("closes: 2 months after month end"),
        )


def _days(date: AfterMonthEnd) -> int:
    return date.number * _SHORTEST_DAYS[date.unit]


def _by_objective(credits_: Credits | None) -> dict[str, list[tuple[Path, CreditTier]]]:
    found: dict[str, list[tuple[Path, CreditTier]]] = {}
    for number, tier in enumerate(credits_.tiers if credits_ else ()):
        found.setdefault(tier.objective, []).append((("credits", "tiers", number), tier))
    return found


RULES = (tiers_agree, credits_stay_below_everything, one_cause_is_settled, claims_outlast_late_data)
