"""The collector: frames with their coverage, what waits while nothing can be kept, and too few GPUs."""

from __future__ import annotations

import json

import pytest

from collectors.gpu.collector import GpuCollector
from collectors.gpu.demo import DemoSource, load_at, readings_at, simulated_gpu
from collectors.gpu.devices import Gpu
from collectors.gpu.lines import FORMAT, batches_of
from collectors.gpu.readings import Readings
from fairclock.errors import SpoolFull

from .conftest import board, eventually, now_us

GPU = Gpu(uuid="GPU-a", host="node")
SECOND = 1_000_000


class QuietSource:
    """A source that does what a test says."""

    hung_calls = 0
    driver_losses = 0
    is_alive = True
    says = ""

    def start(self): ...

    def stop(self): ...

    def watch(self): ...

    def problem(self):
        return self.says


class Clock:
    def __init__(self, at_us=1_800_000_000 * SECOND):
        self.at_us = at_us

    def __call__(self):
        return self.at_us


class Scene:
    """A collector whose turns a test takes itself."""

    def __init__(self, *, expect=0, limit_bytes=1 << 20):
        self.clock, self.board, self.source = Clock(), board(), QuietSource()
        self.frames, self.refusing = [], False
        self.collector = GpuCollector(
            self.source, self.board, self.take, name="gpu", expect=expect, now_us=self.clock,
            limit_bytes=limit_bytes, settling_seconds=3,
        )  # fmt: skip
        self.collector._next_second = self.clock.at_us // SECOND
        self.collector._judges_from_us = self.clock.at_us + 3 * SECOND

    def take(self, frames):
        if self.refusing:
            raise SpoolFull("spool", "is full")
        self.frames += frames

    def pass_seconds(self, seconds=1):
        for _ in range(seconds):
            self.clock.at_us += SECOND
            self.collector._turn()

    def said(self):
        return [json.loads(line) for frame in self.frames for line in frame.payload.splitlines()]


def test_every_second_is_a_frame_that_covers_it():
    scene = Scene()
    scene.board.see(GPU)
    scene.board.add(GPU, scene.clock.at_us, Readings(values={"sm_clock_mhz": 1980}))
    scene.pass_seconds(3)
    start = 1_800_000_000
    assert [frame.covered for frame in scene.frames] == [
        (second * SECOND, (second + 1) * SECOND) for second in (start, start + 1)
    ]
    assert {(frame.kind, frame.format, frame.source) for frame in scene.frames} == {("gpu", FORMAT, "gpu")}
    assert [(row["second"], row["samples"], row["missing"]) for row in scene.said()] == [
        (start, 1, {"*": "not_offered"}),
        (start + 1, 0, {"*": "not_available"}),
    ]


def test_a_second_in_which_nobody_could_be_asked_is_not_covered():
    scene = Scene()
    scene.board.see(GPU)
    scene.source.says = "NVML does not answer"
    scene.pass_seconds(2)
    assert [frame.covered for frame in scene.frames] == [None]


def test_without_a_device_there_is_no_row_and_nothing_is_covered():
    scene = Scene()
    scene.pass_seconds(5)
    assert scene.frames == []


def test_what_cannot_be_kept_waits_and_is_dropped_oldest_first_with_its_coverage():
    scene = Scene(limit_bytes=1000)
    scene.board.see(GPU)
    scene.refusing = True
    scene.pass_seconds(30)
    statistics = scene.collector.statistics()
    assert statistics.problem
    assert statistics.dropped > 0
    scene.refusing = False
    scene.pass_seconds()
    rows = scene.said()
    assert scene.collector.statistics().problem == ""
    assert len(rows) + scene.collector.statistics().dropped == 30
    assert [row["second"] for row in rows] == sorted(row["second"] for row in rows)
    assert scene.frames[0].covered[0] == rows[0]["second"] * SECOND


def test_a_machine_that_slept_has_no_rows_for_its_sleep():
    scene = Scene()
    scene.board.see(GPU)
    scene.pass_seconds()
    scene.clock.at_us += 3600 * SECOND
    scene.pass_seconds()
    assert len(scene.said()) <= 61


