"""Answers are taken apart alike however their bytes are cut."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_probe.prober.http_answers import HttpAnswer, NotHttp

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n6\r\n world\r\n0\r\nX-T: 1\r\n\r\n"
LENGTH = b"HTTP/1.1 201 Created\r\ncontent-length: 11\r\n\r\nhello world"
CLOSED = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello world"


def taken(pieces, *, ends=True):
    body = []
    read = HttpAnswer(body.append)
    for piece in pieces:
        read.feed(piece)
    if ends:
        read.end()
    return read, b"".join(body)


@pytest.mark.parametrize(
    ("data", "status", "keeps_open"),
    [
        pytest.param(CHUNKED, 200, True, id="chunks with an extension and a trailer"),
        pytest.param(LENGTH, 201, True, id="a length, its name in small letters"),
        pytest.param(CLOSED, 200, False, id="to the end of the connection"),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\n" + LENGTH, 201, True, id="an informational answer first"
        ),
        pytest.param(LENGTH.replace(b"1.1", b"1.0"), 201, False, id="HTTP/1.0 closes"),
    ],
)
def test_the_body_is_the_same_however_the_bytes_are_cut(data, status, keeps_open):
    for cut in range(1, len(data)):
        read, body = taken([data[:cut], data[cut:]])
        assert (read.status, body, read.is_whole, read.keeps_open) == (
            status,
            b"hello world",
            True,
            keeps_open,
        )
    assert taken([data[at : at + 1] for at in range(len(data))])[1] == b"hello world"


@pytest.mark.parametrize(
    ("data", "body"),
    [
        pytest.param(LENGTH[:-1], b"hello worl", id="a byte of the length is missing"),
        pytest.param(CHUNKED[:-2], b"hello world", id="the last empty line is missing"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: ", b"", id="the head breaks off"),
        pytest.param(b"", b"", id="nothing came"),
    ],
)
def test_what_breaks_off_is_never_whole(data, body):
    read, found = taken([data])
    assert (found, read.is_whole) == (body, False)


def test_what_comes_after_an_answer_costs_the_connection():
    read, body = taken([LENGTH + b"HTTP/1.1 200"])
    assert (body, read.is_whole, read.keeps_open) == (b"hello world", True, False)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"SSH-2.0-x\r\n\r\n", id="another protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", id="a negative length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="a chunk without a size"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", id="a chunk that is longer than it says"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nabc\r\n", id="a chunk of less than nothing"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n", id="a chunk size as Python writes it"),
        pytest.param(b"HTTP/1.1 \xb2\xb2\xb2 OK\r\n\r\n", id="a status of superscripts"),
        pytest.param(b"HTTP/1.1 99999 OK\r\n\r\n", id="a status of five digits"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", id="a length of five thousand digits"),
        pytest.param(b"x" * 70_000, id="a head without an end"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(data):
    with pytest.raises(NotHttp):
        taken([data])


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail_in_another_way(data):
    with contextlib.suppress(NotHttp):
        taken([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", data])
