"""Logs of every format are followed as an import would read them: formats, numbers, event time."""

import logging

import pytest

from collectors.gateway.formats import format_of
from collectors.gateway.formats.times import us_of_seconds
from collectors.gateway.occurrences import Occurrences
from collectors.gateway.syslog.streams import Framing, Received, Stream
from collectors.gateway.tailing import Tailer
from tests.gateways.reading import FIXTURES, lines_of
from tests.tailing.rig import rows_of

NAMES = sorted(path.stem for path in FIXTURES.glob("*.log"))
SHIPPED = b'{"time":"1796025600.100","request_id":"a","status":"200","request_time":"0.500"}'
NOW_US = 1_796_100_000_000_000


class Following:
    """A tail on one file, which can be stopped and begun again."""

    def __init__(self, folder, **settings):
        self.path = folder / "access.log"
        self.checkpoint = folder / "tails"
        self.settings = settings
        self.frames = []

    def write(self, *lines):
        with self.path.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in lines))

    def follow(self, **settings):
        tail = Tailer(
            [str(self.path)], source="gateway", checkpoint_directory=self.checkpoint, deliver=self.frames.extend,
            **(self.settings | settings),
        )  # fmt: skip
        with tail:
            while tail.poll(NOW_US):
                pass
        return self


@pytest.fixture
def following(tmp_path):
    return Following(tmp_path)


def imported(form, lines):
    first, again = Occurrences(form).split(list(lines))
    return {(line, 0) for line in first} | {(line, k) for k, some in again.items() for line in some}


@pytest.mark.parametrize("name", NAMES)
def test_a_log_is_followed_in_the_format_that_it_is_in(following, name, caplog):
    lines, form = lines_of(name), format_of(name)
    with caplog.at_level(logging.INFO):
        following.write(*lines, lines[0])
        following.follow()
    assert {frame.format for frame in following.frames} == {form.full_name}
    assert f"is read as {name}: " in caplog.text
    assert set(rows_of(following.frames)) == imported(form, [*lines, lines[0]])
    ended_us = [us for line in lines if (us := form.ended_us(line)) is not None]
    covered = [frame.covered for frame in following.frames if frame.covered is not None]
    assert covered == ([(ended_us[0], max(ended_us))] if ended_us[0] < max(ended_us) else [])


@pytest.mark.parametrize("name", NAMES)
def test_equal_lines_are_numbered_on_across_a_restart(following, name):
    first, *others = lines_of(name)
    form = format_of(name)
    following.write(first, *others)
    following.follow()
    following.write(first, b"garbage", first)
    following.follow()
    assert set(rows_of(following.frames)) == imported(form, [first, *others, first, b"garbage", first])
    assert {frame.format for frame in following.frames} == {form.full_name}


def test_what_is_none_at_first_is_looked_at_again(following):
    following.write(b"nginx: started")
    following.follow()
    following.write(*lines_of("envoy"))
    following.follow()
    assert [frame.format for frame in following.frames] == ["nginx-json", "envoy"]


def test_a_log_in_doubt_is_left_alone_until_its_format_is_named(following, caplog):
    following.write(SHIPPED, *lines_of("envoy"))
    following.follow()
    assert following.frames == []
    assert "more than one format is possible" in caplog.text
    following.follow(log_format="envoy")
    assert {frame.format for frame in following.frames} == {"envoy"}
    assert len(rows_of(following.frames)) == 1 + len(lines_of("envoy"))


def test_a_log_format_travels_with_its_frames(following):
    following.write(b"1796025600.123 200 0.450")
    following.follow(log_format="nginx:$msec $status $request_time")
    (frame,) = following.frames
    assert format_of(frame.format).read(frame.payload.strip())["request_time"] == "0.450"


@pytest.mark.parametrize("name", NAMES)
def test_a_syslog_stream_is_read_in_the_format_that_it_is_in(name):
    framing, stream = Framing(source="gateway"), Stream()
    messages = [
        b"<134>Nov 30 08:00:00 lb1 gateway[7]: " + line
        for line in lines_of(name)
        if not line.startswith(b"#")
    ]
    frames = framing.frames(
        [Received(stream=stream, messages=messages)], now_us=NOW_US, monotonic_seconds=0.0
    )
    assert {frame.format for frame in frames} == {name}
    form = format_of(name)
    times = sorted(
        us_of_seconds(form.read(line)["time"])
        for line, _ in rows_of([frame for frame in frames if frame.payload])
        if form.ended_us(line)
    )
    covered = [frame.covered for frame in frames if frame.covered]
    assert covered[0][0] == times[0] if covered else times[0] == times[-1]
    assert all(instant in times for interval in covered for instant in interval)


def test_a_syslog_stream_in_doubt_becomes_dead_letters_and_says_so(caplog):
    frames = Framing(source="gateway").frames(
        [Received(stream=Stream(), messages=[SHIPPED, *lines_of("envoy")])],
        now_us=NOW_US,
        monotonic_seconds=0.0,
    )
    assert {frame.format for frame in frames} == {"nginx-json"}
    assert "more than one format is possible" in caplog.text
