"""A process that appends is killed at random moments, on one folder, again and again."""

import os
import random
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.processes import PATIENCE_SECONDS
from tests.spool.factories import offsets, opened

ROOT = Path(__file__).parents[2]
KILLS = 24


def killed(directory, first, *, threads, after_lines, after_seconds):
    """Let a child append until it is killed, a moment after it said that many are safe; return their numbers."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.spool.appending_child", str(directory), str(first), str(threads)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    with child:
        told = b""
        while told.count(b"\n") < after_lines:
            with (
                selectors.DefaultSelector() as selector
            ):  # takes descriptors of any number, as a long run has them
                selector.register(child.stdout, selectors.EVENT_READ)
                assert selector.select(PATIENCE_SECONDS), "the child appends no more"
            more = os.read(child.stdout.fileno(), 4096)
            assert more, "the child ended"
            told += more
        time.sleep(after_seconds)
        child.send_signal(signal.SIGKILL)
        told += child.stdout.read()
    assert child.returncode == -signal.SIGKILL
    return [int(line) for line in told[: told.rfind(b"\n") + 1].split()]


@pytest.mark.parametrize("threads", [1, 8])
def test_what_was_safe_is_there_after_every_kill(tmp_path, threads):
    chance = random.Random(threads)
    safe, received = set(), []
    following = 0
    for _ in range(KILLS // 2):
        told = killed(
            tmp_path,
            following,
            threads=threads,
            after_lines=chance.randint(1, 40),
            after_seconds=chance.uniform(0, 0.03),
        )
        safe |= set(told)
        with opened(tmp_path, segment_bytes=8_000, limit_bytes=1 << 30) as spool:
            frames, position = spool.read(spool.position, max_bytes=chance.choice([1, 5_000, 1 << 30]))
            numbers = offsets(frames)
            assert all(
                frame.payload == b"%d\n" % number * (number % 90)
                for number, frame in zip(numbers, frames, strict=True)
            )
            received += numbers
            spool.acknowledge(position)
            statistics = spool.statistics(0)
            assert (statistics.quarantined_segments, statistics.missing_segments) == (0, 0)
            following = max([following, *safe, *numbers]) + 100
    with opened(tmp_path, segment_bytes=8_000, limit_bytes=1 << 30) as spool:
        received += offsets(spool.read(spool.position, max_bytes=1 << 30)[0])
    assert safe <= set(received)
    assert len(set(received)) == len(received), "acknowledged frames came again"
    if threads == 1:
        assert received == sorted(received)
    assert len(safe) >= KILLS
