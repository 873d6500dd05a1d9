"""How frames travel: exactly as they were, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.forwarding.batches import decode_batch, encode_batch
from fairclock.model import Frame
from tests.spool.factories import good_frame

NUMBERS = st.integers(min_value=0, max_value=2**32 - 1)
INSTANTS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
FRAMES = st.builds(
    Frame,
    kind=st.sampled_from(["gateway", "engine"]),
    format=st.text(max_size=20),
    source=st.text(max_size=20),
    generation=st.text(max_size=40),
    offset=st.integers(min_value=0, max_value=2**64 - 1),
    payload=st.binary(max_size=300),
    repeats=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=4).map(tuple),
    covered=st.none() | st.tuples(INSTANTS, INSTANTS).map(lambda pair: (min(pair), max(pair))),
)


@given(st.lists(FRAMES, max_size=6))
def test_frames_arrive_as_they_were_sent(frames):
    assert decode_batch(encode_batch(frames, sent_us=1)) == frames


BODY = encode_batch([good_frame(number) for number in range(3)], sent_us=1)


@pytest.mark.parametrize("length", range(len(BODY)))
def test_a_body_that_was_cut_anywhere_is_refused(length):
    with pytest.raises(ValueError, match="the batch"):
        decode_batch(BODY[:length])


@pytest.mark.parametrize("at", range(len(BODY)))
def test_a_body_with_any_byte_changed_is_refused(at):
    changed = bytearray(BODY)
    changed[at] ^= 0x20
    with pytest.raises(ValueError, match=r"the batch|not a frame"):
        decode_batch(bytes(changed))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(BODY + b"\n", id="a byte too many"),
        pytest.param(BODY + BODY, id="two bodies"),
        pytest.param(BODY[:200] + BODY[100:], id="a piece repeated"),
        pytest.param(b"<html>", id="something else"),
        pytest.param(
            encode_batch([good_frame(0)], sent_us=1)[:-32] + encode_batch([], sent_us=1)[-32:],
            id="the end of another body",
        ),
    ],
)
def test_a_body_that_is_more_or_less_than_one_batch_is_refused(body):
    with pytest.raises(ValueError, match="the batch"):
        decode_batch(body)
