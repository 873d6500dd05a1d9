"""When a sender is told that its spans are safe."""

import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest

from collectors.otlp.committing import FORMAT, SpanCommitter
from collectors.otlp.listening_note import ListeningNote
from collectors.otlp.protobuf import decode_protobuf
from fairclock.errors import SpoolFull, SpoolUnavailable, StoreError, StoreReadOnly, StoreUnreachable
from tests.collectors.deliveries import EPOCH, Deliveries
from tests.collectors.otlp_requests import START_NS, good_span, request_of
from tests.faults.processes import PATIENCE_SECONDS, eventually

AWAY = StoreUnreachable("store", "nobody answers")
READ_ONLY = StoreReadOnly("store", "it takes no writes")
FULL = SpoolFull("spool", "the spool is full")
NO_DISK = SpoolUnavailable("spool", "no space left on device")
ODD = StoreError("store", "code 27")


def lines_of(*numbers, bad=()):
    spans = [good_span(number) for number in numbers]
    spans += [good_span(number, trace_id=b"short") for number in bad]
    return decode_protobuf(request_of(*spans).SerializeToString())


class Clock:
    """A monotonic clock that stands still unless it is moved."""

    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


@contextmanager
def committing(deliver, **settings):
    committer = SpanCommitter(deliver, source="engines", **settings)
    committer.start()
    try:
        yield committer
    finally:
        deliver.gate.set()
        committer.stop()


@contextmanager
def waiting_together(deliver, committer, *requests):
    """Hold the delivery of one request, let `requests` queue behind it, and yield their futures."""
    deliver.gate.clear()
    with ThreadPoolExecutor(len(requests) + 1) as pool:
        pool.submit(committer.commit, lines_of(99))
        wait_until(lambda: len(deliver.groups) == 1)
        futures = []
        for request in requests:
            futures.append(pool.submit(committer.commit, request))
            wait_until(lambda: len(committer._waiting) == len(futures))
        deliver.gate.set()
        yield futures


def wait_until(condition):
    eventually(condition, what=lambda: "it did not happen", every=0.005)


def numbers(deliver):
    return [int(json.loads(line)["span_id"], 16) - 1 for line in deliver.lines]


@pytest.fixture
def deliver():
    return Deliveries()


def test_a_commit_returns_after_the_delivery(deliver):
    with committing(deliver) as committer:
        assert committer.commit(lines_of(1, 2)) == 0
        assert numbers(deliver) == [1, 2]


def test_nothing_to_deliver_needs_no_delivery(deliver):
    with committing(deliver) as committer:
        assert committer.commit(lines_of()) == 0
    assert deliver.groups == []


def test_a_request_is_one_frame_of_canonical_lines_at_its_place_in_the_stream(deliver):
    with committing(deliver) as committer:
        committer.commit(lines_of(1, 2))
        committer.commit(lines_of(3))
    first, second = deliver.frames
    assert {(frame.kind, frame.format, frame.source) for frame in deliver.frames} == {
        ("engine", FORMAT, "engines")
    }
    assert (first.offset, second.offset) == (0, len(first.payload))
    assert first.generation == second.generation
    assert first.payload == b"".join(line + b"\n" for line in lines_of(1, 2).lines)
    assert first.repeats == ()


def test_two_receivers_are_two_streams():
    generations = set()
    for _ in range(2):
        deliver = Deliveries()
        with committing(deliver) as committer:
            committer.commit(lines_of(1))
        generations.add(deliver.frames[0].generation)
    assert len(generations) == 2


def test_requests_that_wait_together_are_handed_over_together(deliver):
    requests = [lines_of(number) for number in range(20)]
    with committing(deliver) as committer, waiting_together(deliver, committer, *requests) as futures:
        assert [future.result(timeout=PATIENCE_SECONDS) for future in futures] == [0] * 20
    assert [len(group) for group in deliver.groups] == [1, 20]


def test_each_sender_hears_of_its_own_spans_that_could_not_be_expressed(deliver):
    requests = (lines_of(1), lines_of(2, bad=[3]), lines_of(bad=[4, 5]))
    with committing(deliver) as committer, waiting_together(deliver, committer, *requests) as futures:
        assert [future.result(timeout=PATIENCE_SECONDS) for future in futures] == [0, 1, 2]
    assert len(deliver.lines) == 6, "they go on as dead letters with a reason"


