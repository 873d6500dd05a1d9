"""Objectives that are judged by time: their budgets burn by intervals, as the verdict counts them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fairclock.model.probes import ProbeOutcome
from fairclock.store.probes import keep_probes
from tests.alert_engine.factories import a_probe
from tests.alert_engine.scene import MINUTE, START, Scene
from tests.evaluation.factories import a_contract

BURN = ("burn-1h", "uptime")
DOWNTIME = {
    "formula": "downtime", "interval": "1m", "bad_above": "5%", "consecutive": "3", "empty": "good", "target": "99%",
}  # fmt: skip
MEAN = {"formula": "mean_interval_error", "interval": "5m", "empty": "zero_error", "target": "99%"}


def a_scene(store, formula, *, unmeasured="bad"):
    contract = a_contract(
        objectives=[{"name": "uptime", "availability": formula}],
        unmeasured={
            "time": unmeasured, "coverage_floor": "0%", "below_floor": "void", "unknown_clock": "void",
        },
    )  # fmt: skip
    one = {"rules": [{"name": "burn-1h", "window": "1h", "part": "2%"}]}
    return Scene(store, contracts=[contract], burn=one, gap={"enabled": False}, probes={"enabled": False})


@pytest.mark.parametrize("formula", [DOWNTIME, MEAN], ids=["downtime", "mean error of intervals"])
def test_a_budget_of_time_that_burns_fires_and_is_resolved(store, formula):
    scene = a_scene(store, formula)
    assert scene.log(0, 10, minutes=60).look(60) == {}
    assert scene.log(60, 10, bad=10, minutes=10).look(70) == {BURN: "firing"}
    event = scene.latest()[BURN]
    step = 1 if formula is DOWNTIME else 5
    assert (event.bad, event.n) == (10 // step, 60 // step)
    assert event.value == "16.67x"
    assert "intervals bad in 1 h" in event.summary_en
    assert event.budget_left_ratio == pytest.approx(1 - 10 / 0.7)
    scene.log(70, 10, minutes=13)
    for minute in (80, 82):
        scene.look(minute)
    assert scene.standing() == {BURN: "resolved"}


def test_an_outage_that_lasts_beyond_the_end_of_a_month_is_not_called_over(store):
    scene = a_scene(store, {**DOWNTIME, "consecutive": "5"})
    midnight = int((datetime(2026, 10, 31, 16, tzinfo=UTC) - START) / MINUTE)
    scene.log(midnight - 40, minutes=30).log(midnight - 10, bad=30, minutes=20)
    for minute in (-1, 1, 2, 3, 4, 6, 8):
        scene.look(midnight + minute)
    assert scene.changes(*BURN) == ["firing", "frozen", "firing"]
    assert scene.events()[1].frozen_reason.startswith("the month has just begun")


def test_bad_minutes_that_do_not_follow_each_other_are_no_downtime(store):
    scene = a_scene(store, DOWNTIME)
    for minute in range(0, 20, 4):
        scene.log(minute, 10, bad=10, minutes=2).log(minute + 2, 10, minutes=2)
    assert scene.look(20) == {}


def test_one_bad_request_at_night_wakes_nobody(store):
    scene = a_scene(store, MEAN)
    assert scene.log(0, 1, bad=1, minutes=1).cover(1, 30).look(30) == {}


def test_an_outage_that_only_probes_see_burns_the_budget(store):
    scene = a_scene(store, DOWNTIME, unmeasured="void")
    scene.log(0, 10, minutes=60)
    keep_probes(
        store,
        [a_probe(at=START + (60 + place) * MINUTE, outcome=ProbeOutcome.TIMEOUT) for place in range(12)],
    )
    standing = scene.look(73)
    assert standing == {BURN: "firing"}
    assert scene.latest()[BURN].bad == 12


def test_a_gap_fires_nothing_here_and_freezes_what_fires(store):
    scene = a_scene(store, DOWNTIME)
    scene.log(0, 10, minutes=30)
    assert scene.look(45) == {}
    scene.log(30, 10, minutes=30).log(60, 10, bad=10, minutes=10).look(70)
    assert scene.look(80) == {BURN: "frozen"}


def test_intervals_are_looked_at_once_a_minute(store):
    scene = a_scene(store, DOWNTIME)
    scene.log(0, 10, minutes=60).log(60, 10, bad=10, minutes=9).look(69)
    scene.log(69, 10, bad=10)
    within = START + 69 * MINUTE + timedelta(seconds=59)
    scene.count()
    scene.engine.step(within)
    before = scene.standing()
    assert scene.look(70) == {BURN: "firing"}
    assert before in ({}, {BURN: "firing"})
