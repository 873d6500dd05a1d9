"""Incidents as they are kept: found pass by pass, told once, the same however often and in whatever pieces they are looked for."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from fairclock.cli.pipeline.alerting import OpenIncidents
from fairclock.model import Interval
from fairclock.store import Query
from fairclock.store.incidents import incidents_as_of, open_incident, open_incidents
from sla.evaluation import evaluate
from sla.evaluation.excluded import Excluded
from sla.incidents import incident_id
from sla.incidents.noticing import IncidentStep, notice_incidents
from sla.incidents.section import incidents_section
from sla.slices import InForce, evaluate_slices
from tests.evaluation.factories import a_contract, availability, latency
from tests.incidents.scenes import HOUR, at

CONTRACT = a_contract(
    # some of what follows happens now, whenever that is
    term={"from": "2026-01-01", "to": "2099-12-31", "time_zone": "Asia/Shanghai"},
    objectives=[latency(at_most="1s"), availability("99%")],
)
VERSION = InForce(contract=CONTRACT)
ID, P99 = CONTRACT.id, "p99-end_to_end"
DAY = Interval(start=at(-12 * HOUR), end=at(12 * HOUR))


def a_pass(store, *, window=None):
    evaluate_slices(store, [VERSION], window=window)
    return notice_incidents(store, [VERSION], window=window)


def kept(store, as_of=None, *, withdrawn=False):
    return incidents_as_of(store, ID, as_of or store.watermark(), withdrawn=withdrawn)


def without_instants(entries):
    return [replace(each, as_of=at(0)) for each in entries]


def rows(store):
    return store.rows(Query(sql="SELECT count() FROM incidents"))[0][0]


def slow(scene, start, end, *, every=10.0):
    scene.steady(start, end, every=every, took=3.0, queue=2.4)


def two_incidents(scene):
    scene.steady(-1800, 7200, every=30.0)
    slow(scene, 0, 300)
    slow(scene, 3600, 3900)
    scene.steady(3600, 3660, every=5.0, status=500, queue=None)


def test_what_is_kept_says_when_what_and_whom(scene, store):
    two_incidents(scene)
    scene.play()
    a_pass(store)
    found = kept(store)
    assert [(each.objective, each.starts_at, each.ends_at, each.state) for each in found] == [
        (P99, at(0), at(300), "ended"),
        ("availability", at(3600), at(3660), "ended"),
        (P99, at(3600), at(3900), "ended"),
    ]
    first, answers, _ = found
    assert (first.requests, first.bad, first.bad_minutes) == (40, 30, 5)
    assert (first.worst_us, first.worst_bad, first.worst_of, first.unanswered) == (3_000_000, 6, 8, 0)
    assert first.tenants == ("acme",)
    assert json.loads(first.evidence)[0]["kind"] == "queue"
    assert (answers.bad, answers.unanswered, answers.worst_us) == (12, 12, None)
    assert first.id == incident_id(ID, P99, at(0))


def test_looking_again_writes_nothing(scene, store):
    two_incidents(scene)
    scene.play()
    a_pass(store)
    before = rows(store)
    assert a_pass(store) == 0
    assert a_pass(store, window=DAY) == 0
    store.execute(Query(sql="TRUNCATE TABLE incident_progress"))
    assert a_pass(store) == 0
    assert rows(store) == before


def test_two_at_once_and_one_that_died_leave_what_one_pass_leaves(scene, store):
    two_incidents(scene)
    scene.play()
    evaluate_slices(store, [VERSION])
    as_of = store.watermark()
    half = Interval(start=at(-HOUR), end=at(1800))
    notice_incidents(store, [VERSION], window=half, as_of=as_of)  # as if killed before the second
    notice_incidents(store, [VERSION], as_of=as_of)  # reads as of before the first had written
    alone = kept(store)
    assert len(alone) == 3
    notice_incidents(store, [VERSION])
    assert without_instants(kept(store)) == without_instants(alone)


def test_hour_by_hour_finds_what_one_look_at_all_finds(scene, store):
    scene.steady(-1800, 7200, every=30.0)
    slow(scene, 3300, 3900)  # over the hour
    scene.play()
    evaluate_slices(store, [VERSION])
    for hour in (1, 0, -1):
        notice_incidents(store, [VERSION], window=Interval(start=at(hour * HOUR), end=at((hour + 1) * HOUR)))
    in_pieces = kept(store)
    store.execute(Query(sql="TRUNCATE TABLE incidents"))
    notice_incidents(store, [VERSION])
    assert without_instants(kept(store)) == without_instants(in_pieces)
    assert [(each.starts_at, each.ends_at) for each in in_pieces] == [(at(3300), at(3900))]


def test_a_late_row_moves_the_start_and_neither_the_name_nor_the_past(scene, store):
    scene.steady(-1800, 7200, every=30.0)
    slow(scene, 120, 300)
    scene.play()
    a_pass(store)
    early = store.watermark()
    (before,) = kept(store)
    slow(scene, 0, 120)
    scene.play()
    a_pass(store)
    (after,) = kept(store)
    assert after.id == before.id == incident_id(ID, P99, at(120))
    assert (before.starts_at, after.starts_at) == (at(120), at(0))
    assert kept(store, early) == [before]
    assert [each["from"] for each in listed(store, early)] == ["2026-10-07T01:02:00Z"]
    assert [(each["id"], each["from"]) for each in listed(store)] == [(after.id, "2026-10-07T01:00:00Z")]


def listed(store, as_of=None):
    return incidents_section(store, [VERSION], DAY, as_of or store.watermark())


def test_rows_that_take_an_incident_away_withdraw_it(scene, store):
    scene.steady(-1800, 1800, every=30.0)
    slow(scene, 0, 60)
    scene.play()
    a_pass(store)
    (before,) = kept(store)
    scene.steady(0, 60, every=0.1)  # 600 good ones come late: one in a hundred is bad then
    scene.play()
    a_pass(store)
    assert kept(store) == []
    assert [(each.id, each.state) for each in kept(store, withdrawn=True)] == [(before.id, "withdrawn")]
    slow(scene, 1, 60)
    scene.play()
    a_pass(store)
    assert [each.id for each in kept(store)] == [before.id]


def test_an_incident_goes_on_until_five_good_minutes_have_come(scene, store):
    # slices of the present: what is yet to come is not there
    now = (store.watermark() - at(0)).total_seconds() // 60 * 60
    scene.steady(now - 1800, now - 180, every=30.0)
    slow(scene, now - 180, now - 60)
    scene.play(covers=(now - 1800, now))
    a_pass(store)
    (going_on,) = kept(store)
    assert going_on.state == "ongoing"
    known = store.watermark()
    assert open_incident(store, ID, P99, at=known) == going_on.id
    assert open_incident(store, ID, P99, at=at(now - 600), as_of=known) is None
    assert open_incident(store, ID, "availability", at=known) is None
    assert [each["ongoing"] for each in listed_around(store, now)] == [True]


def listed_around(store, now):
    window = Interval(start=at(now) - timedelta(hours=3), end=store.watermark())
    return incidents_section(store, [VERSION], window, window.end)


def test_an_ended_incident_is_open_within_its_time_only(scene, store):
    two_incidents(scene)
    scene.play()
    a_pass(store)
    known = store.watermark()
    opened = [
        open_incident(store, ID, P99, at=at(seconds), as_of=known) for seconds in (-1, 0, 299, 300, 3600)
    ]
    first, second = incident_id(ID, P99, at(0)), incident_id(ID, P99, at(3600))
    assert opened == [None, first, first, None, second]
    together = [
        open_incidents(store, at=at(seconds), as_of=known).get((ID, P99))
        for seconds in (-1, 0, 299, 300, 3600)
    ]
    assert together == opened
    assert open_incidents(store, at=at(3600), as_of=at(0)) == {}


def test_however_many_alerts_ask_for_their_incident_the_store_is_asked_once(scene, store):
    two_incidents(scene)
    scene.play()
    a_pass(store)
    asked = []

    def reach():
        asked.append(None)
        return store

    incident = OpenIncidents(reach)
    assert {incident(ID, P99, at(10)) for _ in range(100)} == {incident_id(ID, P99, at(0))}
    assert incident("another", P99, at(10)) is None
    assert len(asked) == 1
    assert incident(ID, P99, at(3600)) == incident_id(ID, P99, at(3600))
    assert incident(ID, P99, at(-1)) is None


def test_what_is_excluded_is_no_incident(scene, store):
    two_incidents(scene)
    scene.play()
    left_out = InForce(contract=CONTRACT, excluded=Excluded(instants=(Interval(start=at(-60), end=at(600)),)))
    evaluate_slices(store, [left_out])
    notice_incidents(store, [left_out])
    assert [each.starts_at for each in kept(store)] == [at(3600), at(3600)]


def test_a_request_whose_value_is_not_known_makes_no_minute_bad(scene, store):
    queue = InForce(contract=a_contract(objectives=[latency("queue", at_most="1s")]))
    scene.steady(0, 600, queue=None)
    scene.play()
    evaluate_slices(store, [queue])
    assert notice_incidents(store, [queue]) == 0


def test_incidents_of_two_versions_are_one(scene, store):
    cut = at(120)
    then = a_contract(objectives=[latency(at_most="900ms")], title={"en": "Changed", "zh": "变更"})
    both = [
        InForce(contract=CONTRACT, within=Interval(start=DAY.start, end=cut)),
        InForce(contract=then, within=Interval(start=cut, end=DAY.end)),
    ]
    scene.steady(-1800, 1800, every=30.0)
    slow(scene, 0, 300)
    scene.play()
    evaluate_slices(store, both)
    notice_incidents(store, both)
    (found,) = kept(store)
    assert (found.starts_at, found.ends_at, found.bad) == (at(0), at(300), 30)
    assert found.version == then.version_sha256


def test_the_report_lists_what_is_kept_under_the_same_names(scene, store):
    two_incidents(scene)
    scene.play()
    a_pass(store)
    report = evaluate(store, CONTRACT, month="2026-10", software_version="x")
    assert [
        (each["id"], each["objective"], each["requests"], each["bad"], each["tenants_hit"]) for each in report["incidents"]
    ] == [(each.id, each.objective, each.requests, each.bad, list(each.tenants)) for each in kept(store)]  # fmt: skip
    assert [each["evidence"] for each in report["incidents"]] == [
        json.loads(each.evidence) for each in kept(store)
    ]


def test_a_report_with_an_old_as_of_is_the_same_whatever_came_since(scene, store):
    two_incidents(scene)
    scene.play()
    a_pass(store)
    store.seal()
    early = store.watermark()
    before = evaluate(store, CONTRACT, month="2026-10", software_version="x", as_of=early)
    slow(scene, 300, 900)
    scene.gpu_event(10)
    scene.sample(10, "vllm:kv_cache_usage_perc", 0.99)
    scene.play()
    a_pass(store)
    assert evaluate(store, CONTRACT, month="2026-10", software_version="x", as_of=early) == before
    now = evaluate(store, CONTRACT, month="2026-10", software_version="x")
    assert now["incidents"] != before["incidents"]


def test_more_incidents_than_a_pass_looks_into_have_names_at_once_and_evidence_later(
    scene, store, monkeypatch
):
    monkeypatch.setattr("sla.incidents.noticing._LOOKS_A_PASS", 1)
    two_incidents(scene)
    scene.play()
    a_pass(store)
    assert [bool(each.evidence) for each in kept(store)].count(True) == 1
    for _ in range(2):
        a_pass(store)
    assert all(each.evidence for each in kept(store))
    ids = [each.id for each in kept(store)]
    assert len(ids) == len(set(ids)) == 3


def test_the_step_waits_for_slices(store):
    IncidentStep(lambda: store, lambda: None).step(at(0))
    assert rows(store) == 0


def test_two_customers_have_their_own(scene, store):
    other = InForce(
        contract=a_contract(id="bolt", customer={"name": "Bolt", "tenants": ["bolt"]}, objectives=[latency(at_most="1s")])
    )  # fmt: skip
    two_incidents(scene)
    scene.steady(0, 300, tenant="bolt", took=5.0)
    scene.play()
    evaluate_slices(store, [VERSION, other])
    notice_incidents(store, [VERSION, other])
    assert len(kept(store)) == 3
    (theirs,) = incidents_as_of(store, "bolt", store.watermark())
    assert (theirs.tenants, theirs.worst_us) == (("bolt",), 5_000_000)


@pytest.mark.parametrize("seal", [False, True], ids=["joined live", "sealed"])
def test_sealing_changes_nothing_of_them(scene, store, seal):
    two_incidents(scene)
    scene.play()
    a_pass(store)
    alive = listed(store)
    if seal:
        store.seal()
    assert a_pass(store, window=DAY) == 0
    assert listed(store) == alive
