"""Own a pass over all alerts: what holds now, what that changes, and the events that tell of it.

A pass rests on nothing but the store: alerts go on from their last events, which are written down before anybody is
told, and whose ids follow from what is watched, the number of the life and the number of the change. So a pass that
is killed is made again by the next one, and two engines at once tell the same. Only since when a condition has ended
is kept in memory: after a restart a resolution comes later, never earlier.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from sla.alerting.budgets import BurnRules, budget_lengths, budget_watches, budgeted
from sla.alerting.by_time import TimedBudgets
from sla.alerting.contracts import (
    contract_lengths,
    gap_watch,
    latency_watches,
    probe_watch,
    recent_probes,
    waiting_watch,
)
from sla.alerting.costs import cost_watches
from sla.alerting.disks import disk_watches
from sla.alerting.measurement import measurement_watches
from sla.alerting.measuring import Moment, Sums, newest_as_of
from sla.alerting.naming import EVERYBODY
from sla.alerting.sources import KV_CACHE, kv_cache_watches, source_watches
from sla.alerting.states import Kept, event_of, kept_states, over
from sla.alerts import Phase, moved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from billing.bookkeeping.limits import KnownLimits
    from exporters.webhooks.event import AlertEvent
    from fairclock.store import Store
    from sla.alerting.configuration import AlertsSection
    from sla.alerting.watches import Watch
    from sla.alerts import Alert
    from sla.slices import InForce


class Keeps(Protocol):
    """Where events are written down before anybody is told; `StoreOutbox` is one."""

    def keep(self, events: Sequence[AlertEvent]) -> int:
        """Keep events, and return how many were new; the first copy of (alert, sequence) stays."""


def no_incident(contract_id: str, objective: str, at: datetime) -> str | None:
    """Return that no incident is known."""
    del contract_id, objective, at
    return None


@dataclass(slots=True, kw_only=True)
class AlertEngine:
    """One engine; `step` makes a pass.

    versions: every version of the configured contracts, those not in force too; None before anything was counted.
    incident: the open incident of (contract id, objective) at an instant. quiet: whether the logs are known to be read to their
    ends. told: called where something new was written down. costs: ceilings and budgets, where there is a price book.
    """

    store: Callable[[], Store]
    outbox: Keeps
    section: AlertsSection
    versions: Callable[[], Sequence[InForce] | None]
    incident: Callable[[str, str, datetime], str | None] = no_incident
    quiet: Callable[[], bool] = lambda: False
    told: Callable[[], None] = lambda: None
    costs: KnownLimits | None = None
    _rules: BurnRules = field(init=False)
    _timed: TimedBudgets = field(init=False)
    _sums: Sums = field(default_factory=Sums)
    _clear_since: dict[str, datetime] = field(default_factory=dict)
    _began_at: datetime | None = None

    def __post_init__(self) -> None:
        """Make the rules of the section."""
        self._rules = BurnRules(self.section)
        self._timed = TimedBudgets(self.section, self._rules)

    def step(self, now: datetime) -> None:
        """Look at everything once; raises `StoreError`, after which the next pass does what is left."""
        versions = self.versions()
        if versions is None or not self.section.enabled:
            return
        if self._began_at is None or now < self._began_at:
            self._began_at = now
        store = self.store()
        # before the data is looked at: what another engine writes meanwhile is then not undone, but lost to it
        states = kept_states(store)
        # a line that is read now and stored later is in no slice yet
        quiet = self.quiet()
        as_of = store.watermark()
        moment = Moment(store=store, as_of=as_of, now=now, newest=newest_as_of(store, as_of), quiet=quiet)
        events: list[AlertEvent] = []
        watched: set[str] = set()
        failure: Exception | None = None
        try:
            for watch in self._watches(moment, versions):
                watched.add(watch.key.text)
                event = self._moved(watch, states.get(watch.key.text), now)
                if event is not None:
                    events.append(event)
        except Exception as error:  # noqa: BLE001 - raised again below, once what is known is written down
            failure = error
        else:
            events += self._over(states, watched, versions, now)
        if events and self.outbox.keep(events):
            self.told()
        if failure is not None:
            raise failure

    def _watches(self, moment: Moment, versions: Sequence[InForce]) -> Iterator[Watch]:
        section = self.section
        in_force = [each for each in versions if _is_in_force(each, moment.now)]
        promised = {each.key: budgeted(each, moment, self._rules) for each in in_force}
        lengths = {
            key: budget_lengths(found, section) | contract_lengths(section) for key, found in promised.items()
        }
        sums = self._sums.read(moment, lengths)
        probes = recent_probes(moment) if section.probes.enabled else []
        assert self._began_at is not None  # noqa: S101 - `step` notes it
        parts: list[Iterator[Watch]] = []
        for version in in_force:
            parts += [
                budget_watches(version, promised[version.key], moment, sums, section),
                self._timed.watches(version, moment),
                waiting_watch(version, moment, sums, section),
                latency_watches(version, moment, sums, section),
                gap_watch(version, moment, section, watched_since=self._began_at),
                probe_watch(version, moment, section, probes),
            ]
        parts += [
            kv_cache_watches(moment, section),
            source_watches(moment, section),
            measurement_watches(moment, section),
            disk_watches(moment, section),
        ]
        if self.costs is not None:
            parts.append(cost_watches(moment, section, self.costs))
        yield from _one_after_the_other(parts)

    def _moved(self, watch: Watch, kept: Kept | None, now: datetime) -> AlertEvent | None:
        """Return the event that tells what has changed; None where nothing has."""
        if watch.condition is None:
            return None
        before = self._before(watch.key.text, kept)
        after = moved(
            before, watch.condition, now=now, hold=watch.hold, keep=timedelta(seconds=self.section.keep)
        )
        self._remember(watch.key.text, after)
        if before is not None and after is not None and after.sequence == before.sequence:
            return None
        if after is None:
            if before is None:
                return None
            # a pending one was dropped; the next is another life
            after = replace(
                before, phase=Phase.RESOLVED, sequence=before.sequence + 1, changed_at=now, was=None,
                frozen_reason="", finding=watch.condition.finding,
            )  # fmt: skip
        last = 0 if kept is None else kept.life
        objective = watch.key.objective
        return event_of(
            after,
            watch,
            life=last if before is not None else last + 1,
            incident=None if objective is None else self.incident(watch.key.contract, objective, now),
            budget_left=None if watch.budget_left is None else watch.budget_left(),
        )

    def _before(self, key: str, kept: Kept | None) -> Alert | None:
        if kept is None or kept.alert is None:
            self._clear_since.pop(key, None)
            return None
        return replace(kept.alert, clear_since=self._clear_since.get(key))

    def _remember(self, key: str, alert: Alert | None) -> None:
        if alert is None or alert.clear_since is None or alert.phase is Phase.RESOLVED:
            self._clear_since.pop(key, None)
        else:
            self._clear_since[key] = alert.clear_since

    def _over(
        self, states: dict[str, Kept], watched: set[str], versions: Iterable[InForce], now: datetime
    ) -> list[AlertEvent]:
        """Return the ends of what is not watched any more; other contracts' alerts are another engine's."""
        mine = {EVERYBODY, *(each.contract.id for each in versions)}
        patience = timedelta(seconds=self.section.sources.forget_after)
        found = []
        for key, kept in sorted(states.items()):
            event = kept.event
            if event is None or event.is_test or key in watched or event.contract_id not in mine:
                continue
            if event.rule == KV_CACHE and self.section.kv_cache.enabled and now - event.at < patience:
                # the engine says nothing any more: no reason to call it well
                continue
            found.append(over(kept, now=now))
        return found


def _one_after_the_other(parts: Iterable[Iterator[Watch]]) -> Iterator[Watch]:
    """Yield what all parts do; the first error of one is raised behind them all, so that it silences no other."""
    first: Exception | None = None
    for part in parts:
        try:
            found = list(part)
        except Exception as error:  # noqa: BLE001 - raised below
            first = first or error
        else:
            yield from found
    if first is not None:
        raise first


def _is_in_force(version: InForce, now: datetime) -> bool:
    interval = version.interval
    return interval is not None and interval.start <= now < interval.end
