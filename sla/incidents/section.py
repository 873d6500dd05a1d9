"""Own the report's list of incidents: found in the month's rows as they were known, under the names that were told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import Clock, utc_text
from fairclock.store.incidents import first_known, incidents_as_of
from sla.contracts.objectives import LatencyObjective
from sla.incidents.found import evidence_trees, find_incidents, known_of, look_into
from sla.incidents.grouping import GOOD_MINUTES, LEAST_BAD, SILENT_MINUTES, UNMEASURED_MINUTES
from sla.incidents.minutes import minutes_of_rows
from sla.incidents.service import Service

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from sla.evaluation.rows import Requests
    from sla.incidents.found import Found
    from sla.incidents.hits import Hits
    from sla.slices.evaluator import InForce

MOST_LOOKED_INTO = 10
"""Of more incidents than this, those with the most bad requests are looked into; the others are listed."""
_MICROSECONDS = 1_000_000


def incident_rule() -> dict[str, int]:
    """Return the numbers of the rule by which minutes are put together."""
    return {
        "least_bad": LEAST_BAD,
        "good_minutes": GOOD_MINUTES,
        "silent_minutes": SILENT_MINUTES,
        "unmeasured_minutes": UNMEASURED_MINUTES,
        "most_looked_into": MOST_LOOKED_INTO,
    }


def incidents_section(
    store: Requests, versions: Sequence[InForce], elapsed: Interval, as_of: datetime
) -> list[dict[str, Any]]:
    """Return the incidents of one contract's versions in `elapsed`, in time order, cut to it."""
    contract = versions[-1].contract.id
    known = known_of(
        incidents_as_of(store, contract, as_of, withdrawn=True), first_known(store, [contract], as_of)
    )
    minutes = minutes_of_rows(store, versions, elapsed, as_of)
    found = find_incidents(contract, minutes, known, known_to=elapsed.end)
    found.sort(key=lambda each: (each.group.start_us, each.objective, each.id))
    greatest = sorted(found, key=lambda each: (-each.group.bad, each.group.start_us, each.objective))
    looked_into = {each.id for each in greatest[:MOST_LOOKED_INTO]}
    service = Service(store, as_of)
    return [
        _entry(
            store, service, versions, each, as_of, is_last=elapsed.end >= as_of, looks=each.id in looked_into
        )
        for each in found
    ]


def _entry(
    store: Requests,
    service: Service,
    versions: Sequence[InForce],
    found: Found,
    as_of: datetime,
    *,
    is_last: bool,
    looks: bool,
) -> dict[str, Any]:
    group = found.group
    hits, evidence = (
        look_into(store, service, versions, objective=found.objective, time=found.time, as_of=as_of)
        if looks
        else (None, None)
    )
    worst = group.worst
    return {
        "id": found.id,
        "objective": found.objective,
        "from": utc_text(found.time.start),
        "to": utc_text(found.time.end),
        "ongoing": group.is_open and is_last,
        "requests": group.counted,
        "bad": group.bad,
        "bad_minutes": len(group.bad_minutes),
        "worst": {
            **_worst_value(versions, found.objective, hits),
            "minute": {"bad": worst.bad, "requests": worst.counted},
        },
        "tenants_hit": None if hits is None else list(hits.tenants),
        "evidence": None if evidence is None else evidence_trees(evidence),
    }


def _worst_value(versions: Sequence[InForce], objective: str, hits: Hits | None) -> dict[str, Any]:
    clock: Clock | None = None
    for version in versions:
        for each in version.contract.objectives:
            if each.name == objective and isinstance(each, LatencyObjective):
                clock = each.latency.clock
    value = None if hits is None or hits.worst_us is None else hits.worst_us / _MICROSECONDS
    return {
        "value": value,
        "clock": None if clock is None else str(clock),
        "unanswered": None if hits is None else hits.unanswered,
    }
