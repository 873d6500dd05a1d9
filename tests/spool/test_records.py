"""Frames as bytes: what goes in comes out, and nothing else passes for a frame."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.spool.records import (
    Found,
    Type,
    appended_us,
    body_of,
    decode_frame,
    encode_frame,
    end_body,
    end_of,
    header,
    walk,
)
from fairclock.model import Frame
from tests.spool.factories import good_frame

NUMBERS = st.integers(0, 2**32 - 1)
INSTANTS = st.integers(-(2**62), 2**62)
FRAMES = st.builds(
    Frame,
    kind=st.sampled_from(["gateway", "engine"]),
    format=st.text(max_size=20),
    source=st.text(max_size=20),
    generation=st.text(max_size=60),
    offset=st.integers(0, 2**64 - 1),
    payload=st.binary(max_size=300),
    repeats=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=5).map(tuple),
    covered=st.none() | st.tuples(INSTANTS, INSTANTS).map(lambda pair: tuple(sorted(pair))),
)


@given(FRAMES, st.integers(0, 2**63))
def test_a_frame_comes_back_as_it_was(frame, now_us):
    data = encode_frame(frame, appended_us=now_us)
    assert decode_frame(data) == frame
    assert appended_us(data) == now_us


@given(st.binary(max_size=200))
def test_other_bytes_are_a_frame_or_a_value_error(data):
    try:
        frame = decode_frame(data)
    except ValueError:
        return
    assert isinstance(frame, Frame)


@pytest.mark.parametrize("name", ["format", "source", "generation"])
def test_a_name_that_is_too_long_is_refused(name):
    with pytest.raises(ValueError, match="longer than 65535 bytes"):
        encode_frame(good_frame(**{name: "ä" * 40_000}), appended_us=0)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"offset": -1}, id="an offset before the beginning"),
        pytest.param({"covered": (2, 1)}, id="coverage that ends before it starts"),
    ],
)
def test_a_frame_that_cannot_be_is_refused(changes):
    with pytest.raises(ValueError):
        good_frame(**changes)


def test_a_closing_record_says_how_many_and_where():
    assert end_of(end_body(frames=7, at=1234).data) == (7, 1234)


@pytest.fixture
def walked(tmp_path):
    def walk_over(data, *, segment=1):
        path = tmp_path / "segment"
        path.write_bytes(data)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            steps = list(walk(descriptor, segment=segment, start=0, end=len(data)))
        finally:
            os.close(descriptor)
        return [step.found for step in steps], steps

    return walk_over


def record(data, kind=Type.FRAME, segment=1):
    body = body_of(data)
    return header(kind, body, segment=segment) + body.data


ONE, TWO = record(b"one"), record(b"two")
FRAME, DAMAGED, BROKEN, TORN = Found.FRAME, Found.DAMAGED, Found.BROKEN, Found.TORN


@pytest.mark.parametrize(
    ("data", "found"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(ONE + TWO, [FRAME, FRAME], id="two records"),
        pytest.param(ONE[:-1] + b"!" + TWO, [DAMAGED, FRAME], id="damage in a body costs that record"),
        pytest.param(ONE + TWO[:-1] + b"!", [FRAME, DAMAGED], id="damage in the last body is not a torn end"),
        pytest.param(b"\0" + ONE[1:] + TWO, [BROKEN], id="damage in a header costs the rest"),
        pytest.param(ONE + TWO[:-1], [FRAME, TORN], id="half a body is a torn end"),
        pytest.param(ONE + TWO[:5], [FRAME, TORN], id="half a header is a torn end"),
        pytest.param(ONE + TWO[:1], [FRAME, TORN], id="one byte is a torn end"),
        pytest.param(ONE + bytes(5), [FRAME, BROKEN], id="a few zeros are not"),
        pytest.param(ONE + bytes(500), [FRAME, BROKEN], id="many zeros are not"),
        pytest.param(ONE + record(b"two", segment=2), [FRAME, BROKEN], id="another segment's record is none"),
        pytest.param(
            ONE + record(b"", Type.END) + TWO, [FRAME, Found.END], id="nothing follows the closing record"
        ),
    ],
)
def test_a_walk_says_what_is_there(walked, data, found):
    assert walked(data)[0] == found


def test_a_walk_covers_every_byte_once(walked):
    _, steps = walked(ONE + TWO[:-1] + b"!" + ONE + b"rubbish that is longer than a header")
    ends = [0] + [step.end for step in steps]
    assert [step.start for step in steps] == ends[:-1]
    assert ends[-1] == 3 * len(ONE) + 36


def test_a_record_of_a_type_nobody_knows_is_damage(walked):
    assert walked(record(b"new", 9) + TWO)[0] == [DAMAGED, FRAME]
