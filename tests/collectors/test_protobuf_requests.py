"""OTLP in protobuf as it is met: spans that the parser refuses, and bodies that are something else."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from collectors.otlp.problems import MalformedRequest
from collectors.otlp.protobuf import decode_protobuf
from tests.collectors.otlp_requests import good_span, json_of, request_of


def broken(span):
    """Return a request of three spans of which `span`, the middle one, is no valid message."""
    body = request_of(good_span(), good_span(1, name="REPLACE-ME"), good_span(2)).SerializeToString()
    return body.replace(b"REPLACE-ME", span)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(b"REPLACE-M\xff", id="a name that is no UTF-8"),
        pytest.param(b"\xc3\x28EPLACE-M", id="cut in two"),
    ],
)
def test_a_span_that_protobuf_refuses_costs_no_neighbour(name):
    result = decode_protobuf(broken(name))
    lines = [json.loads(line) for line in result.lines]
    assert [line.get("span_id") for line in lines] == ["0000000000000001", None, "0000000000000003"]
    assert lines[1] == {"bad": "not readable as a span", "instance": "gpu-1:4242"}


def field(number, data):
    """Return a length-delimited field."""
    return bytes([number << 3 | 2, len(data) & 0x7F | 0x80, len(data) >> 7]) + data


def test_a_value_nested_too_deeply_for_protobuf_costs_no_neighbour():
    value = AnyValue(string_value="deep").SerializeToString()
    for _ in range(150):
        value = field(6, field(1, field(1, b"k") + field(2, value)))
    spans = [good_span(number).SerializeToString() for number in range(3)]
    spans[1] += field(9, field(1, b"gen_ai.prompt") + field(2, value))
    lines = [
        json.loads(line)
        for line in decode_protobuf(field(1, b"".join(field(2, field(2, each)) for each in spans))).lines
    ]
    assert [line.get("span_id") for line in lines] == ["0000000000000001", None, "0000000000000003"]
    assert lines[1] == {"bad": "not readable as a span"}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"hello", id="text"),
        pytest.param(json_of(request_of(good_span())), id="JSON"),
        pytest.param(request_of(good_span()).SerializeToString()[:-3], id="a request cut short"),
        pytest.param(b"\x0a\xff\xff\xff\xff\x0f", id="a claim of four gigabytes"),
        pytest.param(b"\x0a" + b"\xff" * 20, id="a length without an end"),
        pytest.param(b"\x10\x01", id="a message of another kind"),
    ],
)
def test_protobuf_that_is_no_request(body):
    with pytest.raises(MalformedRequest):
        decode_protobuf(body)


@given(st.binary(max_size=400))
def test_no_bytes_make_the_protobuf_reader_fail_in_another_way(body):
    with contextlib.suppress(MalformedRequest):
        decode_protobuf(body)


@given(st.data())
def test_a_damaged_request_never_fails_in_another_way(data):
    body = bytearray(request_of(good_span(), good_span(1)).SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        lines = decode_protobuf(bytes(body)).lines
    except MalformedRequest:
        return
    for line in lines:
        json.loads(line)