def test_each_sender_hears_what_the_delivery_knows_of_its_frame(deliver):
    class Knowing(Deliveries):
        def __call__(self, frames, /):
            super().__call__(frames)
            return [len(frame.payload.splitlines()) - 1 for frame in frames]

    knowing = Knowing()
    requests = (lines_of(1), lines_of(2, 3, 4), lines_of(5, 6))
    with committing(knowing) as committer, waiting_together(knowing, committer, *requests) as futures:
        assert [future.result(timeout=PATIENCE_SECONDS) for future in futures] == [0, 2, 1]


@pytest.mark.parametrize(
    "error", [AWAY, READ_ONLY, FULL, NO_DISK], ids=["away", "read-only", "full", "no disk"]
)
def test_what_takes_nothing_is_asked_once_for_all_who_wait(deliver, error):
    deliver.failures = [None, error]
    requests = (lines_of(1), lines_of(2))
    with committing(deliver) as committer, waiting_together(deliver, committer, *requests) as futures:
        assert [future.exception(timeout=PATIENCE_SECONDS) for future in futures] == [error, error]
        assert committer.commit(lines_of(1)) == 0
    assert [len(group) for group in deliver.groups] == [1, 2, 1]
    assert numbers(deliver) == [99, 1]


def test_a_request_that_is_refused_costs_nobody_else():
    class Picky(Deliveries):
        def __call__(self, frames, /):
            super().__call__(frames)
            if any(b'"span_id":"0000000000000004"' in frame.payload for frame in frames):
                del self.frames[-len(frames) :]
                raise ODD

    deliver = Picky()
    requests = [lines_of(1), lines_of(3), lines_of(2)]
    with committing(deliver) as committer, waiting_together(deliver, committer, *requests) as futures:
        assert futures[0].result(timeout=PATIENCE_SECONDS) == 0
        assert futures[1].exception(timeout=PATIENCE_SECONDS) is ODD
        assert futures[2].result(timeout=PATIENCE_SECONDS) == 0
    assert numbers(deliver) == [99, 1, 2]


def test_an_unforeseen_failure_is_a_reason_to_send_again(deliver, caplog):
    deliver.failures = [ZeroDivisionError("sum")]
    with committing(deliver) as committer, pytest.raises(StoreError, match="ZeroDivisionError"):
        committer.commit(lines_of(1))
    assert "unexpected" in caplog.text


def test_stop_delivers_what_waits_and_then_refuses(deliver):
    with committing(deliver) as committer:
        with waiting_together(deliver, committer, lines_of(1)) as futures:
            committer.stop()
            assert futures[0].result(timeout=PATIENCE_SECONDS) == 0
        with pytest.raises(StoreUnreachable, match="stopping"):
            committer.commit(lines_of(2))
    assert numbers(deliver) == [99, 1]


def test_a_committer_that_never_started_stops(deliver):
    SpanCommitter(deliver, source="engines").stop()


