"""Own the page of incidents: as they were last said to be, each with its evidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairclock.console.readings.models.base import Anchor, Basis, Lack
from fairclock.console.readings.models.incidents import IncidentFigures, IncidentPage
from fairclock.console.readings.ranges import interval_of, resolved
from fairclock.store.incidents import incidents_as_of
from sla.contracts.objectives import LatencyObjective

if TYPE_CHECKING:
    from fairclock.console.readings.protocol import Wanted
    from fairclock.console.readings.view import Versions, View
    from fairclock.store.incidents import IncidentEntry

_MICROSECONDS = 1_000_000
_OF_EVERYBODY = frozenset({"burst", "long_prompts", "retry_storm", "idle_waiting"})
"""Findings whose numbers count all tenants' requests: less its own, a tenant would have its neighbours'."""
_MACHINES = ("engine", "gpu")
_UNNAMED = "–"


def incident_page(view: View, wanted: Wanted, *, contract: str | None = None) -> IncidentPage:
    """Return the incidents of `contract`, or of all that may be seen, the newest first."""
    chosen = view.visible() if contract is None else [view.contract(contract)]
    shown = resolved(wanted, view.as_of, chosen[0] if len(chosen) == 1 else ())
    found = [
        _figures(view, versions, each)
        for versions in chosen
        for each in incidents_as_of(view.store, versions[0].id, view.as_of, touching=interval_of(shown))
    ]
    found.sort(key=lambda each: (each.starts_at, each.id), reverse=True)
    lacking = () if view.caller.sees_all else (Lack.NOT_FOR_TENANTS,)
    return IncidentPage(range=shown, as_of=view.as_of, lacking=lacking, incidents=tuple(found))


def _figures(view: View, versions: Versions, entry: IncidentEntry) -> IncidentFigures:
    return IncidentFigures(
        id=entry.id,
        contract=entry.contract,
        objective=entry.objective,
        state="ongoing" if entry.state == "ongoing" else "ended",
        starts_at=entry.starts_at,
        ends_at=entry.ends_at,
        requests=entry.requests,
        bad=entry.bad,
        bad_minutes=entry.bad_minutes,
        tenants=entry.tenants,
        clock=_clock(versions, entry.objective),
        worst_seconds=None if entry.worst_us is None else entry.worst_us / _MICROSECONDS,
        unanswered=entry.unanswered,
        worst_minute_bad=entry.worst_bad,
        worst_minute_requests=entry.worst_of,
        evidence=_evidence(view, entry),
        measured=view.measured(Anchor.INCIDENTS, Basis.NOTES),
    )


def _clock(versions: Versions, objective: str) -> str | None:
    for version in reversed(versions):
        for each in version.objectives:
            if each.name == objective and isinstance(each, LatencyObjective):
                return str(each.latency.clock)
    return None


def _evidence(view: View, entry: IncidentEntry) -> tuple[dict[str, Any], ...]:
    """Return the findings, as far as they are the caller's: of everybody's requests and names of machines operators alone."""
    found: list[dict[str, Any]] = json.loads(entry.evidence) or []
    if view.caller.sees_all:
        return tuple(found)
    return tuple(
        {
            **each,
            "numbers": {
                **each["numbers"],
                **{name: _UNNAMED for name in _MACHINES if name in each["numbers"]},
            },
        }
        for each in found
        if each["kind"] not in _OF_EVERYBODY
    )
