"""Own what is found of incidents in a range: which there are, under which names, what they hit, and the evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, from_us, to_us
from sla.incidents.evidence import evidence_of
from sla.incidents.grouping import groups_of, incidents_among
from sla.incidents.hits import hits_of
from sla.incidents.naming import Known, named
from sla.incidents.service import around

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.store.incidents import IncidentEntry
    from sla.evaluation.rows import Requests
    from sla.incidents.evidence import Evidence
    from sla.incidents.grouping import Group
    from sla.incidents.hits import Hits
    from sla.incidents.minutes import Minutes
    from sla.incidents.service import Service
    from sla.slices.evaluator import InForce

_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One incident of one objective, before anything else was read of it."""

    id: str
    contract: str
    objective: str
    group: Group

    @property
    def time(self) -> Interval:
        """Return the time from the start of its first bad minute to the end of its last one."""
        return Interval(start=from_us(self.group.start_us), end=from_us(self.group.end_us))


def find_incidents(
    contract: str, minutes: Minutes, known: Iterable[tuple[str, Known]], *, known_to: datetime
) -> list[Found]:
    """Return the incidents among `minutes`, by objective and time; `known` are those told before, with their objectives."""
    told: dict[str, list[Known]] = {}
    for objective, each in known:
        told.setdefault(objective, []).append(each)
    found = []
    for objective, of_objective in sorted(minutes.whole().items()):
        groups = incidents_among(
            groups_of(of_objective, read_us=minutes.read_us, known_to_us=to_us(known_to))
        )
        found += [
            Found(id=id_, contract=contract, objective=objective, group=group)
            for id_, group in named(contract, objective, groups, told.get(objective, ()))
        ]
    return found


def known_of(entries: Iterable[IncidentEntry], first_told: Mapping[str, datetime]) -> list[tuple[str, Known]]:
    """Return incidents that were stored, as `find_incidents` asks for them."""
    return [
        (
            each.objective,
            Known(
                id=each.id,
                start_us=to_us(each.starts_at),
                end_us=to_us(each.ends_at),
                first_told_us=to_us(first_told[each.id]),
                is_withdrawn=each.state == "withdrawn",
            ),
        )
        for each in entries
    ]


def look_into(
    store: Requests,
    service: Service,
    versions: Sequence[InForce],
    *,
    objective: str,
    time: Interval,
    as_of: datetime,
) -> tuple[Hits, list[Evidence]]:
    """Return what an incident of `objective` in `time` hit and what else was true then, as it was known at `as_of`."""
    times = around(time.start, time.end)
    hits = hits_of(store, versions, objective, before=times.before, during=time, as_of=as_of)
    tenants = sorted({tenant for each in versions for tenant in each.contract.customer.tenants})
    return hits, evidence_of(service.observed(times, time.end, tenants, hits))


def evidence_trees(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    """Return evidence as plain values: exact numbers become decimals of at most six digits."""
    return [
        {
            "kind": each.kind,
            "numbers": {name: _plain(value) for name, value in each.numbers.items()},
            "sources": list(each.sources),
        }
        for each in evidence
    ]


def evidence_json(evidence: Iterable[Evidence]) -> str:
    """Return evidence as one line of JSON, the same for the same evidence."""
    return json.dumps(evidence_trees(evidence), ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(round(value, _DIGITS))
    return list(value) if isinstance(value, tuple) else value
