"""At least once, in order, nothing lost: whatever is appended, read, acknowledged and reopened when."""

import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from exporters.spool import Position
from fairclock.errors import SpoolFull, SpoolUnavailable
from tests.spool.factories import good_frame, offsets, opened, segments, waiting

LIMIT_BYTES = 4_000


class Delivery(RuleBasedStateMachine):
    """A spool beside a list: what was appended and not acknowledged is what is read."""

    def __init__(self):
        super().__init__()
        self.directory = tempfile.mkdtemp()
        self.open()
        self.count = 0
        self.unacknowledged = []
        self.read = []

    def open(self):
        self.spool = opened(self.directory, limit_bytes=LIMIT_BYTES)
        self.position = self.spool.position

    @rule(sizes=st.lists(st.integers(0, 700), min_size=1, max_size=4))
    def append(self, sizes):
        frames = [good_frame(self.count + at, payload=bytes(size)) for at, size in enumerate(sizes)]
        try:
            self.spool.append(frames)
        except SpoolFull:
            assert self.spool.statistics(0).bytes + sum(sizes) + 300 * len(sizes) > LIMIT_BYTES
            return
        self.count += len(frames)
        self.unacknowledged += frames

    @rule(max_bytes=st.integers(1, 2_000))
    def read_some(self, max_bytes):
        frames, self.position = self.spool.read(self.position, max_bytes=max_bytes)
        self.read += frames
        assert self.read == self.unacknowledged[: len(self.read)]
        assert frames or self.read == self.unacknowledged

    @rule()
    def acknowledge_what_was_read(self):
        self.spool.acknowledge(self.position)
        del self.unacknowledged[: len(self.read)]
        self.read = []

    @rule()
    def forget_what_was_read(self):
        self.position = self.spool.position
        self.read = []

    @precondition(lambda self: self.read)
    @rule()
    def acknowledge_the_past(self):
        self.spool.acknowledge(Position(0))
        assert self.spool.read(self.spool.position, max_bytes=1 << 30)[0] == self.unacknowledged

    @rule()
    def close_and_open_again(self):
        self.spool.close()
        self.open()
        self.read = []

    @rule()
    def leave_as_a_kill_does_and_open_again(self):
        copy = tempfile.mkdtemp()
        shutil.copytree(self.directory, copy, dirs_exist_ok=True)
        self.spool.close()
        shutil.rmtree(self.directory)
        self.directory = copy
        self.open()
        self.read = []

    @invariant()
    def the_figures_hold(self):
        statistics = self.spool.statistics(0)
        on_disk = sum(path.stat().st_size for path in segments(self.directory))
        assert statistics.frames_waiting == len(self.unacknowledged)
        assert statistics.bytes == on_disk <= LIMIT_BYTES
        assert (statistics.quarantined_segments, statistics.missing_segments) == (0, 0)

    def teardown(self):
        frames, _ = self.spool.read(self.spool.position, max_bytes=1 << 30)
        assert frames == self.unacknowledged
        self.spool.close()
        shutil.rmtree(self.directory)


TestDelivery = Delivery.TestCase
TestDelivery.settings = settings(settings.get_profile("test"), max_examples=60, stateful_step_count=25)


def test_a_full_spool_refuses_and_takes_again_when_something_was_delivered(tmp_path):
    with opened(tmp_path, limit_bytes=LIMIT_BYTES) as spool:
        appended = 0
        while spool.statistics(0).bytes < LIMIT_BYTES - 200:
            spool.append([good_frame(appended)])
            appended += 1
        with pytest.raises(SpoolFull, match=r"the spool is full \(its limit is 4000 bytes\)"):
            spool.append([good_frame(99)])
        assert offsets(waiting(spool)) == list(range(appended))
        _, position = spool.read(spool.position, max_bytes=600)
        spool.acknowledge(position)
        spool.append([good_frame(appended)])
        assert offsets(waiting(spool))[-1] == appended


def test_what_was_delivered_does_not_stay_on_the_disk(tmp_path):
    with opened(tmp_path, segment_bytes=2_000, limit_bytes=LIMIT_BYTES) as spool:
        spool.append([good_frame(0)])
        spool.acknowledge(spool.read(spool.position, max_bytes=1)[1])
        assert segments(tmp_path) == []
        spool.append([good_frame(1, payload=bytes(3_700))])  # nor in the way of a large frame
        assert offsets(waiting(spool)) == [1]


def test_many_small_frames_take_turns_with_delivery_in_bounded_room(tmp_path):
    largest = 0
    with opened(tmp_path, limit_bytes=LIMIT_BYTES) as spool:
        for number in range(200):
            spool.append([good_frame(number)])
            if number % 7 == 6:
                spool.acknowledge(spool.read(spool.position, max_bytes=1 << 20)[1])
            largest = max(largest, sum(path.stat().st_size for path in segments(tmp_path)))
    assert largest < 2_500


def test_the_age_of_the_oldest_and_what_waits_are_told(tmp_path):
    now = [1_000_000]
    with opened(tmp_path, now_us=lambda: now[0]) as spool:
        assert spool.statistics(5_000_000).oldest_unsent_seconds is None
        for number in range(3):
            spool.append([good_frame(number)])
            now[0] += 500_000
        assert spool.statistics(5_000_000).oldest_unsent_seconds == 4.0
        spool.acknowledge(spool.read(spool.position, max_bytes=1)[1])
        statistics = spool.statistics(5_000_000)
        assert (statistics.oldest_unsent_seconds, statistics.frames_waiting) == (3.5, 2)
        assert spool.statistics(0).oldest_unsent_seconds == 0.0, "a clock that was set back"


def test_a_reader_wakes_when_enough_is_there(tmp_path):
    with opened(tmp_path) as spool, ThreadPoolExecutor(1) as pool:
        begin = spool.position
        future = pool.submit(spool.wait, begin, timeout_seconds=60, at_least_bytes=250)
        spool.append([good_frame(0)])
        assert not future.done()
        spool.append([good_frame(1)])
        future.result(timeout=60)


def test_a_reader_that_is_interrupted_or_whose_spool_closes_wakes(tmp_path):
    stop = threading.Event()
    with opened(tmp_path) as spool, ThreadPoolExecutor(2) as pool:
        waits = pool.submit(spool.wait, spool.position, timeout_seconds=60, interrupted=stop.is_set)
        stays = pool.submit(spool.wait, spool.position, timeout_seconds=60)
        stop.set()
        spool.wake()
        waits.result(timeout=60)
        assert not stays.done()
        spool.close()
        stays.result(timeout=60)
        spool.wait(spool.position, timeout_seconds=60)


def test_a_closed_spool_takes_nothing(tmp_path):
    spool = opened(tmp_path)
    spool.close()
    spool.close()
    with pytest.raises(SpoolUnavailable, match="the spool is closed"):
        spool.append([good_frame()])


def test_a_delivery_that_ends_after_the_spool_was_closed_writes_into_no_file_that_was_opened_since(tmp_path):
    with opened(tmp_path / "spool") as spool:
        spool.append([good_frame()])
        _, behind = spool.read(spool.position, max_bytes=1)
    others = [(tmp_path / f"other{number}").open("wb", buffering=0) for number in range(9)]
    with pytest.raises(SpoolUnavailable, match="the spool is closed"):
        spool.acknowledge(behind)
    for other in others:
        other.close()
    assert [Path(other.name).read_bytes() for other in others] == [b""] * 9
    with opened(tmp_path / "spool") as spool:
        assert offsets(waiting(spool)) == [0]
