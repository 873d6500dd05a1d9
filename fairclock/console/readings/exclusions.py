"""Own the page of exclusions: what was said of each, the clauses' rules and caps, and the proposal of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Anchor, Basis, Range, RangeName
from fairclock.console.readings.models.exclusions import (
    CapUse,
    ChangePage,
    ChangeRow,
    ClauseRule,
    ExclusionPage,
    ExclusionProposed,
    ExclusionRow,
    Mark,
)
from fairclock.console.readings.ranges import latest_of, within_reach
from fairclock.errors import NotAllowed
from fairclock.model import EPOCH, shared
from fairclock.store.audit import audit_entries
from fairclock.store.remedies import exclusion_entries
from sla.contracts.versions import versions_of
from sla.evaluation.excluding import month_exclusions, rules_of, said_of
from sla.evaluation.months import month_of
from sla.exclusions import exclusions_at
from sla.exclusions.rules import COLD_START
from sla.proposals import Proposed, propose

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.console.readings.models.exclusions import ExclusionProposal
    from fairclock.console.readings.view import Versions, View
    from sla.exclusions import Exclusion

_MICROSECONDS = 1_000_000


def exclusion_page(view: View) -> ExclusionPage:
    """Return the exclusions of every contract the caller may see, and what each contract says of its clauses."""
    visible = view.visible()
    ids = {versions[0].id for versions in visible}
    found = [
        each
        for each in exclusions_at(exclusion_entries(view.store, as_of=view.as_of), view.as_of)
        if each.proposal.contract in ids
    ]
    found.sort(key=lambda each: (each.proposal.starts_at, each.id), reverse=True)
    starts = min((each.proposal.starts_at for each in found), default=view.as_of)
    return ExclusionPage(
        range=_all_until(view.as_of, min(starts, view.as_of)),
        as_of=view.as_of,
        exclusions=tuple(_row(each) for each in found),
        rules=tuple(rule for versions in visible for rule in _rules(versions)),
        caps=tuple(cap for versions in visible for cap in _caps(view, versions)),
        may_propose=view.caller.may_propose,
        measured=view.measured(Anchor.EXCLUSIONS, Basis.NOTES),
    )


def proposed(view: View, said: ExclusionProposal) -> ExclusionProposed:
    """Propose an exclusion as ``fairclock exclusions add`` does; NotAllowed for whoever is not on the provider's side."""
    if not view.caller.may_propose:
        raise NotAllowed(
            "exclusions", "are proposed by the provider's side", remedy="use an operator's token"
        )
    versions = view.contract(said.contract)
    starts_at = within_reach(said.starts_at, where="starts_at")
    contract = next(
        (
            each.contract
            for each in reversed(versions_of(versions))
            if each.in_force.start <= starts_at < each.in_force.end
        ),
        versions[-1],
    )
    kept, doubts = propose(
        view.store,
        contract,
        Proposed(
            clause=said.clause,
            starts_at=starts_at,
            ends_at=_instant(said.ends_at, "ends_at"),
            reason=said.reason,
            author=said.author,
            recurrence=said.recurrence.strip(),
            exceptions=said.exceptions,
            time_zone=said.time_zone,
            evidence=said.evidence,
            notice_at=_instant(said.notice_at, "notice_at"),
            notice_to=said.notice_to,
            answer_by=_instant(said.answer_by, "answer_by"),
        ),
        now=view.now,
    )
    known = max(view.as_of, kept.stored_at or view.as_of)
    (exclusion,) = exclusions_at([kept], known)
    return ExclusionProposed(
        exclusion=_row(exclusion),
        marks=tuple(Mark(kind=str(each.kind), sentence=each.sentence) for each in doubts),
    )


def change_page(view: View, *, most: int) -> ChangePage:
    """Return the latest entries of the audit log; NotAllowed for anybody but administrators."""
    if not view.caller.may_audit:
        raise NotAllowed("changes", "are for administrators", remedy="use an administrator's token")
    found = audit_entries(view.store, as_of=view.as_of, most=most)
    starts = min((each.stored_at or view.as_of for each in found), default=view.as_of)
    return ChangePage(
        range=_all_until(view.as_of, starts),
        as_of=view.as_of,
        changes=tuple(
            ChangeRow(
                at=each.stored_at or EPOCH, who=each.who, scope=each.scope, address=each.address,
                action=each.action, subject=each.subject, outcome=each.outcome, detail=each.detail,
            )
            for each in found
        ),
        most=most,
        measured=view.measured(Anchor.CHANGES, Basis.NOTES),
    )  # fmt: skip


def _instant(value: datetime | None, where: str) -> datetime | None:
    return None if value is None else within_reach(value, where=where)


def _row(found: Exclusion) -> ExclusionRow:
    said, answer = found.proposal, found.answer
    return ExclusionRow(
        id=found.id,
        contract=said.contract,
        clause=said.clause,
        state=str(found.state),
        starts_at=said.starts_at,
        ends_at=said.ends_at,
        recurrence=said.recurrence,
        time_zone=said.time_zone,
        reason=said.reason,
        evidence=said.evidence,
        author=said.author,
        recorded_at=said.stored_at,
        notice_at=said.notice_at,
        notice_to=said.notice_to,
        answer_by=said.answer_by,
        answered_by=None if answer is None else answer.author,
        answered_at=None if answer is None else answer.stored_at,
        answer_comment=None if answer is None else answer.comment or None,
        answer_evidence=None if answer is None else answer.answer_evidence or None,
    )


def _rules(versions: Versions) -> list[ClauseRule]:
    contract = versions[-1]
    found = []
    for name, rule in rules_of(contract).items():
        cap = rule.cap
        found.append(
            ClauseRule(
                contract=contract.id,
                clause=name,
                may_propose=name != COLD_START,
                notice_seconds=rule.notice_us // _MICROSECONDS if rule.notice_us else None,
                notice_to=rule.notice_to,
                cap_seconds_per_month=None
                if cap is None or cap.duration_us is None
                else cap.duration_us / _MICROSECONDS,
                cap_ratio_per_month=None if cap is None or cap.share is None else float(cap.share),
                is_automatic=name == COLD_START,
            )
        )
    return found


def _caps(view: View, versions: Versions) -> list[CapUse]:
    """Return how much of each clause's cap the version in force has used in the latest month."""
    label = latest_of(versions, view.as_of)
    if label is None:
        return []
    shares = len(versions) > 1
    for version in reversed(versions_of(versions)):
        whole = version.contract.whole_month(label)
        part = shared(whole, version.in_force)
        if part is None or part.start >= view.as_of:
            continue
        month = month_of(version.contract, label, view.as_of, version.in_force if shares else None)
        said = said_of(view.store, version.contract, view.as_of)
        plan = month_exclusions(
            view.store, version.contract, month, view.as_of, said=said, shares_month=shares
        ).plan
        return [
            CapUse(
                contract=version.contract.id,
                clause=clause,
                month=label,
                used_seconds=plan.used_us.get(clause, 0) / _MICROSECONDS,
                allowed_seconds=None if cap_us is None else cap_us / _MICROSECONDS,
            )
            for clause, cap_us in plan.caps_us.items()
        ]
    return []


def _all_until(as_of: datetime, starts_at: datetime) -> Range:
    return Range(name=RangeName.CUSTOM, starts_at=starts_at, ends_at=as_of, elapsed_to=as_of)
