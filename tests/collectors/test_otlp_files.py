"""What becomes of OTLP in files: in JSON and protobuf, one request and many, whole and broken."""

import gzip
import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors import byte_streams
from collectors.otlp import file_requests
from collectors.otlp.files import ingest_otlp_files, read_otlp_files
from fairclock.errors import InputError
from fairclock.model import Interval
from tests.collectors.memory_store import EPOCH, MemoryStore
from tests.collectors.otlp_requests import START_NS, good_span, json_of, request_of


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def write(tmp_path):
    def write(content, name="spans"):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


def read(store, *paths, **settings):
    return ingest_otlp_files(store, paths, source="engines", **settings)


def bare(found):
    return {
        name: getattr(found, name)
        for name in ("read", "stored", "duplicates", "ignored", "dead_letters")
        if getattr(found, name)
    }


def request(*numbers):
    return request_of(*(good_span(number) for number in numbers))


def ended(number):
    return EPOCH + timedelta(microseconds=(START_NS + number * 10**9 + 337_679_147) // 1000)


ONE, TWO = json_of(request(1, 2)), json_of(request(3))
PRETTY = json.dumps(json.loads(ONE), indent=2).encode()
WIRE = request(1, 2).SerializeToString()
OTHER = json_of(request_of(good_span(name="http"), good_span(name="db")))
BAD = json_of(request_of(good_span(1), good_span(2, attributes={"gen_ai.latency.e2e": float("nan")})))
TINY = request_of(good_span(1, attributes={"gen_ai.request.id": None})).SerializeToString()


FOREIGN_LOG = (
    b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"stringValue":"hello"}}]}]}]}'
)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(ONE, {"read": 2, "stored": 2}, id="one request in JSON"),
        pytest.param(PRETTY, {"read": 2, "stored": 2}, id="one request in JSON over many lines"),
        pytest.param(b"\n\n" + PRETTY, {"read": 2, "stored": 2}, id="JSON after empty lines"),
        pytest.param(b"\xef\xbb\xbf" + ONE, {"read": 2, "stored": 2}, id="JSON after a byte order mark"),
        pytest.param(ONE + b"\n" + TWO + b"\n", {"read": 3, "stored": 3}, id="requests line by line"),
        pytest.param(ONE + b"\r\n\r\n" + TWO, {"read": 3, "stored": 3}, id="with CRLF and empty lines"),
        pytest.param(gzip.compress(ONE + b"\n" + TWO), {"read": 3, "stored": 3}, id="in gzip"),
        pytest.param(WIRE, {"read": 2, "stored": 2}, id="one request in protobuf"),
        pytest.param(gzip.compress(WIRE), {"read": 2, "stored": 2}, id="protobuf in gzip"),
        pytest.param(
            b"".join(len(each).to_bytes(4) + each for each in (WIRE, request(3).SerializeToString())),
            {"read": 3, "stored": 3},
            id="requests in protobuf, each after its length",
        ),
        pytest.param(ONE + b"\n" + OTHER, {"read": 4, "stored": 2, "ignored": 2}, id="spans of others"),
        pytest.param(
            ONE + b"\n" + FOREIGN_LOG, {"read": 3, "stored": 2, "ignored": 1}, id="logs of a Collector"
        ),
        pytest.param(OTHER, {"read": 2, "ignored": 2}, id="spans of others only"),
        pytest.param(b'{"resourceSpans":[]}', {}, id="a request without spans"),
        pytest.param(BAD, {"read": 2, "stored": 1, "dead_letters": 1}, id="a bad span"),
        pytest.param(
            ONE + b"\nnonsense\n" + TWO, {"read": 4, "stored": 3, "dead_letters": 1}, id="a bad line"
        ),
        pytest.param(
            ONE[40:] + b"\n" + TWO,
            {"read": 2, "stored": 1, "dead_letters": 1},
            id="a first line that lost its start",
        ),
        pytest.param(
            ONE[:40] + b"\n" + TWO,
            {"read": 2, "stored": 1, "dead_letters": 1},
            id="a first line that lost its end",
        ),
        pytest.param(
            ONE + b"\n" + TWO[:-9], {"read": 3, "stored": 2, "dead_letters": 1}, id="a last line cut off"
        ),
    ],
)
def test_what_is_read(store, write, content, expected):
    path = write(content)
    assert bare(read(store, path)) == expected
    stored = expected.get("stored", 0)
    again = {key: value for key, value in expected.items() if key != "stored"}
    assert bare(read(store, path)) == again | ({"duplicates": stored} if stored else {})
    assert len(store.rows) == stored


def test_both_encodings_of_a_request_are_the_same_rows(store, write):
    read(store, write(ONE, "a"), write(WIRE, "b"))
    assert len(store.rows) == 2


