"""Probes in a real store: what sources said is found by id, laid side by side, kept once, read as of an instant, and alerts."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from fairclock.cli.pipeline.evaluator import evaluator
from fairclock.cli.pipeline.reconciling import ReconcileStep
from fairclock.model import Interval
from fairclock.model.sightings import Source
from fairclock.store import LineBatch, Query, open_store
from fairclock.store.probe_sightings import reconciled_as_of
from fairclock.store.probes import keep_probes, probes_as_of
from inference_probe.reconciliation.configuration import ReconcileSection
from inference_probe.reconciliation.printing import printed
from inference_probe.reconciliation.reconciling import reconcile
from sla.alerting.configuration import AlertsSection
from sla.alerting.measurement import CLOCKS, DIFFERS, MISSES, measurement_watches
from sla.alerting.measuring import Moment
from sla.alerts import Holds
from sla.measurement import measured
from sla.measurement.problems import Limits, problems
from sla.measurement.section import measurement_section
from tests.evaluation.factories import a_contract
from tests.reconciliation.factories import (
    FOUR_MINUTES_US,
    HOUR,
    SECOND,
    START,
    a_probe,
    engine_line,
    gateway_line,
)

NOW = START + timedelta(minutes=1)
TABLES = (
    "gateway_requests",
    "engine_requests",
    "probe_requests",
    "covered",
    "dead_letters",
    "requests",
    "seals",
)
PROBES = 4


@pytest.fixture(scope="module")
def one_store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('reconciliation')}") as store:
        yield store


@pytest.fixture
def store(one_store):
    for table in TABLES:
        one_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return one_store


def tell(store, *, count=PROBES, first=0, without=(), ahead_us=0, gateway=None, **engine):
    """Have every source tell of probes; the clock of spans is `ahead_us`."""
    numbers = range(first, first + count)
    keep_probes(store, [a_probe(number) for number in numbers])
    if Source.GATEWAY not in without:
        lines = [gateway_line(number, **(gateway or {})) for number in numbers]
        store.ingest(LineBatch(kind="gateway", source="access.log", lines=lines))
    for reporter, ahead in ((Source.SPAN, ahead_us), (Source.PLUGIN, 0)):
        if reporter not in without:
            lines = [
                engine_line(number, reporter=reporter.value, ahead_us=ahead, **engine) for number in numbers
            ]
            store.ingest(LineBatch(kind="engine", source="otlp", lines=lines))


def run(store, window=HOUR, now=NOW):
    return reconcile(store, window, as_of=store.watermark(), now=now)


def watched(store, now=NOW, **section):
    moment = Moment(store=store, as_of=store.watermark(), now=now, newest=None, quiet=False)
    alerts = AlertsSection.model_validate({"measurement": section})
    return {(each.key.rule, each.key.subject): each for each in measurement_watches(moment, alerts)}


def test_every_source_of_a_probe_is_found_and_kept_once(store):
    tell(store)
    first = run(store)
    assert (len(first.found), first.kept, first.repeated) == (PROBES, PROBES, {})
    assert [each.source for each in first.found[0].sightings] == list(Source)
    assert run(store).kept == 0
    kept = reconciled_as_of(store, HOUR, store.watermark())
    assert kept == list(first.found)
    # what a probe was is still what its prober said, once
    assert probes_as_of(store, HOUR, store.watermark()) == [a_probe(number) for number in range(PROBES)]


def test_the_newest_probes_of_a_tenant_are_read_without_the_others(store):
    keep_probes(store, [replace(a_probe(number), tenant="ab"[number % 2]) for number in range(8)])
    keep_probes(store, [replace(a_probe(1), tenant="a")])  # told again: the first holds

    def read(**which):
        return [each.id for each in probes_as_of(store, HOUR, store.watermark(), **which)]

    assert read(newest=3) == ["asked-5", "asked-6", "asked-7"]
    assert read(tenant="a") == ["asked-0", "asked-2", "asked-4", "asked-6"]
    assert read(tenant="a", newest=2) == ["asked-4", "asked-6"]


def test_a_row_that_comes_late_is_news_and_changes_nothing_of_before(store):
    tell(store, without=(Source.PLUGIN,))
    run(store)
    before = store.watermark()
    lines = [engine_line(number, reporter="plugin") for number in range(PROBES - 1)]
    store.ingest(LineBatch(kind="engine", source="otlp", lines=lines))
    assert run(store, now=NOW + SECOND).kept == PROBES - 1
    now_known = reconciled_as_of(store, HOUR, store.watermark())
    assert [each.by(Source.PLUGIN) is not None for each in now_known] == [True, True, True, False]
    assert all(each.by(Source.PLUGIN) is None for each in reconciled_as_of(store, HOUR, before))


def test_an_id_of_which_a_gateway_tells_two_things_is_no_sighting(store):
    tell(store)
    again = gateway_line(0, request_time="0.200")
    store.ingest(LineBatch(kind="gateway", source="access.log", lines=[again]))
    found = run(store)
    assert found.repeated == {Source.GATEWAY: 1}
    assert [each.by(Source.GATEWAY) is None for each in found.found] == [True, False, False, False]


def test_requests_that_are_logged_twice_are_told_and_no_probe_is_missing(store):
    tell(store)
    # the same lines again are the same requests; those of another gateway, or format, are others
    twice = [gateway_line(number, server="another") for number in range(PROBES)]
    store.ingest(LineBatch(kind="gateway", source="another.log", lines=twice))
    found = run(store)
    assert found.repeated == {Source.GATEWAY: PROBES}
    assert all(each.by(Source.GATEWAY) is not None for each in found.found)
    said = measured(found.probes, found.found)
    wrong = problems(said, Limits(), repeated=found.repeated)
    assert [(each.kind, each.about) for each in wrong] == [("repeated", "gateway")]
    assert f"gateway told of {PROBES} of {PROBES} probes more than once" in "\n".join(
        printed(found, said, wrong)
    )


def test_probes_that_a_gateway_takes_for_a_customers_are_told(store, caplog):
    tell(store, count=2)
    tell(store, first=2, count=2, gateway={"tenant": "acme"})
    found = reconcile(store, HOUR, as_of=store.watermark(), now=NOW, own=["fairclock-probe"])
    assert found.taken_for == {"acme": 2}
    said = measured(found.probes, found.found)
    (wrong,) = problems(said, Limits(), taken_for=found.taken_for)
    assert (wrong.kind, wrong.about) == ("tenant", "acme")
    assert reconcile(store, HOUR, as_of=store.watermark(), now=NOW, own=["acme"]).taken_for == {}
    step = ReconcileStep(lambda: store, ReconcileSection(), ["fairclock-probe"])
    for minute in (2, 4):
        step.step(START + timedelta(minutes=minute))
    # said once, not at every pass
    assert caplog.text.count("2 probes are in the figures and on the bill of the tenant acme") == 1


def test_of_the_attempts_at_a_probe_the_one_that_ended_last_is_its_engines(store):
    tell(store, without=(Source.SPAN, Source.PLUGIN))
    lines = [
        engine_line(0, reporter="plugin", instance=instance, ahead_us=ahead, queue=queue)
        for instance, ahead, queue in (("first", 0, 0.1), ("last", 20_000, 0.4), ("second", 10_000, 0.2))
    ]
    store.ingest(LineBatch(kind="engine", source="otlp", lines=lines))
    found = run(store)
    seen = found.found[0].by(Source.PLUGIN)
    assert (seen.instance, seen.queue_us, found.repeated) == ("last", 400_000, {Source.PLUGIN: 1})


@pytest.mark.parametrize(
    "hours", [3, -14, 25.9], ids=["three hours ahead", "another zone's time", "yesterday's"]
)
def test_a_clock_that_is_hours_off_is_told_as_that_and_misses_nothing(store, hours):
    ahead_us = round(hours * 3_600 * 1_000_000)
    tell(store, ahead_us=ahead_us)
    found = run(store)
    assert [each.by(Source.SPAN) is not None for each in found.found] == [True] * PROBES
    (span,) = {
        (each.kind, each.about.split(" ")[0])
        for each in problems(measured(found.probes, found.found), Limits())
        if "client" in each.about
    }
    assert span == ("clocks", "span")
    store.execute(Query(sql="TRUNCATE TABLE probe_requests"))
    store.execute(Query(sql="TRUNCATE TABLE gateway_requests"))
    tell(
        store,
        gateway={"time": f"{(START + timedelta(hours=hours)).timestamp():.3f}"},
        without=(Source.SPAN, Source.PLUGIN),
    )
    gateways = [each.by(Source.GATEWAY) for each in run(store).found]
    assert None not in gateways
    assert watched_clocks(gateways[0]) == pytest.approx(hours, abs=0.1)


def watched_clocks(seen):
    return (seen.began_at - START) / timedelta(hours=1)


def test_a_source_that_saw_none_of_these_but_some_of_before_is_no_source_that_is_not_connected(store):
    tell(store, without=(Source.SPAN,))
    found = run(store)
    said = measured(found.probes, found.found)
    assert problems(said, Limits()) == []
    (wrong,) = problems(said, Limits(), known={Source.SPAN})
    assert (wrong.kind, wrong.about) == ("missing", "span")


def joined(store):
    query = store.requests_as_of(HOUR, store.watermark())
    durations = "end_to_end_us, queue_us, prefill_us, decode_us, frontend_us"
    return store.rows(
        Query(
            sql=f"SELECT request_id, engine, {durations} FROM ({query.sql}) ORDER BY request_id",
            parameters=query.parameters,
        )
    )


def test_spans_four_minutes_ahead_change_no_duration_and_are_reported(store):
    tell(store, without=(Source.PLUGIN,))
    straight, rows = run(store), joined(store)
    for table in TABLES:
        store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    tell(store, ahead_us=FOUR_MINUTES_US, without=(Source.PLUGIN,))
    skewed = run(store)
    assert joined(store) == rows
    assert [row[1] for row in rows] == ["joined"] * PROBES
    mine, theirs = (measured(each.probes, each.found) for each in (straight, skewed))
    assert mine.differences == theirs.differences
    wrong = problems(theirs, Limits())
    assert {(each.kind, each.about.split(" ")[0]) for each in wrong} == {("clocks", "span")}
    text = "\n".join(printed(skewed, theirs, wrong))
    assert "the clocks of span (engine) and gateway (access.log) are 239." in text
    assert "the sources agree" in "\n".join(printed(straight, mine, problems(mine, Limits())))


def test_what_alerts_of_a_measurement_that_is_well(store):
    assert watched(store) == {}
    tell(store)
    run(store)
    found = watched(store)
    assert {each.condition.holds for each in found.values()} == {Holds.NO}
    assert {rule for rule, _ in found} == {MISSES, DIFFERS, CLOCKS}
    assert {subject for rule, subject in found if rule == MISSES} == {each.value for each in Source}


@pytest.mark.parametrize(
    ("told", "rule", "subject"),
    [
        ({"ahead_us": FOUR_MINUTES_US}, CLOCKS, "span (engine) gateway (access.log)"),
        ({"queue": 0.39}, DIFFERS, "queue plugin truth"),
        ({"gateway": {"request_time": "0.900"}}, DIFFERS, "end_to_end gateway client"),
    ],
    ids=[
        "a clock that is apart",
        "an engine that tells another queue",
        "a gateway that tells less than its clients waited",
    ],
)
def test_what_drifts_alerts(store, told, rule, subject):
    tell(store, **told)
    run(store)
    found = watched(store)
    assert found[rule, subject].condition.holds is Holds.YES
    assert found[rule, subject].words(found[rule, subject].condition.finding).en


def test_a_source_that_falls_silent_alerts_and_does_not_end_by_being_silent_for_long(store):
    tell(store)
    tell(store, first=3_000, without=(Source.SPAN,))
    late = Interval(start=HOUR.start, end=HOUR.end + timedelta(hours=2))
    now = START + timedelta(seconds=3_100)
    run(store, late, now)
    silent = watched(store, now)[MISSES, "span"]
    assert (silent.condition.holds, silent.condition.finding.value) == (Holds.YES, PROBES)
    assert watched(store, now)[MISSES, "plugin"].condition.holds is Holds.NO
    # the probes it did see are outside of the window now
    assert watched(store, now, window="10min")[MISSES, "span"].condition.holds is Holds.YES


def test_where_no_probe_is_reconciled_any_more_nothing_is_called_well(store):
    tell(store)
    run(store)
    later = watched(store, NOW + timedelta(hours=2))
    assert {each.condition.holds for each in later.values()} == {Holds.UNKNOWN}
    assert watched(store, NOW + timedelta(days=2)) == {}
    assert {each.condition.holds for each in watched(store, min_probes=9).values()} == {Holds.UNKNOWN}
    assert watched(store, enabled=False) == {}


def test_up_looks_again_every_so_often_and_leaves_what_is_too_young(store):
    tell(store)
    step = ReconcileStep(lambda: store, ReconcileSection())
    # at the first pass two of the four are half a minute old
    passes = [(31.5, 2), (40.0, 2), (91.5, 4)]
    for seconds, known in passes:
        step.step(START + seconds * SECOND)
        assert len(reconciled_as_of(store, HOUR, store.watermark())) == known
    seen = {
        each.labels["source"]: each.value
        for each in step.figures()
        if each.name == "fairclock_probes_reconciled" and each.labels["are"] == "seen"
    }
    assert seen == {each.value: 4 for each in Source}


def test_the_report_says_how_well_its_contracts_service_is_measured(store):
    tell(store)
    run(store)
    keep_probes(store, [replace(a_probe(9), tenant="somebody else")])
    as_of = store.watermark()
    section = measurement_section(store, [a_contract()], HOUR, as_of)
    assert section["probes"] == {"sent": 4, "answered": 4, "failed": 0, "reconciled": 4}
    assert section["lateness"] == {"p50": 0.0, "p99": 0.0, "max": 0.0}
    assert [(each["source"], each["missing"]) for each in section["sources"]] == [
        (each.value, 0) for each in Source
    ]
    queue = next(
        each for each in section["differences"] if (each["clock"], each["source"]) == ("queue", "plugin")
    )
    assert queue == {
        "clock": "queue", "source": "plugin", "against": "truth", "n": 4, "min": 0.0, "median": 0.0, "max": 0.0,
        "size_p50": 0.0, "size_p95": 0.0, "size_p99": 0.0, "tolerance": 0.001, "beyond": 0, "may_be_beyond": 0.0,
    }  # fmt: skip
    json.dumps(section, allow_nan=False)
    empty = Interval(start=HOUR.start - timedelta(days=2), end=HOUR.start - timedelta(days=1))
    assert measurement_section(store, [a_contract()], empty, as_of) is None


class Nothing:
    def step(self, now):
        del now


def test_up_reconciles_before_it_looks_for_alerts_and_not_at_all_where_it_is_told_not_to():
    def steps(**given):
        passes = evaluator(lambda: None, Nothing(), lambda _: Nothing(), **given)
        return [
            each.labels["step"] for each in passes.figures() if each.name == "fairclock_evaluator_failing"
        ]

    assert "reconciliation" not in steps()
    found = steps(reconciling=Nothing())
    assert found.index("reconciliation") < found.index("alerts")