def at(number):
    return EPOCH + timedelta(microseconds=(START_NS + number * 10**9 + 337_679_147) // 1000)


def test_coverage_travels_with_the_spans_that_it_rests_on(deliver):
    with committing(deliver) as committer:
        committer.commit(lines_of(5))
        assert deliver.frames[-1].covered is None
        committer.commit(lines_of(3, 9))
    assert len(deliver.frames) == 2
    assert deliver.covered == [(at(3), at(9))]


def test_pieces_that_lie_apart_have_frames_of_their_own(deliver):
    with committing(deliver) as committer:
        committer.commit(lines_of(1, 2, 1001, 1002))
    assert [(bool(frame.payload), frame.covered is not None) for frame in deliver.frames] == [
        (True, True),
        (False, True),
    ]
    assert deliver.covered == [(at(1), at(2)), (at(1001), at(1002))]


def test_spans_that_were_refused_and_never_came_again_leave_a_gap(deliver):
    with committing(deliver) as committer:
        committer.commit(lines_of(1, 2))
        deliver.failures = [FULL]
        with pytest.raises(SpoolFull):
            committer.commit(lines_of(7, 8))
        committer.commit(lines_of(11, 12))
    assert deliver.covered == [(at(1), at(2)), (at(11), at(12))]


def test_spans_that_were_refused_and_came_again_leave_none(deliver):
    with committing(deliver) as committer:
        committer.commit(lines_of(1, 2))
        deliver.failures = [FULL, NO_DISK]
        for _ in range(2):
            with pytest.raises((SpoolFull, SpoolUnavailable)):
                committer.commit(lines_of(7, 8))
        committer.commit(lines_of(11, 12))
        committer.commit(lines_of(7, 8))
    assert deliver.covered == [(at(1), at(12))]


def test_a_receiver_that_was_killed_after_an_answer_goes_on_as_if_it_had_not_been(tmp_path, deliver):
    settings = {"note": tmp_path / "note", "monotonic": Clock()}
    with committing(deliver, **settings) as committer:
        committer.commit(lines_of(1, 2))
        kept = (tmp_path / "note").read_bytes()  # what a kill leaves
    (tmp_path / "note").write_bytes(kept)
    with committing(deliver, **settings) as committer:
        committer.commit(lines_of(40, 41))
    assert deliver.covered == [(at(1), at(41))]


def test_a_receiver_that_was_away_for_long_leaves_a_gap(tmp_path, deliver):
    settings = {"note": tmp_path / "note", "monotonic": Clock()}
    with committing(deliver, **settings) as committer:
        committer.commit(lines_of(1, 2))
    with committing(deliver, **settings) as committer:
        committer.commit(lines_of(100, 101))
    assert deliver.covered == [(at(1), at(2)), (at(100), at(101))]


def test_a_quiet_time_before_a_kill_counts_as_listened(tmp_path, deliver):
    clock = Clock()
    settings = {"note": tmp_path / "note", "monotonic": clock}
    with committing(deliver, **settings) as committer:
        committer.commit(lines_of(1, 2))
        clock.seconds += 3600
    with committing(deliver, **settings) as committer:
        committer.commit(lines_of(3600))
    assert deliver.covered == [(at(1), at(3600))]


def noted(text):
    return b"%08x %08d\n" % (zlib.crc32(text.encode()), len(text)) + text.encode()


@pytest.mark.parametrize(
    "note",
    [
        pytest.param(b"", id="an empty one"),
        pytest.param(b"rubbish", id="no note"),
        pytest.param(noted('{"pieces":[[5,9]],"quiet_seconds":0}')[:-9], id="half a note"),
        pytest.param(noted('{"pieces":[[5,9]],"quiet_seconds":0}').replace(b"9", b"8"), id="a changed note"),
        pytest.param(noted("[]"), id="another kind"),
        pytest.param(noted('{"pieces":[[2,1]],"quiet_seconds":0}'), id="an end before its start"),
        pytest.param(noted('{"pieces":[[3,4],[1,2]],"quiet_seconds":0}'), id="pieces out of order"),
        pytest.param(noted('{"pieces":[[1]],"quiet_seconds":0}'), id="half a piece"),
        pytest.param(noted('{"pieces":[[1,2]],"quiet_seconds":1e300}'), id="a quiet time that cannot be"),
        pytest.param(noted('{"pieces":[[1,2]],"quiet_seconds":NaN}'), id="no number"),
    ],
)
def test_a_note_that_cannot_be_used_is_none(tmp_path, note):
    (tmp_path / "note").write_bytes(note)
    assert ListeningNote(tmp_path / "note").read() == ([], 0.0)


def test_a_shorter_note_replaces_a_longer_one(tmp_path):
    note = ListeningNote(tmp_path / "note")
    note.write([(5, 9), (11, 12)], quiet_seconds=3.25)
    assert ListeningNote(tmp_path / "note").read() == ([(5, 9), (11, 12)], 3.25)
    note.write([(5, 13)], quiet_seconds=0)
    assert ListeningNote(tmp_path / "note").read() == ([(5, 13)], 0.0)


def test_a_note_that_cannot_be_written_costs_no_span(tmp_path, deliver):
    with committing(deliver, note=tmp_path / "nowhere" / "note") as committer:
        assert committer.commit(lines_of(1, 2)) == 0
        assert committer.commit(lines_of(3)) == 0
    assert numbers(deliver) == [1, 2, 3]


def test_json_is_what_is_delivered(deliver):
    with committing(deliver) as committer:
        committer.commit(lines_of(1))
    assert json.loads(deliver.lines[0])["request_id"] == "cmpl-req-3-0"
