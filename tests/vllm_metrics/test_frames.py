"""A scrape goes through a frame as it is, and comes out as lines that the store can take."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from collectors.vllm_metrics.exposition import parse
from collectors.vllm_metrics.frames import Scrape, decode, encode, frame_of
from collectors.vllm_metrics.lines import MOST_BAD, label_text, lines_of
from exporters.spool.records import decode_frame, encode_frame
from tests.vllm_metrics.writing import LABEL_VALUES

ANY_TEXT = st.text(max_size=8)
SCRAPES = st.builds(
    Scrape,
    target=ANY_TEXT,
    at_us=st.integers(-(2**62), 2**62),
    content=st.binary(max_size=80),
    content_type=st.none() | ANY_TEXT,
    labels=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2),
    failure=ANY_TEXT,
    took_us=st.none() | st.integers(0, 10**9),
)


@given(scrape=SCRAPES)
def test_a_scrape_comes_back_from_its_frame(scrape):
    assert decode(encode(scrape)) == scrape


@given(scrape=SCRAPES)
def test_every_scrape_becomes_lines_of_json(scrape):
    lines = lines_of(scrape)
    for line in (*lines.samples, *lines.bad, *lines.histograms):
        assert b"\n" not in line.text
        assert json.loads(line.text)["at"] == str(scrape.at_us)


def test_lone_halves_of_characters_are_replaced():
    lines = lines_of(Scrape(target="a\ud800", at_us=1, content=b"m 1\n", labels={"zone\udfff": "\ud800"}))
    first = json.loads(lines.samples[0].text)
    assert (first["target"], first["labels"]) == ("a?", '"zone?"="?"')


@given(
    labels=st.dictionaries(
        LABEL_VALUES.filter(bool).filter(lambda name: name != "__name__"), LABEL_VALUES, max_size=3
    )
)
def test_labels_are_written_so_that_they_can_be_read(labels):
    ordered = tuple(sorted(labels.items()))
    found = parse(f"m{{{label_text(ordered)}}} 1\n".encode())
    assert [sample.labels for sample in found.samples] == [ordered]


def test_bad_lines_of_one_scrape_have_a_limit():
    lines = lines_of(Scrape(target="a", at_us=1, content=b"?\n" * (MOST_BAD + 7)))
    assert (len(lines.bad), lines.ignored) == (MOST_BAD, 7)


def test_a_frame_says_what_it_covers_and_where_it_is_from():
    frame = frame_of(Scrape(target="a:8000", at_us=5), source="vllm", covered=(1, 5))
    assert (frame.kind, frame.format, frame.source, frame.covered) == ("sample", "metrics", "vllm", (1, 5))
    assert frame.generation.endswith("/a:8000")
    assert decode_frame(encode_frame(frame, appended_us=7)) == frame
