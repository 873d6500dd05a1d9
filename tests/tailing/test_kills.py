"""A tail that is killed at random moments, while its log is written and rotated, delivers each row once."""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from exporters.spool import Spool
from tests.tailing.following import LIMIT_BYTES
from tests.tailing.rig import Written, compress, imported, line, rows_of

ROOT = Path(__file__).parents[2]
WAIT_SECONDS = 300
LINES_A_KILL = 2_000


class Gateway(threading.Thread):
    """Write a log in pieces that end anywhere, equal lines among them, and rotate it now and then."""

    def __init__(self, path, *, seed):
        super().__init__(daemon=True)
        self.log = Written(path)
        self.random = random.Random(seed)
        self.written = [b""]
        self.changed = threading.Condition()
        self.allowed = self.number = 0
        self.ended = False
        self.failure = None

    def allow(self, count):
        """Let it write so many lines more: a machine that starts programs slowly has no more to read than another."""
        with self.changed:
            self.allowed += count
            self.changed.notify_all()

    def finish(self):
        """End it once it has written what it may."""
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def _goes_on(self):
        with self.changed:
            self.changed.wait_for(lambda: self.ended or self.number < self.allowed)
        time.sleep(self.random.uniform(0, 0.01))
        return self.number < self.allowed

    def run(self):
        try:
            while self._goes_on():
                for _ in range(self.random.randint(1, 60)):
                    self.number += 1
                    again = b"".join([line(self.number) + b"\n"] * self.random.choice([1, 1, 1, 2, 3]))
                    at = self.random.randint(0, len(again))
                    self.write(again[:at])
                    self.write(again[at:])
                if self.random.random() < 0.02:
                    self.rotate()
        except BaseException as failure:
            self.failure = failure
            raise

    def write(self, data):
        self.log.write(data)
        self.written[-1] += data

    def rotate(self):
        rotated = self.log.rename()
        if self.random.random() < 0.5:
            self.write(line(len(self.written), at_us=10**15) + b"\n")
        self.log.reopen()
        self.written.append(b"")
        older = rotated.with_name("access.log.2")
        if older.exists():
            compress(older)


def delivered(folder):
    """Return the rows in the spool, and how often each of them was handed over."""
    with Spool(folder / "spool", limit_bytes=LIMIT_BYTES) as spool:
        assert spool.statistics(0).quarantined_segments == 0
        counts, position = Counter(), spool.position
        while True:
            frames, position = spool.read(position, max_bytes=64 << 20)
            if not frames:
                return counts
            counts.update(rows_of(frames))


def start(path, folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.tailing.following", str(path), str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"following\n"
    return process


@pytest.mark.parametrize("kills", [25, pytest.param(150, marks=pytest.mark.soak)])
def test_kills_lose_nothing_and_double_nothing(tmp_path, kills):
    (tmp_path / "logs").mkdir()
    path, choose = tmp_path / "logs" / "access.log", random.Random(kills)
    first = start(path, tmp_path)
    while not (
        tmp_path / "tails" / "tail.json"
    ).exists():  # from then on it is known since when it is followed
        assert first.poll() is None
        time.sleep(0.01)
    first.kill()
    first.wait()
    gateway = Gateway(path, seed=kills)
    gateway.start()
    for _ in range(kills):
        gateway.allow(LINES_A_KILL)
        process = start(path, tmp_path)
        time.sleep(choose.uniform(0, 0.3))
        process.kill()
        process.wait()
    gateway.finish()
    gateway.join(WAIT_SECONDS)
    assert not gateway.is_alive()
    assert gateway.failure is None
    expected = imported(*gateway.written)
    process = start(path, tmp_path)
    deadline = time.monotonic() + WAIT_SECONDS
    try:
        caught_up, patience_seconds = False, 1.0
        while not caught_up and time.monotonic() < deadline:
            time.sleep(patience_seconds)  # longer and longer: a slow machine must come to read something
            patience_seconds *= 1.5
            process.kill()
            process.wait()
            counts = delivered(tmp_path)
            caught_up = set(counts) >= expected
            process = start(path, tmp_path)
    finally:
        process.kill()
        process.wait()
    assert set(counts) == expected
    assert len(gateway.written) > 3
    assert len(expected) > 5000