def test_a_clock_that_is_set_back_does_not_stop_the_collector():
    scene = Scene()
    scene.board.see(GPU)
    scene.pass_seconds(2)
    scene.clock.at_us -= 3600 * SECOND
    scene.pass_seconds(3)
    assert scene.said()[-1]["second"] < 1_800_000_000


def test_too_few_gpus_are_a_problem_at_once_and_an_event_once_and_then_enough_again():
    scene = Scene(expect=2)
    scene.board.see(GPU)
    assert scene.collector.problem() == "1 of 2 expected GPUs are visible"
    scene.pass_seconds(8)
    scene.board.see(Gpu(uuid="GPU-b", host="node"))
    scene.pass_seconds(2)
    assert scene.collector.problem() == ""
    told = [(each["event"], each["count"]) for each in scene.said() if "event" in each]
    assert told == [("too_few", 1), ("enough", 2)]


def test_zero_visible_gpus_are_never_healthy_where_one_is_expected():
    scene = Scene(expect=1)
    scene.source.says = "Driver Not Loaded"
    assert scene.collector.problem() == "0 of 1 expected GPUs are visible: Driver Not Loaded"
    scene.pass_seconds(8)
    assert [each["event"] for each in scene.said()] == ["too_few"]


def test_mig_instances_are_no_gpus():
    scene = Scene(expect=2)
    scene.board.see(GPU)
    scene.board.see(Gpu(uuid="MIG-a", host="node", parent="GPU-a"))
    assert scene.collector.problem() == "1 of 2 expected GPUs are visible"
    statistics = scene.collector.statistics()
    assert (statistics.visible, statistics.instances) == (1, 1)


def test_a_frame_becomes_batches_of_two_kinds():
    scene = Scene(expect=2)
    scene.board.see(GPU)
    scene.pass_seconds(6)
    frame = next(frame for frame in scene.frames if b'"event"' in frame.payload)
    rows, events = batches_of(frame)
    assert (rows.kind, events.kind, len(rows.lines) > 0, len(events.lines)) == ("gpu", "gpu_event", True, 1)
    assert b"\n".join([*rows.lines, *events.lines]) + b"\n" == frame.payload


def test_invented_gpus_are_marked_and_complete():
    demo = board(collector="demo")
    source = DemoSource(demo, host="node", gpus=2, samples_per_second=10, now_us=now_us)
    frames = []
    with GpuCollector(source, demo, frames.extend, name="gpu", expect=2, now_us=now_us) as collector:
        eventually(lambda: len(frames) > 2)
        assert collector.is_alive
        assert collector.problem() == ""
    rows = [json.loads(line) for frame in frames for line in frame.payload.splitlines()]
    assert {row["simulated"] for row in rows} == {1}
    assert {row["gpu"] for row in rows} == {simulated_gpu(index, "node").uuid for index in range(2)}


@pytest.mark.parametrize("index", [0, 1, 7])
def test_what_an_invented_gpu_shows_can_be_and_is_the_same_for_the_same_instant(index):
    for at_us in range(0, 400 * SECOND, 7 * SECOND):
        readings = readings_at(index, at_us)
        assert readings.missing == {}
        assert readings == readings_at(index, at_us)
        memory = {
            name: readings.values[f"memory_{name}_bytes"] for name in ("used", "free", "reserved", "total")
        }
        assert memory["used"] + memory["free"] + memory["reserved"] == memory["total"]
        assert 0 <= load_at(index, at_us) <= 1


def test_what_ends_the_thread_is_kept():
    def fail(frames):
        raise RuntimeError("no more")

    scene = Scene()
    scene.board.see(GPU)
    collector = GpuCollector(
        QuietSource(), scene.board, fail, name="gpu", expect=0, now_us=now_us, settling_seconds=3
    )
    with collector:
        eventually(lambda: collector.failure is not None)
    assert not collector.is_alive
