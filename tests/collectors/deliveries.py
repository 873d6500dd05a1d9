"""Where frames go in tests: kept in memory, with a gate to wait at and failures to meet."""

import threading
from datetime import UTC, datetime, timedelta

from fairclock.model import Interval, merge

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Deliveries:
    """A spool in memory: `groups` as they were handed over, `frames` of those that were taken."""

    def __init__(self):
        self.groups = []
        self.frames = []
        self.failures = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, frames, /):
        self.groups.append(list(frames))
        if not self.gate.wait(timeout=60):
            raise AssertionError("the gate stayed shut")
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        self.frames += frames

    @property
    def lines(self):
        return [line for frame in self.frames for line in frame.payload.splitlines()]

    @property
    def covered(self):
        intervals = [
            Interval(start=instant(frame.covered[0]), end=instant(frame.covered[1]))
            for frame in self.frames
            if frame.covered is not None
        ]
        return [(each.start, each.end) for each in merge(intervals)]


def instant(microseconds):
    return EPOCH + timedelta(microseconds=microseconds)
