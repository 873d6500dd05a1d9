"""Own how an alert's life is written down as events, and read back from them: the table of events is the state.

A pending alert that is frozen stays pending there, with the reason: nobody was told of it. One that is dropped is
written as resolved, which nobody is told of either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporters.webhooks.event import AlertEvent, Severity, State, read_event
from fairclock.store.alerts import last_changes
from sla.alerts import Alert, Finding, Phase

if TYPE_CHECKING:
    from datetime import datetime
    from fractions import Fraction

    from fairclock.store.alerts import Rows
    from sla.alerting.watches import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The last life of what is watched; `alert` and `event` are None once it is over."""

    key: str
    life: int
    alert: Alert | None
    event: AlertEvent | None


def kept_states(store: Rows) -> dict[str, Kept]:
    """Return where everything stands that was ever watched, by the text of its key."""
    found = {}
    for change in last_changes(store):
        event = read_event(change.event) if change.event else None
        found[change.key] = Kept(
            key=change.key, life=change.life, alert=None if event is None else alert_of(event), event=event
        )
    return found


def alert_of(event: AlertEvent) -> Alert:
    """Return the life of an alert as its last event tells it."""
    phase, was = Phase(event.state.value), None
    if event.state is State.FROZEN:
        was = Phase.FIRING
    elif event.state is State.PENDING and event.frozen_reason is not None:
        phase, was = Phase.FROZEN, Phase.PENDING
    return Alert(
        phase=phase,
        sequence=event.sequence,
        since=event.since,
        changed_at=event.at,
        finding=Finding(rule=event.rule, objective=event.objective),
        was=was,
        frozen_reason=event.frozen_reason or "",
    )


def event_of(
    alert: Alert, watch: Watch, *, life: int, incident: str | None, budget_left: Fraction | None
) -> AlertEvent:
    """Return the event that tells of the change which brought `alert` to where it is."""
    found = alert.finding
    words = watch.words(found)
    state = State(alert.phase.value)
    if alert.phase is Phase.FROZEN and alert.was is Phase.PENDING:
        state = State.PENDING
    return AlertEvent(
        alert_id=watch.key.alert_id(life),
        sequence=alert.sequence,
        state=state,
        severity=Severity(watch.severity),
        at=alert.changed_at,
        since=alert.since,
        contract_id=watch.key.contract,
        rule=watch.key.rule,
        summary_en=words.en,
        summary_zh=words.zh,
        objective=watch.key.objective,
        clock=None if found.clock is None else found.clock.value,
        tenants=watch.tenants,
        window_from=None if found.window is None else found.window.start,
        window_to=None if found.window is None else found.window.end,
        bad=found.bad,
        n=found.counted,
        threshold=words.threshold,
        value=words.value,
        budget_left_ratio=_float(budget_left),
        data_age_seconds=_float(found.data_age_seconds),
        coverage_ratio=_float(found.coverage),
        queue_share_ratio=_float(found.queue_share),
        incident=incident,
        frozen_reason=alert.frozen_reason or None,
        runbook=watch.runbook or watch.key.rule,
    )


def over(kept: Kept, *, now: datetime) -> AlertEvent:
    """Return the event that ends what nobody watches any more: its rule is off, its contract or source is gone."""
    assert kept.event is not None  # noqa: S101 - what is over already is not ended again
    last = kept.event
    return AlertEvent(
        alert_id=last.alert_id,
        sequence=last.sequence + 1,
        state=State.RESOLVED,
        severity=last.severity,
        at=now,
        since=last.since,
        contract_id=last.contract_id,
        rule=last.rule,
        objective=last.objective,
        clock=last.clock,
        tenants=last.tenants,
        incident=last.incident,
        runbook=last.runbook,
        summary_en=f"not watched any more: {last.summary_en}",
        summary_zh=f"已停止监视：{last.summary_zh}",
    )


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
