"""Own which alerts are shown: those that fire, as far as the caller may see whom they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporters.webhooks.event import State
from fairclock.console.readings.models.base import Anchor, Basis
from fairclock.console.readings.models.figures import AlertFigures
from sla.alerting.naming import EVERYBODY
from sla.alerting.states import kept_states

if TYPE_CHECKING:
    from exporters.webhooks.event import AlertEvent
    from fairclock.console.readings.view import View

_SHOWN = {State.FIRING, State.FROZEN}
_ORDER = {"critical": 0, "warning": 1, "info": 2}


def firing_alerts(view: View) -> list[AlertFigures]:
    """Return the alerts that fire, or did before their data was lost, the most urgent first.

    What concerns machines and sources, and so everybody, is shown to those who may see everybody's figures.
    """
    visible = {versions[0].id for versions in view.visible()}
    events = [each.event for each in kept_states(view.store).values() if each.event is not None]
    shown = [
        _figures(view, event)
        for event in events
        if event.state in _SHOWN and (view.caller.sees_all or event.contract_id in visible)
    ]
    return sorted(shown, key=lambda each: (_ORDER.get(each.severity, 9), each.since, each.id))


def _figures(view: View, event: AlertEvent) -> AlertFigures:
    return AlertFigures(
        id=event.alert_id,
        state=event.state.value,
        severity=event.severity.value,
        contract=None if event.contract_id == EVERYBODY else event.contract_id,
        objective=event.objective,
        since=event.since,
        summary={"en": event.summary_en, "zh": event.summary_zh},
        measured=view.measured(Anchor.ALERTS, Basis.NOTES),
    )
