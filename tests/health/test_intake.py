"""The way into the spool says when it is shut and when it opens again, and not more than that."""

import logging

import pytest

from fairclock.cli.pipeline.intake import Intake
from fairclock.errors import SpoolFull, SpoolUnavailable
from tests.spool.factories import good_frame

FULL = SpoolFull("spool", "is full")
NO_SPACE = SpoolUnavailable("spool", "cannot be used", found="No space left on device")


class Shut:
    def __init__(self):
        self.error = None
        self.now = 0.0
        self.intake = Intake(self.append, monotonic=lambda: self.now)

    def append(self, _):
        if self.error is not None:
            raise self.error

    def offer(self, count=1):
        for _ in range(count):
            if self.error is None:
                self.intake([good_frame()])
            else:
                with pytest.raises(type(self.error)):
                    self.intake([good_frame()])


def test_it_counts_what_was_taken_and_only_that():
    shut = Shut()
    shut.offer(3)
    shut.error = FULL
    shut.offer(2)
    assert (shut.intake.frames, shut.intake.problem) == (3, "spool: is full")
    shut.error = None
    shut.offer()
    assert (shut.intake.frames, shut.intake.problem) == (4, "")


def test_a_problem_that_nobody_met_again_is_none():
    shut = Shut()
    shut.error = FULL
    shut.offer()
    shut.now += 15
    assert shut.intake.problem == "spool: is full"
    shut.now += 0.1
    assert shut.intake.problem == ""
    shut.offer()
    assert shut.intake.problem == "spool: is full"


def test_stopping_and_going_on_are_said_once(caplog):
    caplog.set_level(logging.INFO)
    shut = Shut()
    shut.offer()
    shut.error = NO_SPACE
    shut.offer(50)
    shut.error = None
    shut.offer(50)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "ERROR",
            f"collection stops, senders are told to wait: {NO_SPACE}",
        ),
        ("WARNING", "collection goes on"),
    ]


def test_a_spool_on_the_edge_does_not_fill_the_log(caplog):
    caplog.set_level(logging.INFO)
    shut = Shut()
    for _ in range(100):
        shut.now += 0.1
        shut.error = FULL
        shut.offer()
        shut.error = None
        shut.offer()
    assert len(caplog.records) == 2
    shut.now += 60
    shut.error = FULL
    shut.offer()
    assert len(caplog.records) == 3
