"""What is sent when, decided by a pure function: each rule in a row of a table, the laws under Hypothesis."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.webhooks.event import Severity, State
from exporters.webhooks.outbox import Entry, Fate
from exporters.webhooks.planning import abandoned, plan, route
from exporters.webhooks.quiet_hours import QuietHours
from exporters.webhooks.silences import silence
from fairclock.errors import UsageError
from tests.webhooks.factories import NOW, MemoryOutbox, good_event, good_rules

SHANGHAI = ZoneInfo("Asia/Shanghai")


def after(seconds):
    return NOW + timedelta(seconds=seconds)


class Desk:
    """Plans at one instant after another, and delivers everything at once unless told otherwise."""

    def __init__(self, **rules):
        self.rules = good_rules(**rules)
        self.outbox = MemoryOutbox()
        self.sent = []

    def at(self, seconds, *events, delivers=True):
        now = after(seconds)
        self.outbox.keep(events)
        self.outbox.write(route(self.outbox.read(), [self.rules], now), now=now)
        made = plan(self.outbox.read(), self.rules, self.outbox.silences(now=now), now)
        self.outbox.write(made.rows, now=now)
        for message in made.messages:
            self.sent.append((seconds, [(e.alert_id, e.sequence) for e in message.events]))
            if delivers:
                done = [
                    replace(entry, fate=Fate.DELIVERED, version=entry.version + 1)
                    for entry in message.entries
                ]
                self.outbox.write(done, now=now)
        return made.wake_at

    def numbers(self):
        return [(seconds, [sequence for _, sequence in events]) for seconds, events in self.sent]


F, R, Z = State.FIRING, State.RESOLVED, State.FROZEN


def test_a_firing_waits_for_its_group_and_a_resolution_until_it_has_held():
    desk = Desk()
    assert desk.at(0, good_event(1, F)) == after(3)
    desk.at(3)
    assert desk.at(10, good_event(2, R, seconds=10)) == after(70)
    desk.at(69.9)
    desk.at(70)  # over the group's wait by now
    assert desk.numbers() == [(3, [1]), (70, [2])]


@pytest.mark.parametrize(
    ("states", "seconds", "fates"),
    [
        pytest.param(
            [F, R, F],
            [0, 10, 20],
            ["delivered", "damped", "damped"],
            id="back within the hold-down is no change",
        ),
        pytest.param(
            [F, R, F],
            [0, 10, 70],
            ["delivered", "delivered", "delivered"],
            id="back at the end of the hold-down is one",
        ),
        pytest.param(
            [F, R, F, R, F, R],
            [0, 10, 20, 30, 40, 50],
            ["delivered", "damped", "damped", "damped", "damped", "delivered"],
            id="flapping is one firing and, once it is quiet, one resolution",
        ),
        pytest.param(
            [F, Z, F, R],
            [0, 10, 20, 30],
            ["delivered", "damped", "damped", "delivered"],
            id="a gap that closes at once is not told",
        ),
        pytest.param(
            [F, Z, R],
            [0, 10, 500],
            ["delivered", "delivered", "delivered"],
            id="frozen for long and then resolved are two changes",
        ),
        pytest.param([R], [0], ["unchanged"], id="what never fired needs no resolution"),
        pytest.param(
            [F, R, R], [0, 10, 20], ["delivered", "delivered", "unchanged"], id="resolved again is no change"
        ),
        pytest.param([F, F], [0, 10], ["delivered", "unchanged"], id="firing again is no change"),
    ],
)
@pytest.mark.parametrize("together", [False, True], ids=["as they happen", "all at once, after a pause"])
def test_one_message_per_change(states, seconds, fates, together):
    desk = Desk(group_wait=timedelta())
    events = [
        good_event(number + 1, state, seconds=at)
        for number, (state, at) in enumerate(zip(states, seconds, strict=True))
    ]
    if together:
        desk.at(0, *events)
    for moment in range(1_000):
        desk.at(moment, *(event for event in events if not together and event.at <= after(moment)))
    assert [fate for _, fate in desk.outbox.fates()] == fates


def test_events_of_one_incident_go_out_as_one_message_and_others_apart():
    desk = Desk()
    desk.at(0, good_event(alert_id="a"), good_event(alert_id="b"), good_event(alert_id="c", incident="inc-8"))
    desk.at(2, good_event(alert_id="d", seconds=2))
    desk.at(3)
    assert desk.sent == [(3, [("a", 1), ("b", 1), ("d", 1)]), (3, [("c", 1)])]


def test_a_service_that_takes_one_event_a_request_gets_them_one_by_one_and_at_once():
    desk = Desk(groups=False)
    desk.at(0, good_event(alert_id="a"), good_event(alert_id="b"))
    assert desk.sent == [(0, [("a", 1)]), (0, [("b", 1)])]


def test_a_message_holds_no_more_than_twenty_events():
    desk = Desk()
    desk.at(5, *(good_event(alert_id=f"a{number:02}") for number in range(45)))
    assert [len(events) for _, events in desk.sent] == [20, 20, 5]


def test_the_next_event_of_an_alert_waits_for_the_one_under_way():
    desk = Desk(hold_down=timedelta())
    desk.at(3, good_event(1, F), delivers=False)
    desk.at(20, good_event(2, R, seconds=10))
    assert desk.numbers() == [(3, [1]), (20, [1])]
    desk.at(21)
    assert desk.numbers()[2:] == [(21, [2])]


def quiet(**changes):
    return QuietHours(**{"begin": time(22), "end": time(7), "zone": SHANGHAI, **changes})


def silent(*matchers, start=-10, end=100):
    return silence(
        id_="s", matchers=matchers, start=after(start), end=after(end), author="ada", reason="upgrade"
    )


def test_a_silenced_firing_goes_out_when_the_silence_ends_and_it_still_fires():
    desk = Desk()
    desk.outbox.silenced = [silent("contract=acme*", "severity=critical")]
    assert desk.at(3, good_event(1, F)) == after(100)
    desk.at(99)
    assert desk.sent == []
    desk.at(100)
    assert desk.numbers() == [(100, [1])]


def test_what_fired_and_resolved_in_silence_is_never_told():
    desk = Desk()
    desk.outbox.silenced = [silent("tenant=acme")]
    desk.at(3, good_event(1, F))
    desk.at(20, good_event(2, R, seconds=20))
    desk.at(200)
    assert desk.sent == []
    assert desk.outbox.fates() == [(1, "silenced"), (2, "unchanged")]


def test_the_resolution_of_what_was_told_is_told_in_silence_too():
    desk = Desk()
    desk.at(3, good_event(1, F))
    desk.outbox.silenced = [silent("rule=*", end=10_000)]
    desk.at(80, good_event(2, R, seconds=10))
    assert desk.numbers() == [(3, [1]), (80, [2])]


@pytest.mark.parametrize(
    ("matcher", "covers"),
    [
        ("contract=acme-2026", True),
        ("contract=acme", False),
        ("objective=p9?", True),
        ("tenant=acme-eu", True),
        ("incident=inc-*", True),
        ("clock=queue", False),
        ("alert=*fast-burn", True),
    ],
)
def test_what_a_matcher_fits(matcher, covers):
    assert silent(matcher).covers(good_event(), NOW) is covers
    assert not silent(matcher, end=0).covers(good_event(), NOW)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"matchers": []}, "--match: is missing"),
        ({"matchers": ["moon=full"]}, "is no matcher (moon=full)"),
        ({"matchers": ["contract="]}, "is no matcher"),
        ({"end": NOW}, "--to: is not after --from"),
        ({"author": " "}, "--author: is empty"),
        ({"reason": ""}, "--reason: is empty"),
    ],
)
def test_a_silence_that_says_too_little_is_refused(changes, said):
    given_ = {
        "id_": "s", "matchers": ["rule=*"], "start": NOW, "end": after(1), "author": "a", "reason": "r",
    }  # fmt: skip
    with pytest.raises(UsageError) as caught:
        silence(**{**given_, **changes})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("local", "severity", "until"),
    [
        ("2026-10-07 21:59:59", "warning", None),
        ("2026-10-07 22:00:00", "warning", "2026-10-08 07:00:00"),
        ("2026-10-08 06:59:59", "warning", "2026-10-08 07:00:00"),
        ("2026-10-08 07:00:00", "warning", None),
        ("2026-10-07 23:00:00", "critical", None),
    ],
)
def test_quiet_hours_over_midnight_by_the_clocks_of_their_zone(local, severity, until):
    now = datetime.fromisoformat(local).replace(tzinfo=SHANGHAI).astimezone(UTC)
    expected = None if until is None else datetime.fromisoformat(until).replace(tzinfo=SHANGHAI)
    assert quiet().hold(Severity(severity), now) == expected


@pytest.mark.parametrize(
    ("now", "hours"),
    [("2026-03-28T23:00:00+01:00", 7), ("2026-10-24T23:00:00+02:00", 9)],
    ids=["the clocks are set forward that night", "the clocks are set back that night"],
)
def test_quiet_hours_end_by_the_clock_in_the_nights_when_it_is_changed(now, hours):
    now = datetime.fromisoformat(now).astimezone(UTC)
    end = quiet(zone=ZoneInfo("Europe/Berlin")).hold(Severity.INFO, now)
    assert (end - now) == timedelta(hours=hours)


def test_what_happens_in_quiet_hours_is_told_when_they_end():
    night = quiet(begin=time(11), end=time(12))  # NOW is 11:00 there
    desk = Desk(quiet_hours=night)
    warning = {"severity": Severity.WARNING}
    desk.at(10, good_event(1, F, **warning), good_event(alert_id="urgent"))
    desk.at(600, good_event(2, R, seconds=300, **warning))
    assert desk.sent == [(10, [("urgent", 1)])]
    desk.at(3_600)
    desk.at(3_601)
    assert desk.numbers()[1:] == [(3_600, [1]), (3_601, [2])]


def test_an_event_that_nobody_wants_is_noted_so_that_it_is_not_looked_at_again():
    outbox = MemoryOutbox()
    outbox.keep([good_event()])
    outbox.write(route(outbox.read(), [good_rules(wants=lambda event: False)], NOW), now=NOW)
    assert outbox.read().unrouted == []
    assert outbox.fates(destination="") == [(1, "unwanted")]


def test_after_days_away_what_still_fires_is_told_and_what_is_past_is_not():
    desk = Desk()
    day = 86_400
    desk.at(
        2 * day,
        good_event(1, F, alert_id="past"),
        good_event(2, R, seconds=100, alert_id="past"),
        good_event(1, F, alert_id="lasts"),
    )
    assert desk.sent == [(2 * day, [("lasts", 1)])]
    assert [fate for _, fate in desk.outbox.fates()] == ["delivered", "dead", "dead"]


def test_what_waits_for_a_destination_that_is_configured_no_more_ends():
    outbox = MemoryOutbox()
    outbox.write([Entry(destination="gone", event=good_event())], now=NOW)
    assert abandoned(outbox.read(), ["there"], timedelta(days=1), after(86_399)) == []
    (ended,) = abandoned(outbox.read(), ["there"], timedelta(days=1), after(86_400))
    assert (ended.fate, ended.version) == (Fate.DEAD, 2)
    assert abandoned(outbox.read(), ["gone"], timedelta(days=1), after(86_400)) == []


STATES = st.lists(st.sampled_from([F, R, Z]), min_size=1, max_size=12)
STEPS = st.lists(st.integers(0, 90), min_size=12, max_size=12)


@given(STATES, STEPS, st.lists(st.booleans(), min_size=12, max_size=12), st.integers(0, 3))
def test_laws_of_one_alert(states, steps, looks, silence_steps):
    """Whatever happens, and whenever somebody looks: in order, each change once, and the last state is known."""
    desk = Desk(group_wait=timedelta(seconds=2))
    if silence_steps:
        desk.outbox.silenced = [silent("rule=*", start=0, end=30 * silence_steps)]
    at = 0
    for number, (state, step, look) in enumerate(zip(states, steps, looks, strict=False)):
        at += step
        desk.outbox.keep([good_event(number + 1, state, seconds=at)])
        if look:
            desk.at(at)
    for later in range(30):
        desk.at(at + 200 + later)
    told = [number for _, numbers in desk.numbers() for number in numbers]
    assert told == sorted(set(told))
    spoken = [R, *(states[number - 1] for number in told)]
    assert all(one is not other for one, other in itertools.pairwise(spoken))
    assert spoken[-1] is states[-1]
    assert {number for number, _ in desk.outbox.fates()} == set(range(1, len(states) + 1))
    assert not desk.outbox.read().entries
