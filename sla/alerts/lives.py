"""Own the life of an alert: pending, firing, frozen, resolved; a function of what it was, what holds, and when.

An alert is never resolved because data stopped: where the data does not tell it is frozen as it was, and goes on
when the data tells again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from sla.alerts.conditions import Holds

if TYPE_CHECKING:
    from datetime import datetime

    from sla.alerts.conditions import Condition, Finding


class Phase(StrEnum):
    """Where an alert is in its life."""

    PENDING = "pending"
    FIRING = "firing"
    FROZEN = "frozen"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert, from when its condition first held to when it is resolved.

    sequence counts its changes of phase from 1. since: when the condition began to hold; changed_at: when the
    phase changed. was: the phase before it was frozen. clear_since: since when the condition has not held.
    """

    phase: Phase
    sequence: int
    since: datetime
    changed_at: datetime
    finding: Finding
    was: Phase | None = None
    frozen_reason: str = ""
    clear_since: datetime | None = None


def moved(
    before: Alert | None,
    condition: Condition,
    *,
    now: datetime,
    hold: timedelta = timedelta(0),
    keep: timedelta = timedelta(0),
) -> Alert | None:
    """Return what an alert becomes; None where there is none. The same in, the same out.

    hold: how long the condition has to hold before it fires. keep: how long it has to have stopped before it is
    resolved, which damps flapping. A pending alert whose condition stopped is dropped: nobody was told of it.
    """
    if before is None or before.phase is Phase.RESOLVED:
        return _begun(condition, now, hold) if condition.holds is Holds.YES else None
    match condition.holds:
        case Holds.UNKNOWN:
            return _frozen(before, condition, now)
        case Holds.YES:
            return _held(before, condition, now, hold)
        case Holds.NO:
            return _stopped(before, condition, now, keep)


def _begun(condition: Condition, now: datetime, hold: timedelta) -> Alert:
    phase = Phase.FIRING if hold <= timedelta(0) else Phase.PENDING
    return Alert(phase=phase, sequence=1, since=now, changed_at=now, finding=condition.finding)


def _frozen(before: Alert, condition: Condition, now: datetime) -> Alert:
    if before.phase is Phase.FROZEN:
        return replace(before, finding=condition.finding, frozen_reason=condition.why_unknown)
    frozen = _changed(before, Phase.FROZEN, condition, now)
    # time without data is no time without trouble
    return replace(frozen, was=before.phase, frozen_reason=condition.why_unknown, clear_since=None)


def _held(before: Alert, condition: Condition, now: datetime, hold: timedelta) -> Alert:
    phase = before.was or before.phase
    if phase is Phase.PENDING and now - before.since >= hold:
        phase = Phase.FIRING
    return replace(_changed(before, phase, condition, now), clear_since=None)


def _stopped(before: Alert, condition: Condition, now: datetime, keep: timedelta) -> Alert | None:
    phase = before.was or before.phase
    if phase is Phase.PENDING:
        return None
    since = before.clear_since or now
    if now - since >= keep:
        return _changed(before, Phase.RESOLVED, condition, now)
    return replace(_changed(before, phase, condition, now), clear_since=since)


def _changed(before: Alert, phase: Phase, condition: Condition, now: datetime) -> Alert:
    """Return the alert in `phase`; the count and the time of the change move only if it is another one."""
    is_change = phase is not before.phase
    return replace(
        before,
        phase=phase,
        sequence=before.sequence + is_change,
        changed_at=now if is_change else before.changed_at,
        finding=condition.finding,
        was=None,
        frozen_reason="",
    )
