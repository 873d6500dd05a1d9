"""Own what provider and customers said of the month's mishaps: one maintenance accepted, one outage disputed, each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fairclock.model.remedies import ExclusionEntry, ExclusionState
from fairclock.store.remedies import keep_exclusion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairclock.demo.month import Month
    from fairclock.store import Store
    from sla.contracts import Contract

_NOTICE = timedelta(days=4)
_DAYS_TO_ANSWER = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """One proposal and its answer. workday: counted from the month's first, as the mishaps are; times are local."""

    clause: str
    workday: int
    start: tuple[int, int]
    end: tuple[int, int]
    state: ExclusionState
    reason: str
    evidence: str = ""
    notice_to: tuple[str, ...] = ()
    comment: str = ""
    answer_evidence: str = ""


_SAID = {
    "yunfan": (
        Dispute(
            clause="maintenance",
            workday=0,
            start=(9, 25),
            end=(9, 40),
            state=ExclusionState.ACCEPTED,
            reason="推理引擎升级，重启一个副本",
            evidence="CHG-1042",
            notice_to=("sla@yunfan.example",),
            answer_evidence="云帆金融回执第17号",
        ),
        Dispute(
            clause="customer_action",
            workday=9,
            start=(9, 40),
            end=(9, 50),
            state=ExclusionState.DISPUTED,
            reason="客户突发流量，请求在引擎排队",
            evidence="INC-2247",
            comment="每分钟请求数未超过合同配额",
        ),
    ),
    "acme": (
        Dispute(
            clause="maintenance",
            workday=0,
            start=(9, 25),
            end=(9, 40),
            state=ExclusionState.ACCEPTED,
            reason="New version of the engine: one replica is restarted",
            evidence="CHG-1042",
            notice_to=("sla@acme.example",),
            answer_evidence="Mail of Acme Support, two days before",
        ),
        Dispute(
            clause="force_majeure",
            workday=6,
            start=(9, 50),
            end=(10, 25),
            state=ExclusionState.DISPUTED,
            reason="One power feed of the building failed: one replica was down",
            evidence="INC-2231",
            comment="Two feeds are the provider's to have",
        ),
    ),
}


def say_exclusions(
    store: Store, contracts: Iterable[tuple[str, Contract]], *, month: Month, now: datetime
) -> int:
    """Enter what was proposed and answered for the contracts, by the names of their files; return how many exclusions."""
    count = 0
    for name, contract in contracts:
        for said in _SAID.get(name, ()):
            proposal = _proposal(contract, said, month=month, now=now)
            keep_exclusion(store, proposal)
            keep_exclusion(
                store,
                replace(
                    proposal,
                    sequence=2,
                    state=said.state,
                    author="Zhang Min",
                    comment=said.comment,
                    answer_evidence=said.answer_evidence,
                ),
            )
            count += 1
    return count


def _proposal(contract: Contract, said: Dispute, *, month: Month, now: datetime) -> ExclusionEntry:
    day = month.workdays[min(said.workday, len(month.workdays) - 1)]
    starts_at, ends_at = (
        datetime.fromtimestamp(month.epoch_seconds + month.seconds_at(day, *at), UTC)
        for at in (said.start, said.end)
    )
    named = f"{contract.id}\0{month.name}\0{said.clause}"
    return ExclusionEntry(
        id=f"ex-{hashlib.sha256(named.encode()).hexdigest()[:8]}",
        sequence=1,
        contract=contract.id,
        clause=said.clause,
        state=ExclusionState.PROPOSED,
        starts_at=starts_at,
        ends_at=ends_at,
        time_zone=month.zone,
        reason=said.reason,
        evidence=said.evidence,
        notice_at=starts_at - _NOTICE if said.notice_to else None,
        notice_to=said.notice_to,
        answer_by=now + timedelta(days=_DAYS_TO_ANSWER),
        author="Li Wei",
    )
