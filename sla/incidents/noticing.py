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
    changed_minutes,
    first_known,
    incident_progress,
    incidents_as_of,
    keep_incidents,
    note_incident_progress,
)
from fairclock.store.slices import MINUTE_US, kept_in_memory, live_hours
from sla.incidents.found import evidence_json, find_incidents, known_of, look_into
from sla.incidents.grouping import LEAST_BAD, REACH_MINUTES
from sla.incidents.minutes import minutes_of_slices
from sla.incidents.service import Service, around
from sla.slices.reading import sums_as_of
from sla.slices.view import OneWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.incidents.found import Found
    from sla.slices.evaluator import InForce

_MINUTE = timedelta(microseconds=MINUTE_US)
_REACH = REACH_MINUTES * _MINUTE
_MARGIN = LEAST_BAD * _REACH
"""So far a bad minute may hang together with others of too few bad requests to be stored."""
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
    ranges = _ranges(store, by_contract, window, known)
    work = [_work(store, by_contract[contract], span, known) for contract, span in ranges.items()]
    limit = None if window is not None else _LOOKS_A_PASS
    entries = _entries(store, work, by_contract, known, looks=limit)
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


def _ranges(
    store: Store, by_contract: Mapping[str, Sequence[InForce]], window: Interval | None, as_of: datetime
) -> dict[str, Interval]:
    """Return, for each contract of which something may be found otherwise, the range to group anew."""
    keys = {each.key: contract for contract, versions in by_contract.items() for each in versions}
    changed: dict[str, Interval] = {}
    if window is not None:
        changed = dict.fromkeys(by_contract, window)
    else:
        for key, (first, last) in changed_minutes(store, list(keys), incident_progress(store), as_of).items():
            changed[keys[key]] = _hull([Interval(start=first, end=last + _MINUTE)], changed.get(keys[key]))
    ranges: dict[str, Interval] = {}
    for contract in by_contract:
        stored = incidents_as_of(store, contract, as_of)
        # one that goes on ends by itself where nothing more is heard
        going_on = [
            Interval(start=each.starts_at, end=each.ends_at) for each in stored if each.state == "ongoing"
        ]
        touched = [*going_on, *([changed[contract]] if contract in changed else [])]
        if touched:
            hull = _hull(touched)
            span = Interval(start=hull.start - _MARGIN, end=hull.end + _MARGIN)
            ranges[contract] = _whole(span, stored)
    return _worth_it(store, by_contract, ranges, changed, as_of)


def _worth_it(
    store: Store,
    by_contract: Mapping[str, Sequence[InForce]],
    ranges: Mapping[str, Interval],
    changed: Mapping[str, Interval],
    as_of: datetime,
) -> dict[str, Interval]:
    """Return the ranges less those without any bad request and any incident; of those only the progress is noted."""
    quiet = [
        contract
        for contract, span in ranges.items()
        if not incidents_as_of(store, contract, as_of, touching=span)
    ]
    if not quiet:
        return dict(ranges)
    keys = {each.key: contract for contract in quiet for each in by_contract[contract]}
    hull = _hull([ranges[contract] for contract in quiet])
    sums = sums_as_of(store, list(keys), [hull], as_of)
    bad = {keys[key] for key, (one,) in sums.items() if any(tally.bad for tally in one.tallies)}
    note_incident_progress(store, [each for each in quiet if each not in bad and each in changed], as_of)
    return {contract: span for contract, span in ranges.items() if contract not in quiet or contract in bad}


def _work(store: Store, versions: Sequence[InForce], span: Interval, as_of: datetime) -> _Work:
    contract = versions[0].contract.id
    entries = incidents_as_of(store, contract, as_of, withdrawn=True)
    minutes = minutes_of_slices(store, versions, span, as_of)
    told = known_of(entries, first_known(store, contract, as_of))
    found = find_incidents(contract, minutes, told, known_to=as_of)
    near = {
        each.id: each
        for each in entries
        if (each.starts_at < span.end and each.ends_at > span.start)
        or any(each.id == one.id for one in found)
    }
    return _Work(versions=tuple(versions), found=tuple(found), stored=near)


def _entries(
    store: Store,
    work: Sequence[_Work],
    by_contract: Mapping[str, Sequence[InForce]],
    as_of: datetime,
    *,
    looks: int | None,
) -> list[IncidentEntry]:
    """Return the rows that say something new."""
    entries: list[IncidentEntry] = []
    due: list[tuple[IncidentEntry, IncidentEntry | None]] = []
    for each in work:
        here = {found.id for found in each.found}
        entries += [
            replace(entry, state="withdrawn", as_of=as_of)
            for entry in each.stored.values()
            if entry.state != "withdrawn" and entry.id not in here
        ]
        for found in each.found:
            entry, stored = _bare(found, each.versions, as_of), each.stored.get(found.id)
            if looks is None or _is_due(entry, stored):
                due.append((entry, stored))
    if looks is not None:
        due += _backlog(
            store, by_contract, as_of, {entry.id for entry, _ in due}, {each.id for each in entries}
        )
    due.sort(key=lambda item: (item[1] is not None, -item[0].ends_at.timestamp(), item[0].id))
    looked_at = due if looks is None else due[:looks]
    with ExitStack() as stack:
        view = _view(store, [entry for entry, _ in looked_at], as_of, stack)
        service = Service(view, as_of)
        for entry, stored in looked_at:
            time = Interval(start=entry.starts_at, end=entry.ends_at)
            hits, evidence = look_into(
                view, service, by_contract[entry.contract], objective=entry.objective, time=time, as_of=as_of
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
        for entry, stored in due[len(looked_at) :]
        if stored is None or _slices_say(entry, stored) != stored
    ]
    return entries


def _backlog(
    store: Store, by_contract: Mapping[str, Sequence[InForce]], as_of: datetime, *others: set[str]
) -> list[tuple[IncidentEntry, IncidentEntry | None]]:
    """Return what was stored and not looked into yet."""
    return [
        (replace(each, as_of=as_of), each)
        for contract in by_contract
        for each in incidents_as_of(store, contract, as_of)
        if not each.evidence and not any(each.id in ids for ids in others)
    ]


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
    hull = _hull(spans)
    view = OneWindow(store, hull, as_of)
    if hull.end - hull.start <= _LONGEST_KEPT and live_hours(store, hull, as_of):
        view.serve(stack.enter_context(kept_in_memory(store, view.requests_as_of(hull, as_of))))
    return view


def _whole(span: Interval, stored: Sequence[IncidentEntry]) -> Interval:
    """Return `span`, wider by the incidents that it would cut."""
    while True:
        wider = _hull(
            [
                Interval(start=each.starts_at, end=each.ends_at)
                for each in stored
                if each.starts_at < span.end and each.ends_at > span.start
            ],
            span,
        )
        if wider == span:
            return span
        span = wider


def _hull(intervals: Sequence[Interval], other: Interval | None = None) -> Interval:
    every = [*intervals, *([other] if other is not None else [])]
    return Interval(start=min(each.start for each in every), end=max(each.end for each in every))
