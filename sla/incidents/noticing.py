"""Own how incidents are kept up to date: what changed in the slices is looked at, and what differs is stored.

Stopped anywhere, run twice at once or run again, it leaves the same to be read. What was stored is not changed: an
incident that late rows take away is withdrawn by another row.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval, from_us
from fairclock.store.incidents import (
    IncidentEntry,
    first_known,
    incidents_by_contract,
    keep_incidents,
    note_incident_progress,
)
from fairclock.store.slices import MINUTE_US, kept_in_memory, live_hours
from sla.incidents.found import evidence_json, find_incidents, known_of, look_into
from sla.incidents.minutes import minutes_of_slices
from sla.incidents.ranging import hull_of, ranges_to_group
from sla.incidents.service import Service, around
from sla.slices.view import OneWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.incidents.found import Found
    from sla.incidents.naming import Known
    from sla.slices.evaluator import InForce

_MINUTE = timedelta(microseconds=MINUTE_US)
_LOOK_AGAIN = timedelta(minutes=1)
_LOOKS_A_PASS = 8
"""Of one contract or of many: alerts wait for it."""
_LONGEST_KEPT = timedelta(hours=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """One contract's part of a pass: what was found in a range, and what of it had been stored."""

    versions: tuple[InForce, ...]
    found: tuple[Found, ...]
    stored: Mapping[str, IncidentEntry]


def notice_incidents(
    store: Store,
    versions: Iterable[InForce],
    *,
    window: Interval | None = None,
    as_of: datetime | None = None,
) -> int:
    """Find the incidents in slices that changed since the last pass, or in `window`, and store what differs; return how many rows.

    Read as of the store's watermark. In a window every incident is looked into anew; else those that changed, one that
    goes on at most once a minute, and a few at a time.
    """
    known = store.checked_as_of(as_of)
    by_contract: dict[str, list[InForce]] = {}
    for each in versions:
        by_contract.setdefault(each.contract.id, []).append(each)
    told = incidents_by_contract(store, by_contract, known)
    ranges = ranges_to_group(store, by_contract, told, window, known)
    first_told = first_known(store, [each for each in ranges if told[each]], known)
    work = [
        _work(store, by_contract[each], span, known_of(told[each], first_told), told[each], as_of=known)
        for each, span in ranges.items()
    ]
    due, entries = _due(work, known, all_of_them=window is not None)
    if window is None:
        due += _backlog(told, known, {each.id for each in entries} | {entry.id for entry, _ in due})
    entries += _looked_into(
        store, due, by_contract, known, looks=None if window is not None else _LOOKS_A_PASS
    )
    keep_incidents(store, entries)
    if window is None:
        note_incident_progress(store, list(ranges), known)
    return len(entries)


@dataclass(slots=True)
class IncidentStep:
    """Keep the incidents of the counted versions up to date, pass by pass; they are None before anything was counted."""

    _store: Callable[[], Store]
    _versions: Callable[[], Sequence[InForce] | None]

    def step(self, now: datetime) -> None:
        """Look at what changed since the last pass."""
        del now  # what may be known is the store's to say
        versions = self._versions()
        if versions:
            notice_incidents(self._store(), versions)


def _work(
    store: Store,
    versions: Sequence[InForce],
    span: Interval,
    known: Sequence[tuple[str, Known]],
    entries: Sequence[IncidentEntry],
    *,
    as_of: datetime,
) -> _Work:
    minutes = minutes_of_slices(store, versions, span, as_of)
    found = find_incidents(versions[0].contract.id, minutes, known, known_to=as_of)
    near = {
        each.id: each
        for each in entries
        if (each.starts_at < span.end and each.ends_at > span.start)
        or any(each.id == one.id for one in found)
    }
    return _Work(versions=tuple(versions), found=tuple(found), stored=near)


Due = tuple[IncidentEntry, IncidentEntry | None]
"""An incident to be looked into, and as it was stored."""


def _due(
    work: Sequence[_Work], as_of: datetime, *, all_of_them: bool
) -> tuple[list[Due], list[IncidentEntry]]:
    """Return what has to be looked into, and rows for those that there are no longer."""
    due: list[Due] = []
    withdrawn: list[IncidentEntry] = []
    for each in work:
        here = {found.id for found in each.found}
        withdrawn += [
            replace(entry, state="withdrawn", as_of=as_of)
            for entry in each.stored.values()
            if entry.state != "withdrawn" and entry.id not in here
        ]
        for found in each.found:
            entry, stored = _bare(found, each.versions, as_of), each.stored.get(found.id)
            if all_of_them or _is_due(entry, stored):
                due.append((entry, stored))
    return due, withdrawn


