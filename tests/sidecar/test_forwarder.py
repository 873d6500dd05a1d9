"""From the spool to the other side: in order, acknowledged when taken, kept whatever is answered."""

import logging
import threading
import time

import pytest

from exporters.forwarding.batches import decode_batch
from exporters.forwarding.destination import Answer, Outcome
from exporters.forwarding.forwarder import Forwarder
from fairclock.errors import SpoolUnavailable
from tests.spool.factories import good_frame, offsets, opened, waiting

TAKEN = Answer(outcome=Outcome.TAKEN)
AWAY = Answer(outcome=Outcome.LATER, problem="Connection refused")
REVOKED = Answer(outcome=Outcome.UNAUTHORISED, problem="the token is refused (HTTP 401)")
TOO_LARGE = Answer(outcome=Outcome.TOO_LARGE, problem="the batch is too large")


class OtherSide:
    """Take every batch, after the answers that were prepared."""

    url = "https://up.example"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.offsets = []
        self.batches = []
        self.arrived = threading.Condition()

    def deliver(self, body, *, frames):
        received = decode_batch(body)
        assert len(received) == frames
        answer = self.answers.pop(0) if self.answers else TAKEN
        if isinstance(answer, Exception):
            raise answer
        with self.arrived:
            self.batches.append((answer.outcome, len(received)))
            if answer.outcome is Outcome.TAKEN:
                self.offsets += offsets(received)
            self.arrived.notify_all()
        return answer

    def wait_for(self, count):
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.offsets) >= count, timeout=60), self.offsets


class Limited(OtherSide):
    """Refuse what is larger than `largest` bytes."""

    largest = 300_000

    def deliver(self, body, *, frames):
        if len(body) > self.largest:
            self.answers.insert(0, TOO_LARGE)
        return super().deliver(body, frames=frames)


def make_forwarder(spool, other, *, monotonic=time.monotonic, random=lambda: 0.0):
    return Forwarder(spool, other, monotonic=monotonic, now_us=lambda: 1, random=random)


@pytest.fixture
def spool(tmp_path):
    with opened(tmp_path, segment_bytes=1 << 16) as spool:
        yield spool


def test_what_was_kept_arrives_in_order_and_is_acknowledged(spool):
    other = OtherSide()
    spool.append([good_frame(number) for number in range(50)])
    forwarder = make_forwarder(spool, other)
    forwarder.start()
    other.wait_for(50)
    spool.append([good_frame(number) for number in range(50, 80)])
    other.wait_for(80)
    forwarder.stop()
    assert other.offsets == list(range(80))
    assert waiting(spool) == []
    assert (forwarder.statistics.frames, forwarder.statistics.problem) == (80, "")


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([AWAY], id="away"),
        pytest.param([REVOKED, AWAY], id="refused, then away"),
        pytest.param(
            [Answer(outcome=Outcome.MISUNDERSTOOD, problem="a hotel's page")], id="something else there"
        ),
        pytest.param([RuntimeError("unforeseen")], id="a fault of ours"),
    ],
)
def test_whatever_is_answered_nothing_is_lost_and_it_goes_on(spool, answers):
    other = OtherSide(*answers)
    spool.append([good_frame(number) for number in range(5)])
    forwarder = make_forwarder(spool, other)
    forwarder.start()
    other.wait_for(5)
    forwarder.stop()
    assert other.offsets == list(range(5))
    assert forwarder.statistics.failures == len(answers)


def test_a_batch_that_is_too_large_is_sent_in_smaller_ones(tmp_path):
    with opened(tmp_path, segment_bytes=8 << 20, limit_bytes=32 << 20) as spool:
        spool.append([good_frame(number, payload=b"x" * 100_000, repeats=()) for number in range(40)])
        other = Limited()
        forwarder = make_forwarder(spool, other)
        forwarder.start()
        other.wait_for(40)
        forwarder.stop()
    assert other.offsets == list(range(40))
    assert 1 < sum(outcome is Outcome.TOO_LARGE for outcome, _ in other.batches) < 10


def test_batches_grow_again_when_the_limit_is_lifted(tmp_path):
    clock = [0.0]
    sizes = []
    with opened(tmp_path, segment_bytes=8 << 20, limit_bytes=256 << 20) as spool:
        other = Limited()
        forwarder = make_forwarder(spool, other, monotonic=lambda: clock[0])
        for number in range(12):
            if number == 4:
                other.largest = 8 << 20
            spool.append([good_frame(40 * number + each, payload=b"x" * 100_000) for each in range(40)])
            other.batches.clear()
            while waiting(spool):
                forwarder._deliver_batch()
                clock[0] += 200.0
            sizes.append(max(count for outcome, count in other.batches if outcome is Outcome.TAKEN))
    assert max(sizes[:4]) <= 3
    assert sizes[4:] == sorted(sizes[4:])
    assert sizes[-1] == 40
    assert other.offsets == list(range(480))


