"""The courier: at least once, in order, under the same id, whatever fails and whenever it is killed."""

import json
import logging
import threading
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.webhooks.courier import Courier
from exporters.webhooks.destination import Attempt, destinations
from exporters.webhooks.event import State
from exporters.webhooks.formats.format import Outcome
from exporters.webhooks.outbox import Fate
from fairclock.errors import StoreUnreachable
from tests.webhooks.factories import (
    NOW,
    SECRET,
    MemoryOutbox,
    good_event,
    good_rules,
    good_section,
    good_webhooks,
)
from tests.webhooks.receiver import Receiver


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now

    def pass_(self, seconds):
        self.now += timedelta(seconds=seconds)


class Place:
    """A destination whose answers are given, the last for good; it keeps what it was sent, answered or not."""

    def __init__(self, *answers, name="there", **rules):
        self.name = name
        self.answers = list(answers) or [Outcome.TAKEN]
        self.rules = good_rules(name, **{"group_wait": timedelta(), **rules})
        self.got = []

    def send(self, events, *, message_id, delivery_id, now):
        self.got.append((message_id, delivery_id, tuple(events), now))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Attempt) else Attempt(outcome=answer, status=200)


def courier(outbox, *places, clock, random=lambda: 1.0):
    return Courier(outbox, places, now=clock, random=random)


def run(courier_, clock, seconds, *, name="there"):
    """Let time pass as fast as the courier asks for, without looking more often than it does."""
    end = clock.now + timedelta(seconds=seconds)
    while clock.now < end:
        wake_at = courier_.step(name)
        if wake_at is None or wake_at > end:
            clock.now = end
        else:
            clock.now = max(clock.now, wake_at)


def test_a_failure_is_tried_again_less_and_less_often_under_the_same_ids_but_its_own():
    clock, outbox, place = Clock(), MemoryOutbox(), Place(Outcome.LATER)
    outbox.keep([good_event()])
    run(courier(outbox, place, clock=clock), clock, 90_000)
    waits = [
        (later[3] - earlier[3]).total_seconds()
        for earlier, later in zip(place.got, place.got[1:], strict=False)
    ]
    assert waits[:10] == [2, 4, 8, 16, 32, 64, 128, 256, 512, 900]
    assert max(waits) == 900
    assert len({message for message, *_ in place.got}) == 1
    assert len({delivery for _, delivery, *_ in place.got}) == len(place.got)


def test_a_message_is_dead_after_a_day_and_the_last_attempt_is_at_its_end(caplog):
    clock, outbox, place = Clock(), MemoryOutbox(), Place(Outcome.LATER)
    outbox.keep([good_event()])
    run(courier(outbox, place, clock=clock), clock, 200_000)
    assert outbox.fates() == [(1, "dead")]
    assert place.got[-1][3] == NOW + timedelta(days=1)
    assert f"{place.got[0][0]} is given up" in caplog.text


def test_after_a_death_the_next_event_of_the_alert_has_its_turn():
    clock, outbox, place = Clock(), MemoryOutbox(), Place(Outcome.LATER)
    outbox.keep([good_event(1), good_event(2, "resolved", seconds=30)])
    run(courier(outbox, place, clock=clock), clock, 86_400)
    assert {event.sequence for _, _, (event,), _ in place.got} == {1}
    place.answers = [Outcome.TAKEN]
    run(courier(outbox, place, clock=clock), clock, 10)
    assert outbox.fates()[1] == (2, "delivered")


def test_what_is_refused_again_and_again_is_dead_within_a_minute():
    clock, outbox, place = Clock(), MemoryOutbox(), Place(Outcome.REFUSED)
    outbox.keep([good_event(1), good_event(2, "resolved", seconds=30)])
    run(courier(outbox, place, clock=clock), clock, 59)
    assert [event.sequence for _, _, (event,), _ in place.got] == [1] * 5
    assert outbox.fates() == [(1, "dead"), (2, "queued")]


def test_a_destination_that_asks_for_peace_gets_it_for_all_its_messages():
    peace = Attempt(outcome=Outcome.LATER, status=429, retry_after_seconds=120.0)
    clock, outbox, place = Clock(), MemoryOutbox(), Place(peace, Outcome.TAKEN, groups=False)
    outbox.keep([good_event(alert_id="a"), good_event(alert_id="b")])
    run(courier(outbox, place, clock=clock), clock, 200)
    assert [(got[3] - NOW).total_seconds() for got in place.got] == [0, 120, 120]


