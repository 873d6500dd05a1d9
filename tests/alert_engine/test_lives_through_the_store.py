"""Lives of alerts as the store keeps them: whatever happens, and whoever is restarted, they are those of the pure rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.store import Query
from sla.alerting import wording
from sla.alerting.configuration import AlertsSection
from sla.alerting.engine import AlertEngine
from sla.alerting.naming import AlertKey
from sla.alerting.states import alert_of, kept_states
from sla.alerting.watches import Watch
from sla.alerts import Alert, Condition, Finding, Holds, Phase, moved
from tests.alert_engine.scene import START
from tests.laws import examples

if TYPE_CHECKING:
    from exporters.webhooks.event import AlertEvent

HOLD, KEEP = timedelta(seconds=20), timedelta(seconds=20)
KEY = AlertKey(contract="acme-2026", rule="scripted", objective="p99 / “最大” {x}")
STEPS = st.lists(
    st.tuples(st.sampled_from(list(Holds)), st.integers(1, 30), st.booleans()), min_size=1, max_size=10
)


class Scripted(AlertEngine):
    """An engine with a single watch, which says what it is told to."""

    says: Condition | None = None

    def _watches(self, moment, versions):
        yield Watch(
            key=KEY, severity="warning", condition=self.says, hold=HOLD,
            words=wording.shares("too much", "过多"), tenants=("acme",),
        )  # fmt: skip


def an_engine(store, events: list[list[AlertEvent]] | None = None) -> Scripted:
    outbox = StoreOutbox(store)

    class Noting:
        def keep(self, found):
            if events is not None:
                events.append(list(found))
            return outbox.keep(found)

    return Scripted(
        store=lambda: store,
        outbox=Noting(),
        section=AlertsSection.model_validate({"keep": f"{KEEP.total_seconds()}s"}),
        versions=list,
    )


def condition(holds: Holds) -> Condition:
    finding = Finding(rule="scripted", bad=3, counted=7, value=Fraction(3, 7), threshold=Fraction(1, 7))
    return Condition(
        holds=holds, finding=finding, why_unknown="nobody looked" if holds is Holds.UNKNOWN else ""
    )


def emptied(store):
    store.execute(Query(sql="TRUNCATE TABLE alerts"))
    return store


def essence(alert: Alert | None):
    """What of an alert outlives the process."""
    if alert is None or alert.phase is Phase.RESOLVED:
        return None
    return alert.phase, alert.was, alert.sequence, alert.since, alert.changed_at


@settings(max_examples=examples(8, soak=200))
@given(steps=STEPS)
@example(
    steps=[
        (Holds.YES, 1, True),
        (Holds.YES, 20, True),
        (Holds.UNKNOWN, 5, True),
        (Holds.NO, 1, False),
        (Holds.NO, 20, False),
    ]
)
@example(steps=[(Holds.YES, 1, True), (Holds.UNKNOWN, 5, True), (Holds.YES, 30, True), (Holds.NO, 1, False)])
@example(steps=[(Holds.YES, 1, True), (Holds.UNKNOWN, 5, True), (Holds.NO, 3, True), (Holds.YES, 1, False)])
def test_what_is_stored_is_what_the_rules_say(one_store, steps):
    store = emptied(one_store)
    engine, now, model = an_engine(store), START, None
    for holds, seconds, restarts in steps:
        now += timedelta(seconds=seconds)
        if restarts:
            engine = an_engine(store)
            if model is not None and model.clear_since is not None:
                # only this is forgotten: a resolution comes later, never earlier
                model = replace(model, clear_since=None)
        engine.says = condition(holds)
        engine.step(now)
        model = moved(model, condition(holds), now=now, hold=HOLD, keep=KEEP)
        kept = kept_states(store).get(KEY.text)
        assert essence(kept.alert if kept else None) == essence(model)


@settings(max_examples=examples(8, soak=200))
@given(steps=STEPS, other=st.booleans())
def test_changes_are_numbered_without_a_gap_and_their_ids_are_made_once(one_store, steps, other):
    store = emptied(one_store)
    said: list[list[AlertEvent]] = []
    engines, now = [an_engine(store, said), an_engine(store, said)], START
    for holds, seconds, _ in steps:
        now += timedelta(seconds=seconds)
        for engine in engines if other else engines[:1]:
            engine.says = condition(holds)
            engine.step(now)
    rows = store.rows(
        Query(sql="SELECT alert_id, sequence, event_id, state FROM alerts ORDER BY alert_id, sequence")
    )
    lives: dict[str, list[tuple[int, str]]] = {}
    for alert_id, sequence, _, state in rows:
        lives.setdefault(alert_id, []).append((sequence, state))
    assert list(lives) == [KEY.alert_id(number) for number in range(1, len(lives) + 1)]
    for changes in lives.values():
        assert [sequence for sequence, _ in changes] == list(range(1, len(changes) + 1))
        assert [state for _, state in changes[:-1] if state == "resolved"] == []
    assert all(changes[-1][1] == "resolved" for changes in list(lives.values())[:-1])
    assert len({row[2] for row in rows}) == len(rows)
    assert {each.event_id for found in said for each in found} == {row[2] for row in rows}


@settings(max_examples=examples(5, soak=100))
@given(steps=STEPS)
def test_a_pass_that_is_killed_before_it_wrote_is_made_again_alike(one_store, steps):
    """What was worked out and not written is worked out again by the next process, under the same ids."""
    store = emptied(one_store)
    lost: list[list[AlertEvent]] = []
    now = START
    for holds, seconds, _ in steps:
        now += timedelta(seconds=seconds)
        dying = an_engine(store)

        class Dying:
            def keep(self, found):
                lost.append(list(found))
                raise KeyboardInterrupt

        dying.outbox = Dying()
        dying.says = condition(holds)
        lost.clear()
        try:
            dying.step(now)
        except KeyboardInterrupt:
            assert lost
        said: list[list[AlertEvent]] = []
        again = an_engine(store, said)
        again.says = condition(holds)
        again.step(now)
        assert said == lost


def test_an_event_is_read_back_as_the_state_that_it_tells_of(store):
    engine = an_engine(store)
    engine.says = condition(Holds.YES)
    engine.step(START)
    engine.says = condition(Holds.UNKNOWN)
    engine.step(START + timedelta(seconds=5))
    kept = kept_states(store)[KEY.text]
    assert kept.event is not None
    assert (kept.event.state.value, kept.event.frozen_reason) == ("pending", "nobody looked")
    assert (kept.alert.phase, kept.alert.was, kept.alert.since) == (Phase.FROZEN, Phase.PENDING, START)
    assert alert_of(kept.event) == kept.alert
    assert (kept.event.bad, kept.event.n, kept.event.value, kept.event.threshold) == (
        3,
        7,
        "42.86 %",
        "14.29 %",
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (AlertKey(contract="a", objective="b/c", rule="r"), AlertKey(contract="a", objective="b", rule="c/r")),
        (AlertKey(contract="a", rule="r", subject="x"), AlertKey(contract="a", rule="r", objective="x")),
        (AlertKey(contract="a", objective="x" * 200, rule="r"), AlertKey(contract="a", objective="x" * 201, rule="r")),
    ],
    ids=["names with slashes", "a subject and an objective", "names that are too long"],
)  # fmt: skip
def test_what_differs_is_called_differently(one, other):
    assert one.text != other.text
