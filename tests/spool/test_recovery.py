"""A spool after whatever happened to its files: cut at any byte, flipped at any byte, gone."""

import logging
import shutil
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.spool import Position, Spool, quarantine
from exporters.spool.records import END_BYTES, HEADER_BYTES, body_of, encode_frame
from exporters.spool.segments import HEAD_BYTES, head
from fairclock.errors import SpoolError, SpoolUnavailable
from tests.spool.factories import good_frame, offsets, opened, quarantined, segments, waiting

pytestmark = pytest.mark.usefixtures("without_sync")


def filled(directory, count, **settings):
    with opened(directory, **settings) as spool:
        for number in range(count):
            spool.append([good_frame(number)])


def record_bytes(number):
    return HEADER_BYTES + len(body_of(encode_frame(good_frame(number), appended_us=0)).data)


@pytest.fixture(scope="module")
def three_segments(tmp_path_factory):
    """Return (a spool of three segments, the numbers of the frames in each)."""
    directory = tmp_path_factory.mktemp("spool")
    filled(directory, 13)
    sizes = [path.stat().st_size for path in segments(directory)]
    ends = [0]
    for size in sizes:
        at, number = HEAD_BYTES, ends[-1]
        while at + record_bytes(number) <= size:
            at += record_bytes(number)
            number += 1
        ends.append(number)
    held = [list(range(*pair)) for pair in pairwise(ends)]
    assert ends[-1] == 13
    assert len(held) == 3
    assert [record_bytes(number) for number in (0, 12)] == [138, 141]
    return directory, held


def restored(tmp_path, original):
    shutil.rmtree(tmp_path / "spool", ignore_errors=True)
    shutil.copytree(original, tmp_path / "spool")
    return tmp_path / "spool"


def whole_records(numbers, size):
    """Return which of the frames lie whole in the first `size` bytes of their segment."""
    whole, at = [], HEAD_BYTES
    for number in numbers:
        at += record_bytes(number)
        if at <= size:
            whole.append(number)
    return whole


def test_the_last_segment_cut_at_every_byte_gives_every_whole_record_and_takes_more(tmp_path, three_segments):
    original, (first, second, third) = three_segments
    size = segments(original)[2].stat().st_size
    for length in range(size + 1):
        directory = restored(tmp_path, original)
        with segments(directory)[2].open("r+b") as file:
            file.truncate(length)
        kept = first + second + whole_records(third, length)
        with opened(directory) as spool:
            assert offsets(waiting(spool)) == kept
            spool.append([good_frame(99)])
            assert offsets(waiting(spool)) == [*kept, 99]
            assert spool.statistics(0).quarantined_segments == 0
        with opened(directory) as spool:
            assert offsets(waiting(spool)) == [*kept, 99]


@pytest.mark.parametrize("which", [0, 1])
def test_an_earlier_segment_cut_at_every_byte_costs_no_other_and_is_counted(
    tmp_path, three_segments, which, caplog
):
    caplog.set_level(logging.CRITICAL)
    original, held = three_segments
    size = segments(original)[which].stat().st_size
    for length in range(size):
        directory = restored(tmp_path, original)
        with segments(directory)[which].open("r+b") as file:
            file.truncate(length)
        kept = list(held)
        kept[which] = whole_records(held[which], length)
        with opened(directory) as spool:
            assert offsets(waiting(spool)) == [number for each in kept for number in each]
            assert spool.statistics(0).quarantined_segments == 1


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_byte_flipped_anywhere_costs_no_neighbouring_segment_and_is_counted(
    tmp_path, three_segments, which, caplog
):
    caplog.set_level(logging.CRITICAL)
    original, held = three_segments
    size = segments(original)[which].stat().st_size
    for at in range(size):
        directory = restored(tmp_path, original)
        path = segments(directory)[which]
        data = bytearray(path.read_bytes())
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
        with opened(directory) as spool:
            found = offsets(waiting(spool))
            statistics = spool.statistics(0)
            spool.append([good_frame(99)])
            assert offsets(waiting(spool)) == [*found, 99]
        assert found == sorted(found), at
        assert statistics.quarantined_segments == 1, at
        for other in {0, 1, 2} - {which}:
            assert set(held[other]) <= set(found), at
        if at >= HEAD_BYTES:
            damaged = next((n for n in held[which] if at < HEAD_BYTES + ends_of(held[which])[n]), None)
            before = [number for number in held[which] if damaged is None or number < damaged]
            assert set(before) <= set(found), at
            assert damaged not in found, at
            assert statistics.quarantined_bytes > 0, at