def test_a_restart_keeps_to_the_time_of_the_next_attempt():
    clock, outbox, place = Clock(), MemoryOutbox(), Place(*[Outcome.LATER] * 4, Outcome.TAKEN)
    outbox.keep([good_event()])
    for _ in range(40):
        run(courier(outbox, place, clock=clock), clock, 1)
    assert [(got[3] - NOW).total_seconds() for got in place.got] == [0, 2, 6, 14, 30]


def test_each_destination_has_its_own_fate_under_the_same_event_id():
    clock, outbox = Clock(), MemoryOutbox()
    one, other = Place(name="one"), Place(Outcome.LATER, name="other")
    carrier = courier(outbox, one, other, clock=clock)
    outbox.keep([good_event()])
    for name in ("one", "other"):
        run(carrier, clock, 10, name=name)
    assert (outbox.fates("one"), outbox.fates("other")) == ([(1, "delivered")], [(1, "failed")])
    assert {event.event_id for place in (one, other) for got in place.got for event in got[2]} == {
        good_event().event_id
    }
    assert one.got[0][0] != other.got[0][0]


def test_a_message_that_cannot_be_made_holds_up_no_other_and_shows_nothing(caplog):
    clock, outbox = Clock(), MemoryOutbox()
    place = Place(ValueError(SECRET), Outcome.TAKEN, groups=False)
    outbox.keep([good_event(alert_id="a"), good_event(alert_id="b")])
    run(courier(outbox, place, clock=clock), clock, 60)
    assert [fate for _, fate in outbox.fates()] == ["delivered", "delivered"]
    assert "ValueError" in caplog.text
    assert SECRET not in caplog.text + repr(outbox.rows)


def test_nothing_new_is_not_read_again():
    clock, outbox, place = Clock(), MemoryOutbox(), Place()
    carrier = courier(outbox, place, clock=clock)
    outbox.keep([good_event()])
    run(carrier, clock, 10)
    carrier.step("there")
    outbox.read = None  # would fail
    for _ in range(5):
        clock.pass_(60)
        assert carrier.step("there") is None


class Killed(BaseException):
    """Stands for a kill: nobody catches it."""


CHANGES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 90), st.booleans()), min_size=1, max_size=12
)
ANSWERS = st.lists(
    st.sampled_from([Outcome.TAKEN, Outcome.LATER, Killed(), RuntimeError("odd")]), max_size=20
)


@given(CHANGES, ANSWERS, st.lists(st.integers(0, 12), max_size=6), st.booleans())
def test_laws_under_failures_and_kills(changes, answers, kills, groups):
    """Killed before a write, between writes, or after an attempt that nobody noted: nothing is lost or renamed."""
    kills = list(kills)
    countdown = [kills.pop() if kills else -1]

    def fail():
        if countdown[0] == 0:
            countdown[0] = kills.pop() if kills else -1
            raise Killed
        countdown[0] -= 1

    clock, outbox = Clock(), MemoryOutbox(fail)
    place = Place(*answers, Outcome.TAKEN, groups=groups, hold_down=timedelta(seconds=20))
    events, state, at = [], {}, 0
    for alert_id, step, restarts in changes:
        at += step
        state[alert_id] = State.RESOLVED if state.get(alert_id) is State.FIRING else State.FIRING
        sequence = 1 + sum(event.alert_id == alert_id for event in events)
        events.append(good_event(sequence, state[alert_id], seconds=at, alert_id=alert_id))
        clock.now = max(clock.now, events[-1].at)
        outbox.keep([events[-1]])
        carrier = courier(outbox, place, clock=clock)
        if not restarts:
            continue
        try:
            run(carrier, clock, step)
        except Killed:
            continue
    for _ in range(60):
        try:
            run(courier(outbox, place, clock=clock), clock, 2_000)
        except Killed:
            continue
    fates = outbox.newest()
    assert {key[1:] for key in fates} == {(event.alert_id, event.sequence) for event in events}
    assert {row.fate for row in fates.values()} <= {Fate.DELIVERED, Fate.DAMPED, Fate.UNCHANGED}
    for (_, alert_id, sequence), row in fates.items():
        carrying = {
            got[0] for got in place.got for e in got[2] if (e.alert_id, e.sequence) == (alert_id, sequence)
        }
        assert len(carrying) == (row.fate is Fate.DELIVERED), "an event goes in one message, under one id"
    for alert_id, last_state in state.items():
        told = [event.sequence for got in place.got for event in got[2] if event.alert_id == alert_id]
        assert told == sorted(told), "an alert's events are never told out of order"
        if told:
            assert fates["there", alert_id, told[-1]].event.state is last_state
    for message_id in {got[0] for got in place.got}:
        assert len({got[2] for got in place.got if got[0] == message_id}) == 1, "a message keeps its events"


