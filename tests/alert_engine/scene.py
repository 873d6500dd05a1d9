"""A service that is played: its requests are logged, its slices counted, its alerts looked at, at instants of the test's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.model import Interval
from fairclock.store import LineBatch
from sla.alerting.configuration import AlertsSection
from sla.alerting.engine import AlertEngine
from sla.slices import evaluate_slices, in_force
from tests.alert_engine.factories import a_line
from tests.evaluation.factories import a_contract, availability, latency

START = datetime(2026, 10, 14, 3, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PROMISES = [latency(at_most="1s"), availability("99%")]


class Scene:
    """`minute` counts from START; a minute's requests are spread over it, and it is read through."""

    def __init__(self, store, *, contracts=None, **section):
        self.store = store
        self.contracts = contracts or [a_contract(objectives=PROMISES)]
        # how full the disk of whoever runs the tests is says nothing of them
        self.section = AlertsSection.model_validate({"disk": {"enabled": False}, **section})
        self.outbox = StoreOutbox(store)
        self.told = 0
        self.number = 0
        self.engine = self.another_engine()

    def another_engine(self, **others):
        """An engine that knows nothing but what is stored, as after a restart."""

        def told():
            self.told += 1

        return AlertEngine(
            store=lambda: self.store,
            outbox=StoreOutbox(self.store),
            section=self.section,
            versions=self.versions,
            told=told,
            **others,
        )

    def versions(self):
        return in_force(self.store, self.contracts, self.store.watermark())

    def restart(self):
        self.engine = self.another_engine()
        return self

    def log(self, minute, count=30, *, bad=0, minutes=1, seconds=0.2, covered=True, bad_status="500", **line):
        """Log `count` requests a minute, of which `bad` fail."""
        lines = []
        for place in range(minutes):
            for each in range(count):
                self.number += 1
                at = START + (minute + place + each / count) * MINUTE
                status = bad_status if each < bad else "200"
                lines.append(a_line(at=at, number=self.number, status=status, seconds=seconds, **line))
        self.store.ingest(LineBatch(kind="gateway", source="access.log", lines=lines))
        return self.cover(minute, minute + minutes) if covered else self

    def cover(self, start, end, kind="gateway"):
        """Say that the time was read through."""
        self.store.cover(
            kind=kind,
            source="access.log",
            intervals=[Interval(start=START + start * MINUTE, end=START + end * MINUTE)],
        )
        return self

    def count(self):
        evaluate_slices(self.store, self.versions())
        return self

    def look(self, minute, engine=None):
        """Count, and make a pass at `minute`; return what stands then, by rule and objective."""
        self.count()
        (engine or self.engine).step(START + minute * MINUTE)
        return self.standing()

    def recover(self, minute, *engines):
        """Ten minutes of good requests, looked at near their end, and once more after they were good for long enough."""
        self.log(minute, minutes=10)
        for at in (minute + 8.5, minute + 10):
            for each in engines or (self.engine,):
                self.look(at, each)
        return self

    def latest(self):
        return {
            (event.rule, event.objective): event
            for event in sorted(
                self.outbox.latest().values(), key=lambda each: int(each.alert_id.rpartition("/")[2])
            )
        }

    def standing(self):
        """The state of everything that was ever watched and told of."""
        return {key: event.state.value for key, event in self.latest().items()}

    def changes(self, rule, objective=None):
        """The states of one alert in order, over all its lives."""
        found = [event for event in self.events() if (event.rule, event.objective) == (rule, objective)]
        return [event.state.value for event in found]

    def events(self):
        from exporters.webhooks.event import read_event
        from fairclock.store import Query

        rows = self.store.rows(
            Query(
                sql="SELECT event FROM alerts ORDER BY changed_at, alert_id, sequence, stored_at"
                " LIMIT 1 BY alert_id, sequence"
            )
        )
        return [read_event(row[0]) for row in rows]