def ends_of(numbers):
    ends, at = {}, 0
    for number in numbers:
        at += record_bytes(number)
        ends[number] = at
    return ends


def test_damage_in_a_body_costs_that_frame_alone(tmp_path, three_segments):
    original, held = three_segments
    directory = restored(tmp_path, original)
    path = segments(directory)[1]
    data = bytearray(path.read_bytes())
    data[HEAD_BYTES + HEADER_BYTES + 50] ^= 255
    path.write_bytes(data)
    lost = held[1][0]
    with opened(directory) as spool:
        assert offsets(waiting(spool)) == [number for number in range(13) if number != lost]
        statistics = spool.statistics(0)
    assert (statistics.quarantined_segments, statistics.quarantined_bytes) == (1, record_bytes(lost))


def test_of_a_damaged_segment_a_note_stays_when_the_rest_was_delivered_and_it_stays_counted(
    tmp_path, three_segments, caplog
):
    original, held = three_segments
    directory = restored(tmp_path, original)
    path = segments(directory)[1]
    data = bytearray(path.read_bytes())
    data[HEAD_BYTES + record_bytes(held[1][0]) + 3] ^= 1  # the second record's header
    damaged = len(data) - HEAD_BYTES - record_bytes(held[1][0]) - END_BYTES
    path.write_bytes(data)
    with opened(directory) as spool:
        frames, position = spool.read(spool.position, max_bytes=1 << 30)
        assert offsets(frames) == held[0] + held[1][:1] + held[2]
        assert f"damaged ({damaged} bytes at" in caplog.text
        spool.acknowledge(position)
        assert spool.statistics(0).quarantined_bytes == damaged
    (note,) = quarantined(directory)
    assert note.read_text().startswith(f"a segment of {len(data)} bytes; not readable: {damaged} bytes at ")
    assert b"time" in data
    assert b"time" not in note.read_bytes()
    with opened(directory) as spool:
        statistics = spool.statistics(0)
        assert (statistics.quarantined_segments, statistics.quarantined_bytes) == (1, damaged)


def test_quarantine_is_bounded_and_the_oldest_goes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(quarantine, "_MOST_NOTES", 2)
    directory = tmp_path / "spool"
    filled(directory, 60)
    paths = segments(directory)
    for path in paths[:4]:
        data = bytearray(path.read_bytes())
        data[HEAD_BYTES] ^= 1
        path.write_bytes(data)
    with opened(directory) as spool:
        spool.acknowledge(spool.read(spool.position, max_bytes=1 << 30)[1])
        assert [path.name[:20] for path in quarantined(directory)] == [path.stem for path in paths[2:4]]
        assert spool.statistics(0).quarantined_segments == 2


def test_a_segment_that_a_kill_left_in_quarantine_as_it_was_is_emptied(tmp_path):
    (tmp_path / "quarantine").mkdir(parents=True)
    left = tmp_path / "quarantine" / "00000000000000000003.17-damaged"
    left.write_bytes(b"a line with a secret")
    with opened(tmp_path) as spool:
        statistics = spool.statistics(0)
    assert (statistics.quarantined_segments, statistics.quarantined_bytes) == (1, 17)
    assert b"secret" not in left.read_bytes()


@pytest.mark.parametrize("which", [0, 1])
def test_a_segment_that_is_gone_costs_no_other_and_is_counted(tmp_path, three_segments, which, caplog):
    original, held = three_segments
    directory = restored(tmp_path, original)
    with opened(directory) as spool:  # the note says that delivery begins with the first
        spool.acknowledge(Position(1, HEAD_BYTES + record_bytes(0), 1))
    segments(directory)[which].unlink()
    with opened(directory) as spool:
        kept = {0: held[1] + held[2], 1: held[0][1:] + held[2]}
        assert offsets(waiting(spool)) == kept[which]
        assert spool.statistics(0).missing_segments == 1
    assert "1 segments are gone" in caplog.text


