"""Own the report's lists of exclusions and degradations: what was claimed, granted, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, clip, total_us, utc_text
from fairclock.store.remedies import degradations_as_of
from sla.evaluation.fragments import all_of, count_if, named, select, sql
from sla.evaluation.instants import inside
from sla.evaluation.numbers import seconds
from sla.exclusions.rules import COLD_START

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from fairclock.model.remedies import DegradationEntry
    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.excluding import MonthExclusions
    from sla.evaluation.rows import Requests
    from sla.exclusions import Claim, Plan

    Row = tuple[dict[str, Any], str]
    """Which promise, and its verdict."""
    Verdicts = Callable[[Plan], Sequence[Row]]
    Counting = Callable[[Mapping[str, tuple[Plan, Plan]]], Mapping[str, int]]

Section = list[dict[str, Any]]


def exclusions_section(
    exclusions: MonthExclusions, count: Counting, verdicts: Verdicts, *, version_sha256: str
) -> Section:
    """Return every exclusion that touches the month, in time order.

    `count` returns how many requests the first plan leaves out and the second does not, for many pairs at
    once; `verdicts` judges the month with a plan. The effect of a granted one is what would be otherwise
    without it; of a proposed or disputed one, what would be otherwise with it; caps are dealt anew for either.
    """
    plans = {each.id: _other_plan(exclusions, each) for each in exclusions.claims}
    counts = count(_pairs(exclusions, plans))
    entries = []
    for claim in exclusions.claims:
        other = plans[claim.id]
        effect = None
        if other is not None:
            effect = {
                "requests": counts[claim.id],
                "verdicts": _changes(verdicts(exclusions.plan), verdicts(other)),
            }
        entries.append({**claimed(claim, exclusions), "effect": effect, "version_sha256": version_sha256})
    return sorted(entries, key=lambda each: (each["windows"][0]["from"], each["id"]))


def _changes(now: Sequence[Row], then: Sequence[Row]) -> Section:
    return [
        {**said, "is": is_, "would_be": would_be}
        for (said, is_), (_, would_be) in zip(now, then, strict=True)
        if is_ != would_be
    ]


def _other_plan(exclusions: MonthExclusions, claim: Claim) -> Plan | None:
    """Return the plan to compare with; None where nothing hangs on the claim. Cold starts stand and fall together."""
    if claim.is_granted:
        together = {each.id for each in exclusions.claims if each.clause == claim.clause == COLD_START}
        return exclusions.without(together or {claim.id})
    return exclusions.along_with(claim.id) if claim.is_open else None


def _pairs(exclusions: MonthExclusions, plans: Mapping[str, Plan | None]) -> dict[str, tuple[Plan, Plan]]:
    """Return, for each claim, the plan that leaves more out and the other; of cold starts, each by itself."""
    pairs: dict[str, tuple[Plan, Plan]] = {}
    for claim in exclusions.claims:
        other = plans[claim.id]
        if other is None:
            continue
        if claim.is_granted and claim.clause == COLD_START:
            other = exclusions.without({claim.id})
        pairs[claim.id] = (exclusions.plan, other) if claim.is_granted else (other, exclusions.plan)
    return pairs


def claimed(claim: Claim, exclusions: MonthExclusions) -> dict[str, Any]:
    """Return an exclusion as the report lists it, without its effect."""
    exclusion = claim.exclusion
    proposal = None if exclusion is None else exclusion.proposal
    answer = None if exclusion is None else exclusion.answer
    end = claim.windows[-1].time.end if proposal is None else proposal.ends_at
    return {
        "id": claim.id,
        "clause": f"exclusions.{claim.clause}",
        "state": str(claim.state),
        "automatic": proposal is None,
        "from": utc_text(claim.windows[0].time.start if proposal is None else proposal.starts_at),
        "to": None if end is None else utc_text(end),
        "recurrence": (proposal.recurrence or None) if proposal else None,
        "time_zone": proposal.time_zone if proposal else None,
        "upstream": claim.upstream or None,
        "reason": proposal.reason if proposal else None,
        "author": proposal.author if proposal else None,
        "evidence": claim.evidence or None,
        "recorded_at": _instant(proposal.stored_at if proposal else None),
        "notice": {"at": _instant(proposal.notice_at), "to": list(proposal.notice_to)}
        if proposal is not None and proposal.notice_at is not None
        else None,
        "answer": None
        if answer is None
        else {
            "state": str(answer.state),
            "author": answer.author,
            "at": _instant(answer.stored_at),
            "comment": answer.comment or None,
            "evidence": answer.answer_evidence or None,
        },
        "in_contract": claim.fits,
        "late": any(each.late for each in claim.windows),
        "retroactive": any(each.retroactive for each in claim.windows),
        "windows": [
            {
                "from": utc_text(each.time.start),
                "to": utc_text(each.time.end),
                "late": each.late,
                "retroactive": each.retroactive,
                "counts": each.counts,
                "change": None if each.change is None else str(each.change),
            }
            for each in claim.windows
        ],
        "cap": _cap(claim, exclusions),
    }


def _cap(claim: Claim, exclusions: MonthExclusions) -> dict[str, Any]:
    """Return the time claimed and granted, and how much of its clause's cap the month has used, in seconds."""
    plan = exclusions.plan
    cap = plan.caps_us.get(claim.clause)
    return {
        "claimed_seconds": seconds(total_us(each.time for each in claim.windows)),
        "granted_seconds": seconds(total_us(plan.granted.get(claim.id, ()))),
        "allowed_seconds": seconds(cap),
        "used_seconds": seconds(plan.used_us.get(claim.clause, 0)),
    }


