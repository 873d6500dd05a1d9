"""Own the page of incidents: when, how many requests, and what else was true then, in the report's sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.pages.states import plain_state
from fairclock.console.pages.tiles import Tile
from fairclock.console.pages.view import address, segment
from fairclock.model import utc_text
from sla.reports.incidents import incident_rows

if TYPE_CHECKING:
    from fairclock.console.pages.view import View
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.incidents import IncidentFigures, IncidentPage


MOST_IN_FULL, MOST_LISTED = 10, 200
"""Of more, those that go on and the greatest are shown in full; the others a line each, up to so many."""


def incident_parts(page: IncidentPage, view: View, words: Wording) -> dict[str, Any]:
    """Return what the template of incidents needs beside the reading."""
    ongoing = sum(each.state == "ongoing" for each in page.incidents)
    greatest = sorted(page.incidents, key=lambda each: (each.state != "ongoing", -each.bad))[:MOST_IN_FULL]
    in_full = {each.id for each in greatest}
    others = [each for each in page.incidents if each.id not in in_full]
    return {
        "incidents": [_row(each, view, words) for each in page.incidents if each.id in in_full],
        "others": [(each, words.length(_seconds(each))) for each in others[:MOST_LISTED]],
        "others_count": len(others),
        "not_listed": max(len(others) - MOST_LISTED, 0),
        "announcement": words.text("incidents.announce", n=ongoing),
    }


def _row(incident: IncidentFigures, view: View, words: Wording) -> dict[str, Any]:
    is_ongoing = incident.state == "ongoing"
    around = {"from": utc_text(incident.starts_at), "to": utc_text(incident.ends_at)}
    tenant = incident.tenants[0] if len(incident.tenants) == 1 else None
    return {
        "incident": incident,
        "is_ongoing": is_ongoing,
        "state": plain_state(words.text(f"incident_state.{incident.state}"), "risk" if is_ongoing else ""),
        "length": words.length(_seconds(incident)),
        "tiles": _tiles(incident, words),
        "evidence": _sentences(incident, words),
        "to_tenant": lambda name: view.to(f"/tenants/{segment(name)}", contract=incident.contract),
        "requests_link": address("/requests", {**around, "tenant": tenant}),
    }


def _seconds(incident: IncidentFigures) -> float:
    return (incident.ends_at - incident.starts_at).total_seconds()


def _tiles(incident: IncidentFigures, words: Wording) -> list[Tile]:
    clock = words.word("clocks", incident.clock)
    tiles = [
        Tile(
            name=words.text("incidents.bad"),
            value=words.integer(incident.bad),
            note=words.text("incidents.of", n=incident.requests),
        ),
        Tile(name=words.text("incidents.bad_minutes"), value=words.integer(incident.bad_minutes)),
        Tile(
            name=words.text("incidents.worst_minute"),
            value=words.integer(incident.worst_minute_bad),
            note=words.text("incidents.of", n=incident.worst_minute_requests),
        ),
    ]
    if incident.worst_seconds is not None:
        tiles.append(
            Tile(
                name=words.text("incidents.worst", clock=clock),
                value=words.seconds(incident.worst_seconds),
                unit=words.text("seconds_unit"),
            )
        )
    if incident.unanswered:
        tiles.append(Tile(name=words.text("incidents.unanswered"), value=words.integer(incident.unanswered)))
    return tiles


def _sentences(incident: IncidentFigures, words: Wording) -> list[str]:
    """Return the findings as the report prints them."""
    entry = {
        "id": incident.id,
        "objective": incident.objective,
        "from": utc_text(incident.starts_at),
        "to": utc_text(incident.ends_at),
        "evidence": [dict(each) for each in incident.evidence],
    }
    report = {"period": {"time_zone": words.zone.key}, "incidents": [entry]}
    return incident_rows(report, words.shared)[0].evidence if incident.evidence else []