@given(data=st.data())
def test_any_damage_to_the_note_costs_a_second_delivery_at_most(tmp_path_factory, data):
    directory = tmp_path_factory.mktemp("spool")
    filled(directory, 10)
    with opened(directory) as spool:
        for _ in range(2):
            spool.acknowledge(spool.read(spool.position, max_bytes=1)[1])
    note = directory / "delivered"
    content = bytearray(note.read_bytes())
    for at in data.draw(st.lists(st.integers(0, 600), min_size=1, max_size=4)):
        content[at] ^= data.draw(st.integers(1, 255))
    note.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with opened(directory) as spool:
        found = offsets(waiting(spool))
        assert found == list(range(found[0], 10))
        assert found[0] <= 2
        spool.acknowledge(spool.read(spool.position, max_bytes=1 << 30)[1])
    with opened(directory) as spool:
        assert waiting(spool) == []


def test_a_note_that_lies_about_a_place_begins_with_the_segment(tmp_path):
    filled(tmp_path, 5)
    with opened(tmp_path) as spool:
        spool._cursor.note(Position(1, HEAD_BYTES + 7, 0))
    with opened(tmp_path) as spool:
        assert offsets(waiting(spool)) == [0, 1, 2, 3, 4]


def test_segments_whose_removal_a_kill_prevented_are_removed(tmp_path):
    filled(tmp_path, 13)
    data = bytearray(segments(tmp_path)[0].read_bytes())
    data[HEAD_BYTES + HEADER_BYTES] ^= 1
    segments(tmp_path)[0].write_bytes(data)
    with opened(tmp_path) as spool:
        spool._cursor.note(Position(3))
    with opened(tmp_path) as spool:
        assert len(segments(tmp_path)) == 1
        assert len(quarantined(tmp_path)) == 1
        assert spool.statistics(0).missing_segments == 0


def test_a_kill_while_the_last_segment_is_removed_is_no_damage(tmp_path):
    filled(tmp_path, 13)
    with opened(tmp_path) as spool:
        spool._cursor.note(Position(4))
    with opened(tmp_path) as spool:
        assert segments(tmp_path) == quarantined(tmp_path) == []
        assert spool.statistics(0).quarantined_segments == 0
        spool.append([good_frame(13)])
        assert offsets(waiting(spool)) == [13]
        assert [path.stem[-1] for path in segments(tmp_path)] == ["4"]


def test_a_note_that_lost_its_latest_slot_is_no_reason_to_miss_segments(tmp_path):
    filled(tmp_path, 13)
    with opened(tmp_path) as spool:
        spool._cursor.note(Position(1, HEAD_BYTES, 0))
        while spool.position.segment < 3:
            spool.acknowledge(spool.read(spool.position, max_bytes=1)[1])
        latest = spool._cursor._serial % 2 * 512
    note = tmp_path / "delivered"
    content = bytearray(note.read_bytes())
    content[latest] ^= 1
    note.write_bytes(content)
    with opened(tmp_path) as spool:
        assert spool.statistics(0).missing_segments == 0


def test_a_newer_spool_is_refused_and_untouched(tmp_path):
    filled(tmp_path, 3)
    path = segments(tmp_path)[0]
    data = head(1, version=2) + path.read_bytes()[HEAD_BYTES:]
    path.write_bytes(data)
    with pytest.raises(SpoolError, match="newer Fairclock"):
        opened(tmp_path)
    assert path.read_bytes() == data


def test_a_spool_is_opened_once(tmp_path):
    with opened(tmp_path), pytest.raises(SpoolUnavailable, match="another process uses it"):
        opened(tmp_path)
    opened(tmp_path).close()


def test_a_folder_that_is_none_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SpoolUnavailable, match=r"the spool's folder cannot be used \(.*\); check the disk"):
        opened(tmp_path / "file" / "spool")


def test_files_of_others_are_left_alone(tmp_path):
    filled(tmp_path, 3)
    (tmp_path / "segments" / "notes.txt").write_text("mine")
    (tmp_path / "quarantine" / "notes.txt").write_text("mine")
    with opened(tmp_path) as spool:
        assert offsets(waiting(spool)) == [0, 1, 2]
    assert (tmp_path / "segments" / "notes.txt").exists()


def test_a_limit_without_room_for_two_segments_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no room for two segments"):
        Spool(tmp_path, limit_bytes=100, segment_bytes=60)