def test_a_limit_that_stays_is_met_seldom(tmp_path):
    clock = [0.0]
    with opened(tmp_path, segment_bytes=8 << 20, limit_bytes=64 << 20) as spool:
        other = Limited()
        forwarder = make_forwarder(spool, other, monotonic=lambda: clock[0])
        spool.append([good_frame(number, payload=b"x" * 100_000) for number in range(200)])
        while waiting(spool):
            forwarder._deliver_batch()
            clock[0] += 1.0
    refused = [outcome for outcome, _ in other.batches].count(Outcome.TOO_LARGE)
    assert refused <= 6
    assert other.offsets == list(range(200))


def test_stopping_sends_what_waits(spool):
    other = OtherSide()
    forwarder = make_forwarder(spool, other)
    forwarder.start()
    spool.append([good_frame(number) for number in range(5)])
    forwarder.stop()
    assert other.offsets == list(range(5))
    assert not forwarder.is_alive


def test_what_is_kept_while_the_spool_is_found_empty_is_sent_by_a_stop_that_follows(spool, monkeypatch):
    other = OtherSide()
    forwarder = make_forwarder(spool, other)
    stopper, read = threading.Thread(target=forwarder.stop), spool.read

    def found_empty(after, *, max_bytes):
        found = read(after, max_bytes=max_bytes)
        if stopper.ident is None:
            spool.append([good_frame(0)])
            stopper.start()
            assert forwarder._stopping.wait(60)
        return found

    monkeypatch.setattr(spool, "read", found_empty)
    forwarder.start()
    other.wait_for(1)
    stopper.join()
    assert other.offsets == [0]


def test_stopping_does_not_wait_for_a_side_that_is_away_and_the_frames_stay(spool):
    other = OtherSide(*[AWAY] * 100)
    spool.append([good_frame(number) for number in range(5)])
    forwarder = make_forwarder(spool, other)
    forwarder.start()
    forwarder.stop()
    assert len(other.answers) > 90  # all of them would take twenty minutes
    assert offsets(waiting(spool)) == list(range(5))


class Waits:
    """Deliver step by step, with a clock that only the test moves."""

    def __init__(self, spool, other, *, random=lambda: 0.0):
        self.now = 0.0
        self.forwarder = make_forwarder(spool, other, monotonic=lambda: self.now, random=random)

    def step(self):
        seconds = self.forwarder._deliver_batch()
        self.now += seconds
        return seconds


def test_waiting_doubles_up_to_half_a_minute_and_begins_anew_after_a_success(spool):
    spool.append([good_frame()])
    waits = Waits(spool, OtherSide(*[AWAY] * 9, TAKEN, AWAY))
    assert [waits.step() for _ in range(9)] == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]
    assert waits.step() == 0.0
    spool.append([good_frame(1)])
    assert waits.step() == 0.25


def test_those_who_failed_together_come_back_apart(spool):
    spool.append([good_frame()])
    first = Waits(spool, OtherSide(*[AWAY] * 8), random=lambda: 0.0)
    second = Waits(spool, OtherSide(*[AWAY] * 8), random=lambda: 0.999)
    for _ in range(7):
        first.step(), second.step()
    assert first.step() == 15.0
    assert 29.0 < second.step() < 30.0


def test_the_other_side_is_given_the_time_that_it_asks_for(spool):
    spool.append([good_frame()])
    asked = Answer(outcome=Outcome.LATER, problem="HTTP 503", wait_seconds=42.0)
    assert Waits(spool, OtherSide(asked)).step() == 42.0


def test_a_refused_token_is_loud_but_not_every_time(spool, caplog):
    caplog.set_level(logging.INFO)
    spool.append([good_frame()])
    waits = Waits(spool, OtherSide(*[REVOKED] * 60))
    while waits.now < 400:
        waits.step()
    said = (
        "https://up.example: not delivered: the token is refused (HTTP 401); "
        "what is collected stays in the spool, and it is tried again"
    )
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", said),
        ("ERROR", said),
    ]
    assert waits.forwarder.statistics.problem == REVOKED.problem
    waits.forwarder._destination.answers.clear()
    waits.step()
    assert caplog.records[-1].getMessage().startswith("https://up.example: delivers again, after 4")
    assert waits.forwarder.statistics.problem == ""


def test_frames_that_were_taken_are_not_sent_again_where_that_could_not_be_noted(spool, monkeypatch):
    spool.append([good_frame(number) for number in range(3)])
    other = OtherSide()
    waits = Waits(spool, other)

    def full(_):
        raise SpoolUnavailable("spool", "the disk is failing")

    with monkeypatch.context() as patched:
        patched.setattr(spool, "acknowledge", full)
        assert waits.step() > 0
    assert offsets(waiting(spool)) == [0, 1, 2]
    assert waits.step() == 0.0
    assert waiting(spool) == []
    assert other.offsets == [0, 1, 2]