def environment(url):
    return {"URL": url, "S": SECRET}


def real(url, clock, **changes):
    section = good_section(**{"format": "json", "url": None, "url_env": "URL", **changes})
    webhooks = good_webhooks(section, allow_internal=("127.0.0.1",), group_wait="0s")
    return destinations(webhooks, environment=environment(url), now=clock)


def test_a_real_receiver_gets_the_event_signed_and_the_row_says_so(outbox, caplog):
    clock = Clock()
    with (
        caplog.at_level(logging.DEBUG),
        Receiver((503, {"Retry-After": "30"}, b""), (200, {}, b"")) as receiver,
    ):
        outbox.keep([good_event()])
        carrier = Courier(outbox, real(receiver.url(path=f"/{SECRET}"), clock), now=clock, random=lambda: 0.0)
        run(carrier, clock, 60)
        first, second = receiver.received
    assert first.body == second.body
    assert (
        first.headers["Fairclock-Event-Id"] == second.headers["Fairclock-Event-Id"] == good_event().event_id
    )
    assert first.headers["Fairclock-Delivery-Id"] != second.headers["Fairclock-Delivery-Id"]
    assert int(second.headers["Fairclock-Timestamp"]) - int(first.headers["Fairclock-Timestamp"]) == 30
    assert json.loads(first.body)["events"][0]["event_id"] == good_event().event_id
    (row,) = outbox.newest()
    assert (row["delivery"], row["attempts"], row["http_status"]) == ("delivered", 2, 200)
    assert SECRET not in caplog.text


def test_no_row_and_no_log_holds_a_secret(outbox, store, caplog):
    clock = Clock()
    with Receiver((200, {}, b"not json")) as receiver:
        url = receiver.url(path=f"/robot/send?access_token={SECRET}")
        outbox.keep([good_event()])
        carrier = Courier(outbox, real(url, clock, format="dingtalk"), now=clock, random=lambda: 0.0)
        with caplog.at_level(logging.DEBUG):
            run(carrier, clock, 5)
        assert receiver.received
    assert SECRET not in caplog.text
    assert SECRET not in repr(outbox.newest())
    assert "does not answer as that service does" in outbox.newest()[0]["problem"]


def test_a_secret_that_is_missing_is_an_attempt_that_failed(outbox):
    clock = Clock()
    outbox.keep([good_event()])
    (place,) = destinations(good_webhooks(good_section(), group_wait="0s"), environment={}, now=clock)
    run(Courier(outbox, [place], now=clock, random=lambda: 0.0), clock, 1)
    assert outbox.newest()[0]["problem"] == "$S: holds no secret; write the secret there"


class Away(MemoryOutbox):
    """An outbox whose store is away until `back` is set."""

    def __init__(self):
        super().__init__()
        self.back, self.asked = threading.Event(), threading.Event()

    def mark(self):
        self.asked.set()
        if not self.back.is_set():
            raise StoreUnreachable("there", "nobody answers")
        return super().mark()


def test_threads_outlive_a_store_that_is_away_and_end_when_they_are_told(monkeypatch):
    monkeypatch.setattr("exporters.webhooks.courier._STORE_AWAY_SECONDS", 0.01)
    clock, outbox = Clock(), Away()
    taken = threading.Event()

    class Telling(Place):
        def send(self, *words, **more):
            taken.set()
            return super().send(*words, **more)

    carrier = courier(outbox, Telling(), clock=clock)
    carrier.start()
    try:
        assert outbox.asked.wait(60)
        assert carrier.is_alive
        outbox.keep([good_event()])
        outbox.back.set()
        assert taken.wait(60)
    finally:
        carrier.stop()
    assert not carrier.is_alive


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, True),
        ({"contracts": ("acme*",)}, True),
        ({"contracts": ("globex*", "*-2025")}, False),
        ({"severities": ("critical", "info")}, True),
        ({"severities": ("warning",)}, False),
    ],
)
def test_a_destination_gets_what_it_wants(changes, wanted):
    (place,) = destinations(good_webhooks(good_section(**changes)), environment={}, now=Clock())
    assert place.rules.wants(good_event()) is wanted