def _backlog(told: Mapping[str, Sequence[IncidentEntry]], as_of: datetime, others: set[str]) -> list[Due]:
    """Return what was stored and not looked into yet."""
    return [
        (replace(each, as_of=as_of), each)
        for entries in told.values()
        for each in entries
        if not each.evidence and each.state != "withdrawn" and each.id not in others
    ]


def _looked_into(
    store: Store,
    due: Sequence[Due],
    by_contract: Mapping[str, Sequence[InForce]],
    as_of: datetime,
    *,
    looks: int | None,
) -> list[IncidentEntry]:
    """Return the rows that say something new of what is due: new ones first, then the latest."""
    entries: list[IncidentEntry] = []
    ordered = sorted(due, key=lambda item: (item[1] is not None, -item[0].ends_at.timestamp(), item[0].id))
    looked_at = ordered if looks is None else ordered[:looks]
    with ExitStack() as stack:
        view = _view(store, [entry for entry, _ in looked_at], as_of, stack)
        service = Service(view, as_of)
        for entry, stored in looked_at:
            time = Interval(start=entry.starts_at, end=entry.ends_at)
            hits, evidence = look_into(
                view,
                service,
                by_contract[entry.contract],
                objective=entry.objective,
                time=time,
                as_of=as_of,
            )
            full = replace(
                entry,
                tenants=hits.tenants,
                worst_us=hits.worst_us,
                unanswered=hits.unanswered,
                evidence=evidence_json(evidence),
            )
            if stored is None or replace(full, as_of=stored.as_of) != stored:
                entries.append(full)
    # they have a name at once; what else was true is told by a later pass
    entries += [
        entry
        for entry, stored in ordered[len(looked_at) :]
        if stored is None or _slices_say(entry, stored) != stored
    ]
    return entries


def _bare(found: Found, versions: Sequence[InForce], as_of: datetime) -> IncidentEntry:
    """Return what the slices alone say of an incident."""
    group = found.group
    worst = group.worst
    last = from_us(group.minutes[-1].start_us)
    judged = [
        each
        for each in versions
        if (span := each.interval) and span.start < last + _MINUTE and last < span.end
    ]
    return IncidentEntry(
        id=found.id,
        contract=found.contract,
        objective=found.objective,
        version=(judged or list(versions))[-1].contract.version_sha256,
        state="ongoing" if group.is_open else "ended",
        starts_at=found.time.start,
        ends_at=found.time.end,
        requests=group.counted,
        bad=group.bad,
        bad_minutes=len(group.bad_minutes),
        tenants=(),
        worst_us=None,
        worst_bad=worst.bad,
        worst_of=worst.counted,
        unanswered=0,
        evidence="",
        as_of=as_of,
    )


def _is_due(entry: IncidentEntry, stored: IncidentEntry | None) -> bool:
    """Say whether an incident has to be looked into: it is new or changed, and if it goes on, not seen for a minute."""
    if stored is None or not stored.evidence or stored.state != entry.state:
        return True
    changed = _slices_say(entry, stored) != stored
    return changed and not (entry.state == "ongoing" and entry.as_of - stored.as_of < _LOOK_AGAIN)


def _slices_say(entry: IncidentEntry, stored: IncidentEntry) -> IncidentEntry:
    """Return `entry` with what is not read from slices as it was stored."""
    return replace(
        entry, tenants=stored.tenants, worst_us=stored.worst_us, unanswered=stored.unanswered,
        evidence=stored.evidence, as_of=stored.as_of,
    )  # fmt: skip


def _view(store: Store, entries: Sequence[IncidentEntry], as_of: datetime, stack: ExitStack) -> OneWindow:
    """Return the store, with the requests around `entries` joined once where that is cheap."""
    spans = [around(each.starts_at, each.ends_at).whole for each in entries]
    if not spans:
        return OneWindow(store, Interval(start=as_of, end=as_of), as_of)
    hull = hull_of(spans)
    view = OneWindow(store, hull, as_of)
    if hull.end - hull.start <= _LONGEST_KEPT and live_hours(store, hull, as_of):
        view.serve(stack.enter_context(kept_in_memory(store, view.requests_as_of(hull, as_of))))
    return view
