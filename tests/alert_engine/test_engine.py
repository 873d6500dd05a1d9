"""From logged requests to events in the outbox: what fires, when it resolves, and what a restart changes (nothing)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from fairclock.model.probes import ProbeOutcome
from fairclock.store.probes import keep_probes
from sla.alerting.configuration import AlertsSection
from tests.alert_engine.factories import a_probe
from tests.alert_engine.scene import MINUTE, START, Scene
from tests.evaluation.factories import a_contract, availability, latency

BURN = ("burn-1h", "availability")


def test_a_burst_of_errors_fires_and_is_resolved_when_it_is_over(store):
    scene = Scene(store)
    assert scene.log(0, minutes=60).look(60) == {}
    standing = scene.log(60, bad=30, minutes=10).look(70)
    assert standing[BURN] == "firing"
    assert scene.told == 1
    scene.look(70.1)
    assert scene.told == 1, "nothing changed, so nothing is told"
    scene.recover(70)
    assert scene.changes(*BURN) == ["firing", "resolved"]
    fired = next(each for each in scene.events() if (each.rule, each.state.value) == ("burn-1h", "firing"))
    resolved = scene.latest()[BURN]
    assert resolved.alert_id == fired.alert_id
    assert resolved.since == fired.since == START + 70 * MINUTE


def test_an_event_says_all_there_is_to_say(store):
    scene = Scene(store)
    scene.engine = scene.another_engine(
        incident=lambda contract, objective, at: f"{contract} {objective} {at:%H:%M}"
    )
    scene.log(0, minutes=60).log(60, bad=30, minutes=10).look(70)
    event = scene.latest()[BURN]
    assert (event.contract_id, event.objective, event.clock, event.tenants) == (
        "acme-2026",
        "availability",
        None,
        ("acme",),
    )
    assert (event.window_from, event.window_to) == (START + 10 * MINUTE, START + 70 * MINUTE)
    assert (event.bad, event.n) == (300, 1800)
    assert event.severity == "critical"
    # 300 of 1800 bad is 16.7 times the 1 % that may be
    assert (event.threshold, event.value) == ("14.88x the allowed pace", "16.67x")
    # of 2100 requests 21 may be bad
    assert event.budget_left_ratio == pytest.approx((21 - 300) / 21)
    assert event.coverage_ratio == 1.0
    assert event.data_age_seconds == 0.0
    assert event.queue_share_ratio is None
    assert event.frozen_reason is None
    assert event.incident == "acme-2026 availability 04:10"
    assert "300 of 1800 requests bad in 1 h" in event.summary_en
    assert "1800 个请求中 300 个不合格" in event.summary_zh


@pytest.mark.parametrize(
    ("count", "bad"),
    [(30, 0), (2, 2), (30, 2)],
    ids=["a quiet day", "a handful of requests, all bad", "as bad as a month may be for a while"],
)
def test_what_wakes_nobody(store, count, bad):
    scene = Scene(store, pace={"enabled": False})
    scene.log(0, 1, minutes=20 if count > 2 else 1).log(60, count, bad=bad, minutes=2 if count == 2 else 1)
    scene.cover(0, 61)
    assert BURN not in scene.look(61)


def test_a_service_that_begins_badly_is_told_of_before_its_first_hour_is_over(store):
    scene = Scene(store)
    assert scene.log(0, bad=30, minutes=2).look(2)[BURN] == "firing"


def test_an_alert_is_frozen_by_a_gap_says_why_and_goes_on(store):
    scene = Scene(store)
    scene.log(0, minutes=60).log(60, bad=30, minutes=10).look(70)
    standing = scene.look(82)
    assert standing[BURN] == "frozen"
    event = scene.latest()[BURN]
    assert event.frozen_reason is not None
    assert "of the window was read through" in event.frozen_reason
    assert standing["measurement-gap", None] == "firing"
    scene.log(70, bad=30, minutes=12)
    assert scene.look(82.5)[BURN] == "firing"
    assert scene.changes(*BURN) == ["firing", "frozen", "firing"]


def test_a_gap_that_nothing_explains_pages_and_ends(store):
    scene = Scene(store)
    scene.log(0, minutes=10)
    assert scene.look(19) == {}
    assert scene.look(21)["measurement-gap", None] == "firing"
    event = scene.latest()["measurement-gap", None]
    assert (event.severity, event.threshold, event.value) == ("critical", "10 min", "11 min")
    assert event.data_age_seconds == 660.0
    # what was only late is no gap
    scene.log(10, minutes=12).look(22)
    scene.log(22, minutes=2).look(24)
    assert scene.changes("measurement-gap") == ["firing", "resolved"]


def test_a_log_that_is_read_to_its_end_is_quiet_and_no_gap(store):
    scene = Scene(store)
    scene.engine = scene.another_engine(quiet=lambda: True)
    scene.log(0, minutes=60).log(60, bad=30, minutes=10).look(70)
    scene.look(80)
    standing = scene.look(82)
    assert standing[BURN] == "resolved"
    assert ("measurement-gap", None) not in standing


def test_engines_that_are_heard_no_more_behind_a_quiet_log_freeze_what_needs_them(store):
    unmeasured = {"time": "bad", "coverage_floor": "0%", "below_floor": "violated", "unknown_clock": "void"}
    contract = a_contract(objectives=[latency("inference", at_most="1s")], unmeasured=unmeasured)
    scene = Scene(store, contracts=[contract])
    scene.engine = scene.another_engine(quiet=lambda: True)
    burn = "burn-1h", "p99-inference"
    scene.log(0, minutes=60).log(60, bad=30, minutes=10, bad_status="504").cover(0, 70, "engine")
    assert scene.look(70)[burn] == "firing"
    # requests come, and no engine says how long it took: that they are unknown is no reason to call it well
    scene.log(70, minutes=12)
    scene.look(80)
    assert scene.look(82)[burn] == "frozen"
    # what the engines heard of all lines, and then nobody came, is quiet
    scene.cover(70, 82, "engine")
    scene.look(90)
    assert scene.look(92)[burn] == "resolved"


def test_a_store_into_which_nothing_ever_comes_pages(store):
    scene = Scene(store)
    assert scene.look(0) == scene.look(9) == {}
    assert scene.look(11) == {("measurement-gap", None): "firing"}


def test_probes_that_fail_where_no_request_is_logged_are_an_outage(store):
    scene = Scene(store)
    scene.log(0, minutes=10)
    probes = [
        a_probe(at=START + (10 + place / 6) * MINUTE, outcome=ProbeOutcome.UNREACHABLE) for place in range(3)
    ]
    keep_probes(store, probes[:1])
    assert scene.look(10.1) == {}
    keep_probes(store, probes)
    assert scene.look(10.5) == {("probes-failed", None): "firing"}
    event = scene.latest()["probes-failed", None]
    assert (event.bad, event.n, event.threshold, event.severity) == (3, 3, "2", "critical")
    keep_probes(store, [a_probe(at=START + 11 * MINUTE)])
    scene.log(10.95, 1).cover(10, 12).look(11.1)
    scene.look(12.2)
    assert scene.changes("probes-failed") == ["firing", "resolved"]


def test_failed_probes_beside_logged_requests_are_no_outage(store):
    scene = Scene(store)
    keep_probes(
        store, [a_probe(at=START + place * MINUTE, outcome=ProbeOutcome.TIMEOUT) for place in (5, 6, 7)]
    )
    assert scene.log(0, minutes=10).look(10) == {}


def test_probes_that_are_sent_no_more_freeze_the_outage(store):
    scene = Scene(store, gap={"enabled": False})
    scene.log(0, minutes=10)
    keep_probes(
        store, [a_probe(at=START + place * MINUTE, outcome=ProbeOutcome.TIMEOUT) for place in (10, 11)]
    )
    scene.look(12)
    scene.look(90)
    assert scene.changes("probes-failed") == ["firing", "frozen"]
    assert scene.latest()["probes-failed", None].frozen_reason == "no probe was sent in the window"


def test_a_restart_in_the_middle_changes_no_id_and_no_beginning(store):
    scene = Scene(store)
    scene.log(0, minutes=60).log(60, bad=30, minutes=10).look(70)
    fired = scene.latest()[BURN]
    scene.restart().look(70.2)
    assert scene.latest()[BURN] == fired
    scene.log(70, minutes=10)
    for minute in (77, 78.5):
        scene.restart().look(minute)
    assert scene.changes(*BURN) == ["firing"], (
        "an engine that is restarted all the time resolves nothing early"
    )
    scene.look(80)
    assert scene.changes(*BURN) == ["firing", "resolved"]
    assert scene.latest()[BURN].sequence == 2


def test_a_pending_alert_survives_a_restart_with_its_beginning(store):
    waiting = {"hold": "2min", "above": "0%", "min_requests": 1}
    scene = Scene(store, contracts=[a_contract(objectives=[latency()])], queue_share=waiting)
    rule = ("queue-share", None)
    joined_traffic(scene, 0, minutes=10)
    assert scene.look(10)[rule] == "pending"
    pending = scene.latest()[rule]
    assert scene.outbox.read().unrouted == (), "nobody is told of what is pending"
    joined_traffic(scene, 10, minutes=3)
    scene.restart()
    assert scene.look(11.9)[rule] == "pending"
    assert scene.restart().look(12)[rule] == "firing"
    fired = scene.latest()[rule]
    assert (fired.alert_id, fired.sequence, fired.since) == (pending.alert_id, 2, pending.since)
    assert fired.queue_share_ratio == pytest.approx(0.5)
    assert fired.value == "50 %"


def test_a_pending_alert_that_is_over_is_dropped_and_told_to_nobody(store):
    waiting = {"hold": "5min", "above": "0%", "min_requests": 1, "window": "2min"}
    scene = Scene(store, contracts=[a_contract(objectives=[latency()])], queue_share=waiting)
    joined_traffic(scene, 0, minutes=3)
    scene.look(3)
    joined_traffic(scene, 3, minutes=5, queue=0.0)
    scene.restart().look(8)
    assert scene.changes("queue-share") == ["pending", "resolved"]
    joined_traffic(scene, 8, minutes=3)
    scene.restart().look(11)
    assert scene.changes("queue-share") == ["pending", "resolved", "pending"]
    ids = [each.alert_id for each in scene.events() if each.rule == "queue-share"]
    assert ids[0] == ids[1] != ids[2]


def test_late_rows_fire_an_alert_that_the_first_ones_did_not(store):
    scene = Scene(store)
    scene.log(0, minutes=60).log(60, 30, minutes=5)
    assert BURN not in scene.look(65)
    scene.log(55, 40, bad=40, minutes=10, covered=False)
    assert scene.look(65.1)[BURN] == "firing"
    assert scene.latest()[BURN].bad == 400


def test_two_engines_at_once_tell_the_same_once(store):
    scene = Scene(store)
    other = scene.another_engine()
    scene.log(0, minutes=60).log(60, bad=30, minutes=10)
    scene.look(70)
    scene.look(70.01, other)
    scene.recover(70, scene.engine, other)
    events = [event for event in scene.events() if (event.rule, event.objective) == BURN]
    assert [(each.sequence, each.state.value) for each in events] == [(1, "firing"), (2, "resolved")]
    assert len({each.event_id for each in events}) == 2


def test_an_alert_that_comes_again_is_another_life(store):
    scene = Scene(store)
    scene.log(0, minutes=30).log(30, bad=30, minutes=10).look(40)
    scene.recover(40)
    scene.log(50, bad=30, minutes=10).look(60)
    assert scene.changes(*BURN) == ["firing", "resolved", "firing"]
    ids = [each.alert_id for each in scene.events() if (each.rule, each.objective) == BURN]
    assert ids[0] == ids[1]
    assert [each.rpartition("/")[2] for each in ids] == ["1", "1", "2"]
    assert len({each.rpartition("/")[0] for each in ids}) == 1


def test_what_is_watched_no_more_is_ended_and_what_others_watch_is_left_alone(store):
    scene = Scene(store)
    scene.log(0, minutes=30).log(30, bad=30, minutes=10).look(40)
    stranger = Scene(
        store, contracts=[a_contract(id="other-2026", customer={"name": "O", "tenants": ["other"]})]
    )
    stranger.look(40.5)
    assert scene.standing()[BURN] == "firing"
    off = Scene(store, burn={"enabled": False}, gap={"enabled": False})
    off.look(41)
    assert scene.standing()[BURN] == "resolved"
    assert scene.latest()[BURN].summary_en.startswith("not watched any more: ")


def test_a_rule_that_cannot_be_looked_at_silences_no_other_and_ends_nothing(store, monkeypatch):
    scene = Scene(store)
    scene.log(0, minutes=30).log(30, bad=30, minutes=10).look(40)
    calls = []

    def broken(*_):
        calls.append(None)
        raise ValueError("what nobody thought of")
        yield

    monkeypatch.setattr("sla.alerting.engine.waiting_watch", broken)
    with pytest.raises(ValueError, match="what nobody thought of"):
        scene.look(52)
    assert calls
    standing = scene.standing()
    assert standing["measurement-gap", None] == "firing", "a rule behind the broken one"
    assert "resolved" not in standing.values()


def test_alerts_that_are_switched_off_are_not_made(store):
    scene = Scene(store, enabled=False)
    assert scene.log(0, minutes=30).log(30, bad=30, minutes=10).look(40) == {}


def test_excluded_time_is_a_gap_that_something_explains(store):
    from sla.evaluation.excluded import Excluded
    from sla.slices import InForce

    scene = Scene(store)
    from fairclock.model import Interval

    away = Interval(start=START + 9 * MINUTE, end=START + 31 * MINUTE)
    explained = [InForce(contract=scene.contracts[0], excluded=Excluded(instants=(away,)))]
    scene.versions = lambda: explained
    scene.restart()
    assert scene.log(0, minutes=10).look(30) == {}
    assert scene.look(42) == {("measurement-gap", None): "firing"}


def test_latency_in_a_period_is_watched_in_it_alone(store):
    peak = {"peak": [{"days": "mon-sun", "from": "11:00", "to": "11:30"}]}  # 03:00 to 03:30 UTC
    promise = latency(at_most="1s", percentile="90", during="peak")
    scene = Scene(store, contracts=[a_contract(objectives=[promise, availability("99%")], calendar=peak)])
    rule = ("latency-in-period", "p90-end_to_end")
    assert rule not in scene.log(0, minutes=10).look(10)
    scene.log(10, seconds=3.0, minutes=5)
    assert scene.look(15)[rule] == "firing"
    event = scene.latest()[rule]
    assert (event.bad, event.n, event.clock, event.threshold) == (150, 450, "end_to_end", "10 %")
    scene.log(15, minutes=35, seconds=3.0)
    scene.look(50)
    assert scene.look(51.5)[rule] == "resolved", "after the period it is nobody's business"


def test_a_threshold_of_ones_own_is_counted_from_rows(store):
    threshold = {
        "name": "slow",
        "clock": "end_to_end",
        "percentile": 50,
        "above": "500ms",
        "contracts": ["acme-*"],
    }
    beside = {
        "name": "elsewhere",
        "clock": "end_to_end",
        "percentile": 50,
        "above": "1ms",
        "contracts": ["x-*"],
    }
    scene = Scene(store, latency={"thresholds": [threshold, beside]})
    rule = ("slow", None)
    assert rule not in scene.log(0, minutes=10).look(10)
    scene.log(10, seconds=0.7, minutes=10)
    standing = scene.look(20)
    assert standing[rule] == "firing"
    assert ("elsewhere", None) not in standing
    event = scene.latest()[rule]
    assert (event.bad, event.n, event.clock) == (300, 450, "end_to_end")


def test_a_rule_that_could_never_fire_is_refused_and_said_once(store, caplog):
    rules = [
        {"name": "hopeless", "window": "1h", "part": "90%"},
        {"name": "fine", "window": "1h", "part": "2%"},
    ]
    scene = Scene(store, burn={"rules": rules})
    standing = scene.log(0, minutes=30).log(30, bad=30, minutes=10).look(40)
    scene.look(41)
    assert standing["fine", "availability"] == "firing"
    assert ("burn-1h", "availability") not in standing
    said = [each.message for each in caplog.records if "hopeless" in each.message]
    assert len(said) == 2, "once an objective"
    assert "more than there can be" in said[0]


def test_a_pace_that_not_even_bad_requests_alone_could_exceed_is_refused_and_said_once(store, caplog):
    promises = [latency(percentile="50", at_most="1s"), latency(percentile="51", at_most="1s")]
    scene = Scene(store, contracts=[a_contract(objectives=promises)])
    scene.log(0, seconds=3.0, minutes=10).look(10)
    standing = scene.look(11)
    assert standing["budget-pace", "p51-end_to_end"] == "firing"
    assert ("budget-pace", "p50-end_to_end") not in standing
    said = [each.message for each in caplog.records if "budget-pace" in each.message]
    (only,) = said
    assert only.startswith(
        "p50-end_to_end of acme-2026 is not watched by budget-pace: with every request bad"
    )


@pytest.mark.parametrize(
    "section",
    [
        {"gap": {"longest": "2h"}},
        {"sources": {"silent_after": "24h"}},
        {"queue_share": {"above": "100%"}},
        {"kv_cache": {"above": "120%"}},
        {"coverage_floor": "101%"},
    ],
    ids=[
        "a gap longer than what is looked at",
        "a source that is forgotten before it is silent",
        "more waiting than there is time",
        "a cache more than full",
        "more read through than there is",
    ],
)
def test_thresholds_that_nothing_could_reach_are_refused(section):
    with pytest.raises(ValidationError):
        AlertsSection.model_validate(section)


def test_a_budget_used_up_at_more_than_twice_its_pace(store):
    scene = Scene(store)
    scene.log(0, minutes=30).log(30, bad=1, minutes=60)
    standing = scene.look(90)
    assert standing["budget-pace", "availability"] == "firing"
    event = scene.latest()["budget-pace", "availability"]
    assert (event.threshold, event.value, event.severity.value) == ("200 %", "222.2 %", "warning")


def joined_traffic(scene, minute, *, minutes, queue=0.1):
    """Requests of 0.2 s with an engine row each."""
    import json

    from fairclock.store import LineBatch

    first = scene.number
    scene.log(minute, 5, minutes=minutes)
    lines = []
    for place in range(minutes * 5):
        at = START + (minute + place / 5) * MINUTE + timedelta(milliseconds=1)
        number, start_ns = first + place + 1, int(at.timestamp() * 1000) * 10**6
        keys = {
            "trace_id": f"{number:032x}", "span_id": f"{number:016x}", "start_ns": str(start_ns),
            "end_ns": str(start_ns + 190 * 10**6), "instance": "engine-1", "request_id": f"cmpl-{number:032x}-0",
            "e2e": "0.19", "queue": str(queue), "prefill": "0.01", "decode": "0.02", "inference": "0.03", "ttft": "0.05",
            "prompt_tokens": 7, "completion_tokens": 11,
        }  # fmt: skip
        lines.append(json.dumps(keys).encode())
    scene.store.ingest(LineBatch(kind="engine", source="e", lines=lines))
