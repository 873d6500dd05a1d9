"""What is watched of engines and sources: a full KV cache, silence, contradictions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fairclock.model import Interval
from fairclock.store import Query
from sla.alerting.naming import EVERYBODY
from tests.alert_engine.scene import MINUTE, START, Scene

KV = ("kv-cache", None)
SUSPECT = ("source-suspect", None)


def scraped(store, minute, *, kv=None, up=1, suspect=False, target="http://engine:8000/metrics"):
    """One scrape of an engine."""
    at = START + minute * MINUTE
    said = [
        ("fairclock:scrape_up", "gauge", "", up, None),
        ("fairclock:scrape_samples", "gauge", "", 100, None),
    ]
    if kv is not None:
        said.append(("vllm:kv_cache_usage_perc", "gauge", "", None, kv))
    if suspect:
        said.append(("fairclock:scrape_suspect", "gauge", 'about="scrape",reason="twice"', 1, None))
    store.insert(
        "engine_samples",
        ("scraped_at", "k", "target", "kind", "name", "engine", "model", "labels", "whole", "fraction", "source", "first_wins"),
        [
            (at, 0, target, kind, name, "0" if name.startswith("vllm") else "", "", labels, whole, fraction, target, 9_000_000_000_000_000 - 1)
            for name, kind, labels, whole, fraction in said
        ],
    )  # fmt: skip


def a_scene(store):
    # nothing is logged here, and nothing is missed
    return Scene(store, gap={"enabled": False})


def test_a_kv_cache_that_stays_nearly_full_fires_and_its_silence_is_no_recovery(store):
    scene = a_scene(store)
    scraped(store, 0, kv=0.8)
    assert scene.look(0.1) == {}
    scraped(store, 1, kv=0.93)
    assert scene.look(1.1) == {KV: "pending"}
    scraped(store, 2, kv=0.95)
    assert scene.look(2.2) == {KV: "firing"}
    event = scene.latest()[KV]
    assert (event.contract_id, event.threshold, event.value) == (EVERYBODY, "80 %", "95 %")
    assert "http://engine:8000/metrics 0" in event.summary_en
    assert scene.look(5)[KV] == "frozen"
    assert scene.latest()[KV].frozen_reason == "the last reading is 180 s old"
    assert scene.look(60)[KV] == "frozen", "an engine that is gone is not well"
    scraped(store, 60, kv=0.2)
    scene.look(60.1)
    scraped(store, 61, kv=0.2)
    assert scene.look(61.2)[KV] == "resolved"
    assert scene.changes("kv-cache") == ["pending", "firing", "frozen", "firing", "resolved"]


def test_an_engine_that_is_not_heard_again_is_forgotten_after_a_day(store):
    scene = a_scene(store)
    scraped(store, 0, kv=0.9)
    scene.look(0.1)
    scene.look(1.2)
    scene.look(5)
    standing = scene.look(20)
    assert standing == {KV: "frozen", ("source-silent", None): "firing"}
    assert scene.look(24 * 60 + 10) == {KV: "resolved", ("source-silent", None): "resolved"}
    assert scene.latest()[KV].summary_en.startswith("not watched any more")


def test_an_engine_that_contradicts_itself_is_suspect_until_it_does_not(store):
    scene = a_scene(store)
    scraped(store, 0)
    assert scene.look(0.1) == {}
    scraped(store, 1, suspect=True)
    assert scene.look(1.1) == {SUSPECT: "firing"}
    scraped(store, 2)
    scene.look(2.1)
    scraped(store, 3)
    assert scene.look(3.2) == {SUSPECT: "resolved"}


def test_an_engine_that_does_not_answer_is_silent(store):
    scene = a_scene(store)
    for minute in range(0, 16, 5):
        scraped(store, minute, up=int(minute == 0))
    assert scene.look(9) == {}
    assert scene.look(16) == {("source-silent", None): "firing"}
    assert (
        "engine http://engine:8000/metrics has said nothing"
        in scene.latest()["source-silent", None].summary_en
    )


def test_a_followed_log_that_falls_silent_fires_and_an_imported_one_does_not(store):
    now = datetime.now(UTC)
    scene = a_scene(store)
    log = Interval(start=now - timedelta(minutes=3), end=now - timedelta(seconds=10))
    store.cover(kind="gateway", source="followed.log", intervals=[log])
    import_ = Interval(start=now - timedelta(hours=3), end=now - timedelta(hours=2))
    store.cover(kind="gateway", source="imported.log", intervals=[import_])
    scene.count()
    scene.engine.step(now)
    assert scene.standing() == {}
    scene.engine.step(now + timedelta(minutes=11))
    assert scene.standing() == {("source-silent", None): "firing"}
    assert "gateway followed.log" in scene.latest()["source-silent", None].summary_en


def test_the_states_of_engines_are_read_from_the_table_alone(store):
    scene = a_scene(store)
    scraped(store, 1, kv=0.93)
    scene.look(1.1)
    store.execute(Query(sql="OPTIMIZE TABLE alerts FINAL"))
    assert scene.restart().look(2.2) == {KV: "firing"}
