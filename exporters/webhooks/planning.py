"""Own what is sent when: routing, one message per change, damping, silences, quiet hours, groups, order.

Pure: a book and an instant go in, rows and messages come out. What is decided here is written down before it is
done, and what was written down is not decided again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from exporters.webhooks.event import AlertEvent, State, derived_id
from exporters.webhooks.outbox import NOWHERE, Entry, Fate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from exporters.webhooks.outbox import Book
    from exporters.webhooks.quiet_hours import QuietHours
    from exporters.webhooks.silences import Silence

MOST_EVENTS = 20
_NEVER_SENT = "it was too old when it could first be sent"
_NO_DESTINATION = "the destination is configured no more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What one destination wants, and how."""

    name: str
    wants: Callable[[AlertEvent], bool]
    groups: bool
    group_wait: timedelta
    hold_down: timedelta
    give_up: timedelta
    quiet_hours: QuietHours | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What is sent as one; every entry has the same `message_id`, and no alert is in it twice."""

    destination: str
    message_id: str
    entries: tuple[Entry, ...]

    @property
    def due_at(self) -> datetime | None:
        """Return when it is to be sent; None is at once."""
        return self.entries[0].retry_at

    @property
    def events(self) -> tuple[AlertEvent, ...]:
        """Return the events in it."""
        return tuple(entry.event for entry in self.entries)


@dataclass(slots=True)
class Plan:
    """Rows to write before anything is sent, messages that are due then, and when to look again at the latest."""

    rows: list[Entry] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    wake_at: datetime | None = None

    def wake(self, instant: datetime) -> None:
        """Look again at `instant`, or earlier."""
        self.wake_at = instant if self.wake_at is None else min(self.wake_at, instant)


def route(book: Book, rules: Iterable[Rules], now: datetime) -> list[Entry]:
    """Return the first rows of the events that have none."""
    rules = list(rules)
    rows: list[Entry] = []
    for event in book.unrouted:
        wanting = [rule for rule in rules if rule.wants(event)]
        rows += [_routed(event, rule, book, now) for rule in wanting]
        if not wanting:
            rows.append(Entry(destination=NOWHERE, event=event, fate=Fate.UNWANTED))
    return rows


def _routed(event: AlertEvent, rule: Rules, book: Book, now: datetime) -> Entry:
    """Return the row of an event at a destination; what nobody can act on any more is not dug out."""
    is_past = book.last.get(event.alert_id, 0) > event.sequence or event.state is State.RESOLVED
    if is_past and event.at <= now - rule.give_up:
        return Entry(destination=rule.name, event=event, fate=Fate.DEAD, problem=_NEVER_SENT)
    return Entry(destination=rule.name, event=event)


def plan(book: Book, rules: Rules, silences: Sequence[Silence], now: datetime) -> Plan:
    """Return what is to be done for the destination of `rules` at `now`."""
    result = Plan()
    under_way: dict[str, list[Entry]] = defaultdict(list)
    ready: dict[str, list[Entry]] = defaultdict(list)
    for alert_id, entries in _by_alert(book.entries, rules.name).items():
        first = entries[0]
        if first.fate is not Fate.QUEUED:
            # the next event of an alert waits for the earlier one, or its death
            under_way[first.message_id].append(first)
            continue
        known = book.known.get((rules.name, alert_id), State.RESOLVED)
        chosen = _next(entries, known=known, rules=rules, silences=silences, now=now, result=result)
        if chosen is not None:
            ready[_group_of(chosen.event) if rules.groups else alert_id].append(chosen)
    for message_id, members in under_way.items():
        members.sort(key=_order)
        _take(Message(destination=rules.name, message_id=message_id, entries=tuple(members)), now, result)
    for members in ready.values():
        _make_messages(sorted(members, key=_order), rules, now, result)
    result.messages.sort(key=lambda message: _order(message.entries[0]))
    return result


def abandoned(book: Book, names: Iterable[str], give_up: timedelta, now: datetime) -> list[Entry]:
    """Return the ends of entries whose destination is configured no more, once they are too old."""
    configured = set(names)
    return [
        replace(entry, fate=Fate.DEAD, version=entry.version + 1, problem=_NO_DESTINATION)
        for entry in book.entries
        if entry.destination not in configured and entry.event.at <= now - give_up
    ]


def _by_alert(entries: Iterable[Entry], destination: str) -> Mapping[str, list[Entry]]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: entry.event.sequence):
        if entry.destination == destination:
            found[entry.event.alert_id].append(entry)
    return found


def _next(
    entries: Sequence[Entry],
    *,
    known: State,
    rules: Rules,
    silences: Sequence[Silence],
    now: datetime,
    result: Plan,
) -> Entry | None:
    """Return the entry of one alert that may go out now; ends those that never will."""
    at = 0
    while at < len(entries):
        entry, event = entries[at], entries[at].event
        following = entries[at + 1].event if at + 1 < len(entries) else None
        if event.state is known:
            result.rows.append(_ended(entry, Fate.UNCHANGED))
            at += 1
            continue
        held_until = event.at + rules.hold_down
        if event.state is not State.FIRING:
            if following is not None and following.state is known and following.at < held_until:
                result.rows += [_ended(each, Fate.DAMPED) for each in entries[at : at + 2]]
                at += 2
                continue
            if following is None and now < held_until:
                result.wake(held_until)
                return None
        silent_until = _silent_until(event, silences, now)
        if silent_until is not None:
            if following is None:
                result.wake(silent_until)
                return None
            result.rows.append(_ended(entry, Fate.SILENCED))
            at += 1
            continue
        quiet_until = rules.quiet_hours.hold(event.severity, now) if rules.quiet_hours else None
        if quiet_until is not None:
            result.wake(quiet_until)
            return None
        return entry
    return None


def _silent_until(event: AlertEvent, silences: Sequence[Silence], now: datetime) -> datetime | None:
    """Return when the silences of `event` end; a resolution is never silenced: it ends the noise."""
    if event.state is State.RESOLVED:
        return None
    return max((each.end for each in silences if each.covers(event, now)), default=None)


def _make_messages(members: Sequence[Entry], rules: Rules, now: datetime, result: Plan) -> None:
    due_at = min(entry.event.at for entry in members) + (rules.group_wait if rules.groups else timedelta())
    if now < due_at:
        result.wake(due_at)
        return
    for start in range(0, len(members), MOST_EVENTS):
        part = members[start : start + MOST_EVENTS]
        message_id = derived_id("msg", rules.name, *(entry.event.event_id for entry in part))
        planned = tuple(
            replace(
                entry,
                fate=Fate.PLANNED,
                version=entry.version + 1,
                message_id=message_id,
                planned_at=now,
                retry_at=now,
            )
            for entry in part
        )
        result.rows += planned
        _take(Message(destination=rules.name, message_id=message_id, entries=planned), now, result)


def _take(message: Message, now: datetime, result: Plan) -> None:
    if message.due_at is not None and now < message.due_at:
        result.wake(message.due_at)
    else:
        result.messages.append(message)


def _group_of(event: AlertEvent) -> str:
    return f"incident {event.incident}" if event.incident else f"contract {event.contract_id}"


def _ended(entry: Entry, fate: Fate) -> Entry:
    return replace(entry, fate=fate, version=entry.version + 1)


def _order(entry: Entry) -> tuple[datetime, str, int]:
    return entry.event.at, entry.event.alert_id, entry.event.sequence
