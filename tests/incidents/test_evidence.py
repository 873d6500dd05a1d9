"""Each kind of evidence with real rows: a scene in which it is found, with its numbers, and scenes in which it must not be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairclock.model import Interval
from sla.incidents.evidence import KINDS
from sla.incidents.section import incidents_section
from sla.slices import InForce
from tests.evaluation.factories import a_contract, availability, latency
from tests.incidents.scenes import HOUR, at

if TYPE_CHECKING:
    from tests.incidents.scenes import Scene

LATENCY = InForce(contract=a_contract(objectives=[latency(at_most="1s")]))
ANSWERS = InForce(contract=a_contract(objectives=[availability("99%")]))
BAD = (0, 300)


def look(scene: Scene, version: InForce = LATENCY) -> dict:
    """Play the scene and return the evidence of its one incident, the numbers by kind."""
    scene.play()
    window = Interval(start=at(-12 * HOUR), end=at(2 * HOUR))
    (incident,) = incidents_section(scene.store, [version], window, scene.store.watermark())
    assert incident["from"] == "2026-10-07T01:00:00Z"
    return {each["kind"]: each["numbers"] for each in incident["evidence"]}


def calm(scene: Scene, **request) -> None:
    """Half an hour of good requests, six a minute; then, for five minutes, `request` is what becomes of them."""
    scene.steady(-1800, BAD[0])
    scene.steady(*BAD, **request)
    scene.steady(BAD[1], 1800)


def waits(scene):
    calm(scene, took=3.0, queue=2.4)


def computes(scene):
    calm(scene, took=3.0)


def dawdles(scene):
    calm(scene, took=3.0, decode=0.1)


def test_waiting_is_told_with_its_share_and_that_of_before(scene):
    waits(scene)
    found = look(scene)
    assert found["queue"] == {
        "bad": 30, "known": 30, "share_ratio": 0.8, "mean_seconds": 2.4, "before_ratio": 0.02, "before_seconds": 0.01,
    }  # fmt: skip
    assert not {"inference", "outside", "outcomes", "burst"} & set(found)


def test_inference_is_told_with_its_share_and_that_of_before(scene):
    computes(scene)
    found = look(scene)
    assert found["inference"]["share_ratio"] == 0.991667
    assert found["inference"]["mean_seconds"] == 2.975
    assert not {"queue", "outside", "idle_waiting"} & set(found)


def test_time_that_is_neither_is_told(scene):
    dawdles(scene)
    found = look(scene)
    assert found["outside"]["share_ratio"] == 0.956667
    assert not {"queue", "inference"} & set(found)


def test_without_an_engines_word_nothing_is_said_of_phases(scene):
    calm(scene, took=3.0, queue=None)
    assert not {"queue", "inference", "outside"} & set(look(scene))


def test_how_bad_requests_ended_is_told_where_they_did_not_end_well(scene):
    scene.steady(-1800, 0)
    scene.steady(0, 200, status=500, queue=None)
    scene.steady(200, 300, status=504, queue=None)
    scene.steady(300, 1800)
    assert look(scene, ANSWERS)["outcomes"] == {"bad": 30, "failed": 30, "server_error": 20, "timeout": 10}


def test_slow_answers_are_no_other_ending(scene):
    computes(scene)
    assert "outcomes" not in look(scene)


def test_a_burst_is_told_with_the_rate_of_before_and_whose_it_was(scene):
    calm(scene)
    scene.steady(*BAD, every=1.0, took=3.0, queue=2.4)
    scene.steady(*BAD, every=1.0, tenant="other")
    assert look(scene)["burst"] == {
        "busiest": 126, "during_per_minute": 91.714286, "before_per_minute": 6, "own_ratio": 0.53271,
    }  # fmt: skip


def test_as_many_requests_as_before_are_no_burst(scene):
    waits(scene)
    assert "burst" not in look(scene)


def test_traffic_after_time_that_nobody_read_is_no_burst(scene):
    scene.steady(*BAD, every=1.0, took=3.0)
    scene.play(covers=(0, HOUR))
    assert "burst" not in look_again(scene)


def test_traffic_after_an_hour_without_any_is_a_burst(scene):
    scene.steady(*BAD, every=1.0, took=3.0)
    assert look(scene)["burst"]["before_per_minute"] == 0


def look_again(scene):
    window = Interval(start=at(-12 * HOUR), end=at(2 * HOUR))
    (incident,) = incidents_section(scene.store, [LATENCY], window, scene.store.watermark())
    return {each["kind"]: each["numbers"] for each in incident["evidence"]}


def test_long_prompts_are_told_where_short_ones_took_longer(scene):
    calm(scene, took=3.0)
    scene.steady(*BAD, every=5.0, took=3.0, prompt=4000)
    assert look(scene)["long_prompts"] == {
        "tokens_ratio": 0.982801, "tokens_per_minute": 34285.714286, "before_per_minute": 0, "short": 42,
        "short_seconds": 2.285714, "short_before_seconds": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param({"calm": 0.5, "long": 4000, "took": 3.0}, id="short prompts are as fast as before"),
        pytest.param({"calm": 3.0, "long": 600, "took": 3.0}, id="no prompt is long"),
    ],
)
def test_long_prompts_are_not_told_where(scene, lines):
    calm(scene, took=lines["calm"])
    scene.steady(*BAD, every=5.0, took=lines["took"], prompt=lines["long"])
    assert "long_prompts" not in look(scene)


def test_a_retry_storm_is_told_with_what_was_offered_and_admitted(scene):
    calm(scene)
    scene.steady(*BAD, every=0.5, status=503, took=0.01, queue=None, body=777)
    found = look(scene, ANSWERS)["retry_storm"]
    assert found["repeated"] == 599
    assert found["repeated_ratio"] == 0.933022
    assert found["before_ratio"] == 0
    assert found["before_per_minute"] == 6
    assert found["offered_per_minute"] == 91.714286
    assert found["admitted_per_minute"] == 6


def test_failures_of_bodies_of_one_size_at_the_same_pace_are_no_retries(scene):
    scene.steady(-1800, 0, every=1.0, body=777)
    scene.steady(*BAD, every=1.0, body=777, status=503, took=0.01, queue=None)
    scene.steady(300, 1800, every=1.0, body=777)
    assert "retry_storm" not in look(scene, ANSWERS)


def test_many_requests_that_fail_once_are_no_retries(scene):
    calm(scene)
    scene.steady(*BAD, every=0.5, status=503, took=0.01, queue=None)
    assert "retry_storm" not in look(scene, ANSWERS)


def test_waiting_while_engines_have_little_to_do_is_told(scene):
    waits(scene)
    found = look(scene)["idle_waiting"]
    assert found["mean_seconds"] == 1.717143  # two good minutes before it are looked at, too
    assert found["before_seconds"] == 0.01
    assert found["at_work_mean"] == 0.055357
    assert found["during_per_minute"] == found["before_per_minute"] == 6


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param({"every": 1.0, "took": 3.0, "queue": 2.4}, id="more came than before"),
        pytest.param({"every": 10.0, "took": 30.0, "queue": 16.0}, id="engines were busy"),
    ],
)
def test_waiting_is_no_riddle_where(scene, request_):
    scene.steady(-1800, 0)
    scene.steady(*BAD, **request_)
    scene.steady(300, 1800)
    found = look(scene)
    assert "queue" in found
    assert "idle_waiting" not in found


KV = "vllm:kv_cache_usage_perc"


def test_a_full_kv_cache_is_told_with_the_fullest_engine(scene):
    waits(scene)
    for seconds in range(-600, 600, 15):
        scene.sample(seconds, KV, 0.97 if 0 <= seconds < 150 else 0.4)
        scene.sample(seconds, KV, 0.3, target="10.0.0.2:8000")
    assert look(scene)["kv_cache"] == {
        "engines": 1, "of_engines": 2, "engine": "10.0.0.1:8000", "peak_ratio": 0.97, "full_scrapes": 10,
        "scrapes": 28, "before_ratio": 0.4,
    }  # fmt: skip


def test_a_kv_cache_of_four_fifths_is_not_full(scene):
    waits(scene)
    for seconds in range(-600, 600, 15):
        scene.sample(seconds, KV, 0.81)
    assert "kv_cache" not in look(scene)


PREEMPTIONS = "vllm:num_preemptions"


def test_preemptions_are_told_where_they_became_more(scene):
    waits(scene)
    for place, seconds in enumerate(range(-1500, 600, 60)):
        scene.sample(seconds, PREEMPTIONS, 7 if seconds < 0 else 7 + 3 * (place - 24), kind="counter")
    assert look(scene)["preemptions"] == {
        "count": 15, "during_per_minute": 2.142857, "before_per_minute": 0,
    }  # fmt: skip


def test_preemptions_at_the_pace_of_before_are_not_told(scene):
    waits(scene)
    for place, seconds in enumerate(range(-1500, 600, 60)):
        scene.sample(seconds, PREEMPTIONS, 3 * place, kind="counter")
    assert "preemptions" not in look(scene)


def test_an_engine_that_was_replaced_and_started_is_told_twice_over(scene):
    waits(scene)
    for seconds in range(-900, -30, 15):
        scene.process(seconds, -7200)
    for seconds in range(60, 600, 15):
        scene.process(seconds, 30)
    found = look(scene)
    assert found["cold_start"]["engine"] == "10.0.0.1:8000"
    assert found["cold_start"]["after_seconds"] == 30
    assert found["cold_start"]["longest_seconds"] is not None
    assert found["restarts"]["kinds"] == ["restarted"]
    assert found["restarts"]["engines"] == 1


def test_an_engine_that_ran_all_along_is_not_told(scene):
    waits(scene)
    for seconds in range(-3600, 600, 60):
        scene.process(seconds, -7200)
    assert not {"cold_start", "restarts"} & set(look(scene))


def test_what_drivers_report_is_told_with_its_codes(scene):
    computes(scene)
    scene.gpu_event(-60, code=79)
    scene.gpu_event(30, code=31)
    scene.gpu_event(40, event="lost", code=None)
    assert look(scene)["gpu_errors"] == {
        "events": 3, "gpus": 1, "kinds": ["lost", "xid"], "xids": ["31", "79"], "gpu": "GPU-a", "after_seconds": -60,
    }  # fmt: skip


def test_errors_of_another_time_and_those_that_were_corrected_are_not_told(scene):
    computes(scene)
    scene.gpu_event(-2 * HOUR)
    scene.gpu_event(600)
    scene.gpu_event(30, event="ecc_corrected", code=None)
    scene.gpu_event(40, event="xid_standing")
    assert "gpu_errors" not in look(scene)


HOT, IDLE = 1 << 6, 1


def test_clocks_held_down_are_told_with_how_long(scene):
    computes(scene)
    for seconds in range(-720, 300, 5):
        scene.gpu_second(seconds, HOT if 0 <= seconds < 200 else IDLE)
    assert look(scene)["gpu_throttle"] == {
        "gpu": "GPU-a", "throttled": 40, "measured": 84, "share_ratio": 0.47619, "before_ratio": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "during"),
    [
        pytest.param(IDLE, IDLE, id="they were low for want of work"),
        pytest.param(HOT, HOT, id="they were held down before as well"),
    ],
)
def test_clocks_are_not_told_where(scene, before, during):
    computes(scene)
    for seconds in range(-720, 300, 5):
        scene.gpu_second(seconds, during if seconds >= 0 else before)
    assert "gpu_throttle" not in look(scene)


def of_hours(scene, decode, *, every=lambda seconds: 60.0):
    """Six hours of requests of 0.5 s whose decoding takes `decode(seconds)`; the last five minutes are bad."""
    seconds = -6.0 * HOUR
    while seconds < BAD[1]:
        slow = seconds >= BAD[0]
        scene.request(seconds, took=1.2 if slow else 0.9, queue=0.01, decode=decode(seconds))
        seconds += every(seconds)


def test_times_that_climb_with_uptime_are_told(scene):
    of_hours(scene, lambda seconds: 0.1 + 0.5 * (seconds / HOUR + 6) / 6)
    found = look(scene)["climbing"]
    assert found["engine"] == "engine-1"
    assert found["growth_times"] > 2
    assert found["order_tau"] == 1
    assert found["uptime_seconds"] is None  # nothing told when it started


@pytest.mark.parametrize(
    "decode",
    [
        pytest.param(lambda seconds: 0.3, id="they stay as they are"),
        pytest.param(lambda seconds: 0.1 + 0.5 * (round(seconds / 600) % 2), id="they go up and down"),
        pytest.param(lambda seconds: 0.7 - 0.5 * (seconds / HOUR + 6) / 6, id="they fall"),
    ],
)
def test_times_do_not_climb_where(scene, decode):
    of_hours(scene, decode)
    assert "climbing" not in look(scene)


def test_times_that_climb_with_load_are_not_told(scene):
    of_hours(
        scene,
        lambda seconds: 0.1 + 0.5 * (seconds / HOUR + 6) / 6,
        every=lambda seconds: 120.0 if seconds < -4 * HOUR else 60.0 if seconds < -2 * HOUR else 20.0,
    )
    assert "climbing" not in look(scene)


def slow_minutes(scene, numbers):
    for number in range(-180, 5):
        for place in range(3):
            scene.request(
                number * 60 + place * 20,
                took=1.2 if number >= 0 else 0.9,
                queue=0.01,
                decode=0.6 if number in numbers else 0.1,
            )


def test_slow_minutes_at_even_distances_are_told(scene):
    slow_minutes(scene, range(-175, 5, 10))
    assert look(scene)["spikes"] == {
        "engine": "engine-1", "spikes": 18, "period_seconds": 600, "spike_seconds": 0.62, "usual_seconds": 0.12,
        "load_times": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param([-170, -165, -120, -90, -61, -20], id="they come at any distance"),
        pytest.param([-90, -40], id="there are only two"),
        pytest.param([], id="there are none"),
    ],
)
def test_slow_minutes_are_not_told_where(scene, numbers):
    slow_minutes(scene, numbers)
    assert "spikes" not in look(scene)


def test_every_kind_has_its_scenes():
    told = {"queue", "inference", "outside", "outcomes", "burst", "long_prompts", "retry_storm", "idle_waiting",
            "kv_cache", "preemptions", "cold_start", "restarts", "gpu_errors", "gpu_throttle", "climbing", "spikes"}  # fmt: skip
    assert set(KINDS) == told