@pytest.mark.parametrize("length", range(110, 140))
def test_protobuf_is_not_taken_for_json_whatever_its_length(store, write, length):
    """A request of 123 bytes begins with a newline and a brace."""
    span = good_span(1, attributes=dict.fromkeys(("gen_ai.request.id", "gen_ai.usage.prompt_tokens")))
    while len(span.attributes) > 1:
        del span.attributes[-1]
    body = request_of(span, resource={"host.name": ""})
    body.resource_spans[0].resource.attributes[0].value.string_value = "h" * (
        length - body.resource_spans[0].ByteSize()
    )
    (reading,) = read_otlp_files(store, [write(body.SerializeToString())], source="engines")
    assert reading.counts.read == 1
    assert body.SerializeToString()[:1] == b"\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "nothing could be read (an empty file); check the path", id="an empty file"),
        pytest.param(b"\n\n", "nothing could be read (blank lines only); check the path", id="blank lines"),
        pytest.param(
            b"prose", "is not OTLP (the body is not an ExportTraceServiceRequest in protobuf)", id="prose"
        ),
        pytest.param(bytes(range(256)), "is not OTLP (", id="a binary file"),
        pytest.param(ONE * 2, "is not OTLP (not JSON: Extra data", id="two requests on one line"),
        pytest.param(b'{"a":1}', "is not OTLP (the JSON object has no resourceSpans)", id="other JSON"),
        pytest.param(
            b'{"a":1}\n{"b":2}\n',
            "nothing could be read (2 spans, none with possible timings)",
            id="lines of it",
        ),
        pytest.param(
            b'{"time":"1","request_time":"1"}\n',
            "(looks like a gateway's log); use: fairclock ingest gateway",
            id="a gateway's log",
        ),
        pytest.param(PRETTY[:-20], "nothing could be read", id="half a request over many lines"),
        pytest.param(WIRE[:-2], "is not OTLP", id="half a request in protobuf"),
        pytest.param(
            gzip.compress(WIRE)[:-9],
            "the gzip data ends in the middle (0 spans could be read",
            id="half a gzip",
        ),
        pytest.param(b"\x28\xb5\x2f\xfd\x04\x00\x59", "compressed with zstd", id="zstd"),
        pytest.param(
            json_of(request_of(good_span(attributes={"gen_ai.latency.e2e": None}))),
            "nothing could be read (1 span, none with possible timings); see the reasons in dead_letters",
            id="bad spans only",
        ),
    ],
)
def test_a_file_without_readable_spans_says_why(store, write, content, message):
    path = write(content)
    with pytest.raises(InputError) as refused:
        read(store, path)
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)
    assert store.covered == []


def test_a_truncated_gzip_of_many_requests_gives_those_before_its_end(store, write):
    numbers = range(200)
    packed = gzip.compress(b"\n".join(json_of(request(number)) for number in numbers))
    (reading,) = read_otlp_files(store, [write(packed[: len(packed) // 2])], source="engines")
    assert "ends in the middle" in str(reading.problem)
    assert not reading.complete
    assert len(store.rows) > 50


def test_a_damaged_first_line_in_a_truncated_gzip_costs_only_itself(store, write):
    packed = gzip.compress(b"{x\n" + b"\n".join(json_of(request(number)) for number in range(200)))
    (reading,) = read_otlp_files(store, [write(packed[: len(packed) // 2])], source="engines")
    assert "ends in the middle" in str(reading.problem)
    assert len(store.rows) > 50


def test_lines_beyond_what_one_request_may_hold_are_still_read(store, write, monkeypatch):
    monkeypatch.setattr(file_requests, "LARGEST_REQUEST_BYTES", 2500)
    content = b"{x\n" + b"\n".join(json_of(request(number)) for number in range(20))
    assert bare(read(store, write(content))) == {"read": 21, "stored": 20, "dead_letters": 1}


def test_protobuf_beyond_what_one_request_may_hold_is_refused(store, write, monkeypatch):
    monkeypatch.setattr(file_requests, "LARGEST_REQUEST_BYTES", 100)
    with pytest.raises(InputError, match=r"is not OTLP \(larger than 0 MiB, and not JSON line by line\)"):
        read(store, write(WIRE))


@given(st.lists(st.sampled_from([ONE, TWO, OTHER, b"", b"{bad"]), max_size=6), st.integers(1, 700))
def test_chunks_never_change_which_spans_are_read(tmp_path_factory, content, size):
    path = tmp_path_factory.mktemp("chunks") / "spans"
    path.write_bytes(b"\n".join(content))
    found = []
    for chunk in (1 << 20, size):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(byte_streams, "CHUNK_BYTES", chunk)
            store = MemoryStore()
            (reading,) = read_otlp_files(store, [str(path)], source="engines")
            found.append((set(store.rows), bare(reading.counts), str(reading.problem)))
    assert found[0] == found[1]


def test_a_file_covers_from_its_first_to_its_last_end(store, write):
    read(store, write(json_of(request(5, 2)), "a"), write(json_of(request(9, 11)), "b"))
    assert store.covered == [(ended(2), ended(5)), (ended(9), ended(11))]
    assert {(kind, source) for kind, source, _ in store.intervals} == {("engine", "engines")}


def test_a_declared_interval_replaces_what_the_spans_say(store, write):
    covers = Interval(start=ended(0), end=ended(100))
    read(store, write(OTHER), covers=covers)
    assert store.covered == [(covers.start, covers.end)]
