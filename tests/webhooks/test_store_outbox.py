"""The outbox in the store does what the one in memory does, which the laws are tested with."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporters.webhooks.event import State
from exporters.webhooks.outbox import Entry, Fate
from exporters.webhooks.silences import silence
from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.store import Query
from tests.webhooks.factories import NOW, MemoryOutbox, good_event


def later(seconds):
    return NOW + timedelta(seconds=seconds)


def test_an_event_is_kept_once_and_its_first_copy_holds(outbox, store):
    first, again = good_event(), good_event(summary_en="another text")
    assert outbox.keep([first, good_event(2, "resolved")]) == 2
    assert outbox.keep([again, good_event(3)]) == 1
    assert outbox.keep([]) == 0
    assert outbox.read().unrouted == [first, good_event(2, "resolved"), good_event(3)]
    assert store.rows(Query(sql="SELECT count() FROM alerts")) == [(3,)]


def test_two_engines_that_keep_the_same_event_at_once_keep_one(store):
    one, other = StoreOutbox(store), StoreOutbox(lambda: store)
    one.keep([good_event()])
    store.execute(Query(sql="INSERT INTO alerts SELECT * REPLACE (stored_at + 1 AS stored_at) FROM alerts"))
    assert other.read().unrouted == [good_event()]
    assert other.latest() == {good_event().alert_id: good_event()}


def test_an_engine_begins_again_where_it_was(outbox):
    last = good_event(2, "frozen", alert_id="b", frozen_reason="a gap")
    pending = good_event(1, "pending", alert_id="c")
    outbox.keep([good_event(alert_id="a"), good_event(alert_id="b"), last, pending])
    assert outbox.latest() == {"a": good_event(alert_id="a"), "b": last, "c": pending}
    assert [event.alert_id for event in outbox.read().unrouted] == ["a", "b", "b"]


def test_the_newest_version_of_an_entry_holds(outbox):
    outbox.keep([good_event()])
    entry = Entry(destination="there", event=good_event())
    failed = replace(
        entry, fate=Fate.FAILED, version=3, message_id="m", delivery_id="d", attempt=1, http_status=503,
        problem="HTTP 503", planned_at=NOW, retry_at=later(2.5),
    )  # fmt: skip
    outbox.write([failed], now=NOW)
    outbox.write([entry], now=later(1))
    (read,) = outbox.read().entries
    assert read == failed
    listed = outbox.newest()
    assert [(row["destination"], row["delivery"], row["attempts"], row["problem"]) for row in listed] == [
        ("there", "failed", 1, "HTTP 503")
    ]


def test_a_mark_changes_with_every_write(outbox):
    marks = [outbox.mark()]
    outbox.keep([good_event()])
    marks.append(outbox.mark())
    outbox.write([Entry(destination="there", event=good_event())], now=NOW)
    marks.append(outbox.mark())
    outbox.silence(quiet())
    marks.append(outbox.mark())
    assert len(set(marks)) == 4
    assert outbox.mark() == marks[-1]


def quiet(**changes):
    given_ = {
        "id_": "s1",
        "matchers": ["tenant=acme"],
        "start": NOW,
        "end": later(60),
        "author": "ada",
        "reason": "r",
    }
    return silence(**{**given_, **changes})


def test_a_silence_can_be_ended_by_its_next_version(outbox):
    outbox.silence(quiet())
    assert outbox.silences(now=NOW) == [quiet()]
    outbox.silence(replace(quiet(), end=later(10), version=2))
    assert outbox.silences(now=later(10)) == []
    assert outbox.every_silence() == [replace(quiet(), end=later(10), version=2)]


@pytest.mark.parametrize("text", ["'; DROP TABLE alerts; --", "\\'", "界\u202e", "{x:String}", "a\ud800"])
def test_a_name_is_a_value_whatever_it_is_made_of(outbox, text):
    event = good_event(alert_id=text, contract_id=text.encode("utf-8", "replace").decode(), summary_en=text)
    if text == "a\ud800":
        event = replace(event, alert_id="a")
    outbox.keep([event])
    assert outbox.read().unrouted == [event]
    outbox.write([Entry(destination="there", event=event)], now=NOW)
    assert [entry.event for entry in outbox.read().entries] == [event]
    assert outbox.keep([event]) == 0


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.integers(1, 3),
        st.sampled_from(list(State)),
        st.one_of(st.none(), st.sampled_from(list(Fate))),
        st.integers(1, 4),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS)
def test_both_outboxes_read_the_same_of_the_same(store, operations):
    for table in ("alerts", "deliveries"):
        store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    real, memory = StoreOutbox(store), MemoryOutbox()
    for at, (alert_id, sequence, state, fate, version) in enumerate(operations):
        event = good_event(sequence, state, alert_id=alert_id)
        for outbox in (real, memory):
            outbox.keep([event])
        event = memory.events[alert_id, sequence]
        if fate is not None and event.state is not State.PENDING:
            entry = Entry(destination="there", event=event, fate=fate, version=version, planned_at=NOW)
            for outbox in (real, memory):
                outbox.write([entry], now=later(at))
    one, other = real.read(), memory.read()
    assert list(one.unrouted) == list(other.unrouted)
    assert sorted(map(repr, one.entries)) == sorted(map(repr, other.entries))
    asked = {e.alert_id for e in one.unrouted} | {e.event.alert_id for e in one.entries}
    assert one.known == {key: state for key, state in other.known.items() if key[1] in asked}
    assert one.last == {
        alert_id: max(
            e.sequence
            for e in memory.events.values()
            if e.alert_id == alert_id and e.state is not State.PENDING
        )
        for alert_id in asked
    }