def degradations_section(
    store: Requests, source: Query, contract: Contract, elapsed: Interval, as_of: datetime
) -> Section:
    """Return the degradations of the contract's tenants that touch the month, with the requests in them by mode."""
    tenants = set(contract.customer.tenants)
    found: list[tuple[DegradationEntry, Interval]] = []
    for said in degradations_as_of(store, as_of):
        end = said.ends_at or max(said.starts_at, elapsed.end)
        concerns = not said.tenants or tenants & set(said.tenants)
        if concerns:
            found += [(said, part) for part in clip([Interval(start=said.starts_at, end=end)], elapsed)]
    modes = _modes(store, source, found)
    return [
        {
            "id": each.id,
            "mode": each.mode or None,
            "kind": each.kind or None,
            "engine": each.engine or None,
            "level": each.level or (_level(contract, each.mode) if each.mode else None),
            "from": utc_text(each.starts_at),
            "to": _instant(each.ends_at),
            "tenants": list(each.tenants),
            "reason": each.reason,
            "author": each.author,
            "origin": each.origin,
            "evidence": each.evidence or None,
            "recorded_at": _instant(each.stored_at),
            "seconds": seconds(time.length_us),
            "requests": sum(counts.values()),
            "requests_by_mode": counts,
        }
        for (each, time), counts in zip(found, modes, strict=True)
    ]


def _modes(
    store: Requests, source: Query, found: Sequence[tuple[DegradationEntry, Interval]]
) -> list[dict[str, int]]:
    if not found:
        return []
    columns = []
    for number, (each, time) in enumerate(found):
        name = f"degradation_{number}"
        conditions = [inside([time], name=name)]
        if each.tenants:
            conditions.append(
                sql(f"tenant IN {{{name}_tenants:Array(String)}}", **{f"{name}_tenants": list(each.tenants)})
            )
        columns.append(named(count_if(all_of(conditions)), name))
    query = select(
        (sql("toString(inference_mode) AS mode"), *columns),
        source,
        sql("GROUP BY mode"),
        sql("ORDER BY mode"),
    )
    rows = store.rows(query)
    return [{row[0]: row[1 + number] for row in rows if row[1 + number]} for number in range(len(found))]


def _level(contract: Contract, mode: str) -> str | None:
    levels = () if contract.quality is None else contract.quality.levels
    return next((level.name for level in levels if mode in level.modes), None)


def _instant(value: datetime | None) -> str | None:
    return None if value is None else utc_text(value)
