"""How a stream of bytes becomes lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.lines import LONGEST_LINE_BYTES, LineSplitter


def lines_of(*chunks: bytes) -> list[bytes]:
    splitter = LineSplitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines + splitter.finish()


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        pytest.param(b"", [], id="an empty stream has no lines"),
        pytest.param(b"a\nb\n", [b"a", b"b"], id="a newline ends a line"),
        pytest.param(b"a\nb", [b"a", b"b"], id="a last line without a newline is a line"),
        pytest.param(b"a\r\nb\r\n", [b"a", b"b"], id="CRLF ends a line"),
        pytest.param(b"a\nb\r", [b"a", b"b"], id="a CR at the very end is no content"),
        pytest.param(b"a\rb\n", [b"a\rb"], id="a CR alone ends nothing"),
        pytest.param(b"a\n\nb\n", [b"a", b"", b"b"], id="an empty line is a line"),
        pytest.param(b"\0\0\0a\nb\n", [b"a", b"b"], id="NULs before a line are dropped"),
        pytest.param(b"a\n\0\0\0\nb\n", [b"a", b"b"], id="a line of NULs only is none"),
        pytest.param(b"a\0\0\0b\n", [b"a", b"b"], id="NULs inside a line part two lines"),
        pytest.param(b"a\0\0", [b"a"], id="NULs at the end of the stream are dropped"),
        pytest.param(b"\0", [], id="a stream of NULs has no lines"),
        pytest.param(b"\xef\xbb\xbfa\nb", [b"a", b"b"], id="a byte order mark is no content"),
        pytest.param(b"a\n\xef\xbb\xbfb", [b"a", b"\xef\xbb\xbfb"], id="a mark later on is content"),
        pytest.param(b"\xff\xfe\n", [b"\xff\xfe"], id="bytes that are not UTF-8 pass"),
    ],
)
def test_lines(stream, lines):
    assert lines_of(stream) == lines
    assert lines_of(*(stream[at : at + 1] for at in range(len(stream)))) == lines


@given(
    st.lists(st.sampled_from([b"\0", b"\n", b"\r", b"a", b"bc", b"\xef", b"\xbb", b"\xbf", b"{}"])),
    st.data(),
)
def test_chunks_never_change_the_lines(tokens, data):
    stream = b"".join(tokens)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert lines_of(*chunks) == lines_of(stream)


LONG = b"{" + b"x" * LONGEST_LINE_BYTES


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(b"a\n" + LONG + b"\nb\n", id="between two lines"),
        pytest.param(b"a\n" + LONG * 3 + b"\0b\n", id="before a NUL"),
        pytest.param(b"a\n" + LONG + b"\r\nb", id="before a CRLF"),
    ],
)
@pytest.mark.parametrize("size", [1 << 22, 1 << 16, 1000], ids="in chunks of {}".format)
def test_a_line_that_is_too_long_becomes_an_excerpt(stream, size):
    first, cut, last = lines_of(*(stream[at : at + size] for at in range(0, len(stream), size)))
    assert (first, last) == (b"a", b"b")
    assert cut == b"{" + b"x" * 999 + b" [cut: the line is too long]"


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"", b"\r"], ids=repr)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["no mark", "byte order mark"])
@pytest.mark.parametrize("size", [1 << 22, 4097], ids="in chunks of {}".format)
def test_the_longest_line_is_kept_whole(ending, mark, size):
    line = b"x" * LONGEST_LINE_BYTES
    stream = mark + line + ending
    assert lines_of(*(stream[at : at + size] for at in range(0, len(stream), size))) == [line]


def test_a_gigabyte_of_nuls_takes_no_memory():
    splitter = LineSplitter()
    for _ in range(1000):
        assert splitter.feed(b"\0" * (1 << 20)) == []
        assert len(splitter._carry) <= 2
    assert splitter.feed(b"a\n") == [b"a"]
