"""Alert events, destinations and clocks to test with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from exporters.webhooks.configuration import DestinationSection, WebhooksSection
from exporters.webhooks.credentials import Secret
from exporters.webhooks.event import AlertEvent, Severity, State
from exporters.webhooks.formats.format import Outgoing
from exporters.webhooks.formats.registry import FORMATS
from exporters.webhooks.outbox import OPEN, TOLD, Book
from exporters.webhooks.planning import Rules
from exporters.webhooks.rendering import Renderer

NOW = datetime(2026, 10, 7, 3, 0, tzinfo=UTC)
SECRET = "Kryptonite-of-the-test"
RUNBOOKS = "https://wiki.example/runbooks/"


def good_event(sequence=1, state=State.FIRING, *, seconds=0.0, **changes):
    """The change number `sequence` of an alert, `seconds` after NOW."""
    at = NOW + timedelta(seconds=seconds)
    event = AlertEvent(
        alert_id="acme-2026/p99/fast-burn",
        sequence=sequence,
        state=State(state),
        severity=Severity.CRITICAL,
        at=at,
        since=NOW - timedelta(minutes=5),
        contract_id="acme-2026",
        rule="fast burn",
        summary_en="p99 of acme-2026 burns its budget 14.4 times too fast",
        summary_zh="acme-2026 的 p99 消耗预算的速度是允许的 14.4 倍",
        objective="p99",
        clock="end_to_end",
        tenants=("acme", "acme-eu"),
        window_from=NOW - timedelta(hours=1),
        window_to=NOW,
        bad=144,
        n=1_000,
        threshold="14.4",
        value="18.2",
        budget_left_ratio=0.62,
        data_age_seconds=8.0,
        coverage_ratio=0.9991,
        queue_share_ratio=0.71,
        incident="inc-7",
        link="https://fairclock.example/incidents/inc-7",
        runbook="budget-burn",
    )
    return replace(event, **changes)


def good_rules(name="there", **changes):
    values = {
        "name": name,
        "wants": lambda event: True,
        "groups": True,
        "group_wait": timedelta(seconds=3),
        "hold_down": timedelta(seconds=60),
        "give_up": timedelta(days=1),
    }
    return Rules(**{**values, **changes})


@cache
def _renderer(language, escape):
    return Renderer(language=language, escape=escape, zone=ZoneInfo("Asia/Shanghai"))


def outgoing(name, events, *, language="en", now=NOW, secret=SECRET, url="https://receiver.example/hook?k=1"):
    form = FORMATS[name]
    renderer = _renderer(language, form.escape)
    return Outgoing(
        url=Secret(url),
        secret=Secret(secret) if secret else None,
        destination="there",
        message_id="msg_1",
        delivery_id="d-1",
        events=tuple(events),
        text=renderer.render(events, runbooks=RUNBOOKS),
        language=language,
        link=None,
        runbooks=RUNBOOKS,
        now=now,
    )


def good_section(**changes):
    values = {"name": "there", "format": "json", "url": "https://receiver.example/hook", "secret_env": "S"}
    return DestinationSection(**{**values, **changes})


def good_webhooks(*destinations, **changes):
    return WebhooksSection(destinations=tuple(destinations), **changes)


class MemoryOutbox:
    """An outbox in memory, with the semantics of the one in the store; `fail` is called before each write."""

    def __init__(self, fail=lambda: None):
        self.events = {}
        self.rows = []
        self.silenced = []
        self.fail = fail

    def keep(self, events):
        before = len(self.events)
        for event in events:
            self.events.setdefault((event.alert_id, event.sequence), event)
        return len(self.events) - before

    def newest(self):
        found = {}
        for row in self.rows:
            key = (row.destination, row.event.alert_id, row.event.sequence)
            if key not in found or found[key].version <= row.version:
                found[key] = row
        return found

    def read(self):
        newest = self.newest()
        routed = {key[1:] for key in newest}
        known = {}
        for (place, alert_id, _), row in sorted(newest.items()):
            if row.fate in TOLD:
                known[place, alert_id] = row.event.state
        last = {}
        for alert_id, sequence in self.events:
            last[alert_id] = max(last.get(alert_id, 0), sequence)
        return Book(
            unrouted=[
                event
                for key, event in sorted(self.events.items())
                if key not in routed and event.state is not State.PENDING
            ],
            entries=[row for row in newest.values() if row.fate in OPEN],
            known=known,
            last=last,
        )

    def write(self, entries, *, now):
        if entries:
            self.fail()
            self.rows += entries

    def silences(self, *, now):
        return [each for each in self.silenced if now < each.end]

    def mark(self):
        return len(self.events), len(self.rows), len(self.silenced)

    def fates(self, destination="there"):
        """What became of each event at a destination, in order."""
        newest = sorted(self.newest().items())
        return [(key[2], row.fate.value) for key, row in newest if key[0] == destination]
