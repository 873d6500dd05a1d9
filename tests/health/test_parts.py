"""What the parts of a running command say about themselves."""

import threading
from types import SimpleNamespace

import pytest

from fairclock.cli.pipeline.intake import Intake
from fairclock.cli.pipeline.parts import Pipeline
from tests.spool.factories import good_frame, opened

MIB = 1 << 20


@pytest.fixture
def spool(tmp_path):
    with opened(tmp_path, segment_bytes=MIB, limit_bytes=4 * MIB) as spool:
        yield spool


def make_pipeline(spool, **parts):
    return Pipeline(spool=spool, intake=Intake(spool.append), **parts)


def part(*, is_alive=True, failure=None):
    return SimpleNamespace(is_alive=is_alive, failure=failure)


def test_parts_that_have_ended_are_named_and_those_that_are_not_there_are_not(spool):
    assert make_pipeline(spool, writer=part(), tail=part()).ended() == []
    assert make_pipeline(spool, writer=part(is_alive=False), syslog=part(is_alive=False)).ended() == [
        "writer",
        "syslog",
    ]


@pytest.mark.parametrize("name", ["tail", "syslog"])
def test_what_ended_a_collector_ends_the_command(spool, name):
    pipeline = make_pipeline(spool, **{name: part(failure=RuntimeError("unforeseen"))})
    with pytest.raises(RuntimeError, match="unforeseen"):
        pipeline.wait(threading.Event(), 60.0)


def test_waiting_ends_with_time_or_with_a_signal(spool):
    pipeline, stop = make_pipeline(spool, tail=part()), threading.Event()
    assert pipeline.wait(stop, 0.01) is False
    stop.set()
    assert pipeline.wait(stop, 60.0) is True


def test_room_is_what_readiness_is_about(spool):
    pipeline = make_pipeline(spool, writer=part())
    assert pipeline.ready() == {"spool": "", "parts": ""}
    spool.append([good_frame(payload=b"x" * (3 * MIB + 1), repeats=())])
    assert pipeline.ready()["spool"] == "the spool is full"
    spool.acknowledge(spool.read(spool.position, max_bytes=8 * MIB)[1])
    assert pipeline.ready()["spool"] == ""
    pipeline.writer.is_alive = False
    assert pipeline.ready()["parts"] == "writer has ended"
