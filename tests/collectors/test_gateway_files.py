"""What becomes of gateway logs in files, whole, broken and of other kinds."""

import gzip
import io
import json
import sys
import zlib
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors import byte_streams
from collectors.gateway import files
from collectors.gateway.files import ingest_gateway_files, read_gateway_files
from fairclock.errors import InputError, StoreError, UsageError
from fairclock.model import Interval
from fairclock.store import IngestCounts
from tests.collectors.memory_store import MemoryStore

NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)


def line(second=0, **changes):
    at = f"{NOON.timestamp() + second:.3f}"
    return json.dumps(
        {"time": at, "request_time": "0.100", "status": "200", "request_id": f"r{second}", **changes}
    ).encode()


def lines(*seconds, ending=b"\n"):
    return b"".join(line(second) + ending for second in seconds)


def at(second):
    return NOON + timedelta(seconds=second)


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def write(tmp_path):
    def write(content, name="access.log"):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


def read(store, *paths, **settings):
    return ingest_gateway_files(store, paths, source="gateway", **settings)


def counts(**changes):
    return IngestCounts(**{"first_event": None, "last_event": None, **changes})


def bare(found):
    return {
        name: getattr(found, name)
        for name in ("read", "stored", "duplicates", "ignored", "dead_letters")
        if getattr(found, name)
    }


CUT = b'{"time":"1'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(lines(1, 2), {"read": 2, "stored": 2}, id="a plain file"),
        pytest.param(gzip.compress(lines(1, 2)), {"read": 2, "stored": 2}, id="gzip, whatever its name"),
        pytest.param(
            gzip.compress(lines(1)) + gzip.compress(lines(2)),
            {"read": 2, "stored": 2},
            id="two gzips in a row",
        ),
        pytest.param(
            gzip.compress(lines(1)) + bytes(512), {"read": 1, "stored": 1}, id="a gzip padded with zeros"
        ),
        pytest.param(lines(1, 2, ending=b"\r\n"), {"read": 2, "stored": 2}, id="CRLF"),
        pytest.param(lines(1) + line(2), {"read": 2, "stored": 2}, id="a last line without a newline"),
        pytest.param(lines(1) + CUT, {"read": 2, "stored": 1, "dead_letters": 1}, id="a last line cut short"),
        pytest.param(b"\n" + lines(1) + b"\n \n", {"read": 4, "stored": 1, "ignored": 3}, id="blank lines"),
        pytest.param(bytes(5000) + lines(1), {"read": 1, "stored": 1}, id="NULs after a copytruncate"),
        pytest.param(
            CUT + bytes(5000) + lines(1),
            {"read": 2, "stored": 1, "dead_letters": 1},
            id="a copytruncate inside a line",
        ),
        pytest.param(b"\xef\xbb\xbf" + lines(1), {"read": 1, "stored": 1}, id="a byte order mark"),
        pytest.param(
            lines(1) + b"{" + b"x" * (1 << 20) + b"}\n" + lines(2),
            {"read": 3, "stored": 2, "dead_letters": 1},
            id="a line of a megabyte",
        ),
        pytest.param(
            lines(1) + b'{"time":"\xff\xfe"}\n' + lines(2),
            {"read": 3, "stored": 2, "dead_letters": 1},
            id="bytes that are no UTF-8",
        ),
        pytest.param(
            lines(1, 2, 1, 1), {"read": 4, "stored": 4}, id="equal lines, which are several requests"
        ),
        pytest.param(
            b"bad\n" * 3 + lines(1),
            {"read": 4, "stored": 1, "dead_letters": 3},
            id="bad lines before a good one",
        ),
    ],
)
def test_what_is_read(store, write, content, expected):
    path = write(content)
    assert bare(read(store, path)) == expected
    stored = expected["stored"]
    again = {**expected, "duplicates": stored}
    del again["stored"]
    assert bare(read(store, path)) == again
    assert len(store.rows) == stored


def test_equal_lines_are_told_apart_by_their_number_within_one_file_only(store, write):
    read(store, write(lines(1, 2, 1), "a"), write(lines(1, 1, 1), "b"))
    assert set(store.rows) == {(line(1), 0), (line(1), 1), (line(1), 2), (line(2), 0)}


def test_standard_input_is_a_file_too(store, monkeypatch):
    for content in (lines(1, 2), gzip.compress(lines(2, 3))):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        read(store, "-")
    assert len(store.rows) == 3


@pytest.fixture
def tiny_steps(monkeypatch):
    """Cut files into chunks of a few bytes, and batches of two lines."""
    monkeypatch.setattr(files, "BATCH_LINES", 2)
    return monkeypatch


@given(
    st.lists(st.sampled_from([line(1), line(2), b"", b"bad", b"\0", b"\r"]), max_size=12),
    st.integers(1, 200),
    st.booleans(),
)
def test_chunks_and_batches_never_change_which_lines_are_read(tmp_path_factory, content, size, packed):
    data = b"\n".join(content)
    path = tmp_path_factory.mktemp("chunks") / "log"
    path.write_bytes(gzip.compress(data) if packed else data)
    found = []
    for chunk, batch in ((1 << 20, 100_000), (size, 2)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(byte_streams, "CHUNK_BYTES", chunk)
            patch.setattr(files, "BATCH_LINES", batch)
            store = MemoryStore()
            (reading,) = read_gateway_files(store, [str(path)], source="gateway")
            found.append(
                (
                    Counter((each, part.k) for part in store.batches for each in part.lines),
                    bare(reading.counts),
                )
            )
    assert found[0] == found[1]
    assert sum(found[0][0].values()) == found[0][1].get("read", 0)


def test_batches_are_bounded_and_nothing_is_lost_between_them(store, write, tiny_steps):
    assert read(store, write(lines(*range(7)))).stored == 7
    assert max(len(batch.lines) for batch in store.batches) == 2


# What cannot be read


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "nothing could be read (an empty file); check the path", id="an empty file"),
        pytest.param(b"\n \n", "nothing could be read (blank lines only); check the path", id="blank lines"),
        pytest.param(
            gzip.compress(b""), "nothing could be read (an empty file); check the path", id="an empty gzip"
        ),
        pytest.param(bytes(range(256)) * 20, "(looks like a binary file)", id="a binary file"),
        pytest.param(
            b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0>\0\x01\0\0\0",
            "(looks like a binary file)",
            id="a program",
        ),
        pytest.param(
            b'1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 23 "-" "curl"\n',
            "(looks like nginx's combined (or Apache's) format); write the log with the log_format that Fairclock ships",
            id="nginx's own format",
        ),
        pytest.param(
            b'{"resourceSpans":[]}\n', "(looks like OTLP spans); use: fairclock ingest otlp", id="spans"
        ),
        pytest.param(
            b'{"a":1}\n', "(looks like JSON without the keys time, request_time and status)", id="other JSON"
        ),
        pytest.param(
            line(time="2026-10-01T12:00:00Z") + b"\n",
            "(looks like JSON whose time, request_time or status is no number); log $msec, $request_time and $status",
            id="JSON with a time in words",
        ),
        pytest.param(
            b"http 2026-10-01T22:23:00.186641Z app/lb/5 1.2.3.4:2817\n",
            "nothing could be read as an AWS Application Load Balancer's log (target:port: the line ends here)",
            id="an ALB's line that breaks off",
        ),
        pytest.param(
            b'[2026-10-01T20:37:02.186Z] "POST / HTTP/1.1" 200\n',
            "(looks like Envoy's text in a format of your own)",
            id="Envoy in another format",
        ),
        pytest.param(
            b'{"start_time":"yesterday","response_code":200,"response_flags":"-","duration":5}\n',
            "nothing could be read as Envoy's JSON (START_TIME: not a time)",
            id="a format that is read, and a time that is none",
        ),
        pytest.param(b"Oct  1 12:14:14 lb haproxy[14389]: 10.0.1.2:33317 x\n", "HAProxy's log", id="HAProxy"),
        pytest.param(
            b"2026/10/01 12:00:00 [error] 7#7: *1 open()\n", "nginx's error log", id="nginx's error log"
        ),
        pytest.param(b"<190>Oct  1 12:00:00 host nginx: {}\n", "syslog", id="syslog"),
        pytest.param(b"# HELP vllm:e2e x\n", "Prometheus metrics", id="metrics"),
        pytest.param(b"time,status,tenant\n1,200,acme\n", "comma-separated values", id="CSV"),
        pytest.param(
            b"password hunter2 for anna\n", "(lines such as 'xxxxxxxx xxxxxx9 xxx xxxx')", id="prose, masked"
        ),
        pytest.param(
            b"\x28\xb5\x2f\xfd\x04\x00\x59", "(compressed with zstd); pipe it in: zstdcat ", id="zstd"
        ),
        pytest.param(b"BZh91AY&SY", "(compressed with bzip2); pipe it in: bzcat ", id="bzip2"),
        pytest.param(b"\xfd7zXZ\0\0", "(compressed with xz); pipe it in: xzcat ", id="xz"),
        pytest.param(b"PK\x03\x04\x14\0", "(compressed with zip)", id="zip"),
    ],
)
def test_a_file_in_which_nothing_is_a_request_says_what_it_looks_like(store, write, content, message):
    path = write(content)
    with pytest.raises(InputError) as refused:
        read(store, path)
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)
    assert store.covered == []


def test_a_truncated_gzip_is_an_error_after_everything_readable_is_stored(store, write):
    whole = gzip.compress(lines(*range(3000)))
    path = write(whole[: len(whole) // 2])
    with pytest.raises(
        InputError,
        match=r"ends in the middle \([\d,]+ lines could be read and stored before\); get the whole file",
    ):
        read(store, path)
    stored = len(store.rows)
    assert stored > 1000
    assert store.covered == [(at(0), at(stored - 1))]
    assert bare(read(store, write(whole))) == {"read": 3000, "stored": 3000 - stored, "duplicates": stored}


def cut_before(content, end):
    """Return a gzip of `content` that breaks off so that its first `end` bytes can be had."""
    packer = zlib.compressobj(wbits=31)
    return packer.compress(content[:end]) + packer.flush(zlib.Z_SYNC_FLUSH)


@pytest.mark.parametrize(
    ("broken", "said", "expected"),
    [
        pytest.param(cut_before(lines(1), 0), "not one whole line", {}, id="in front of a line"),
        pytest.param(
            cut_before(lines(1), 20),
            "not one whole line",
            {"read": 1, "dead_letters": 1},
            id="within its first line",
        ),
        pytest.param(
            cut_before(lines(1), -1), "1 line", {"read": 1, "stored": 1}, id="in front of its newline"
        ),
        pytest.param(
            cut_before(lines(1, 2), -9),
            "1 line",
            {"read": 2, "stored": 1, "dead_letters": 1},
            id="within its second line",
        ),
        pytest.param(
            cut_before(lines(1, 2, 1), -1),
            "3 lines",
            {"read": 3, "stored": 3},
            id="behind a line that came before",
        ),
    ],
)
def test_a_piece_of_a_line_is_no_line_of_a_truncated_gzip(store, write, broken, said, expected):
    (reading,) = read_gateway_files(store, [write(broken)], source="gateway")
    assert f"({said} could be read and stored before)" in str(reading.problem)
    assert bare(reading.counts) == expected


def test_a_gzip_damaged_in_the_middle_gives_what_lies_before_the_damage(store, write):
    whole = bytearray(gzip.compress(lines(*range(3000))))
    half = len(whole) // 2
    whole[half : half + 64] = bytes(range(64))
    (reading,) = read_gateway_files(store, [write(bytes(whole))], source="gateway")
    assert "gzip data is damaged" in str(reading.problem)
    assert not reading.complete
    assert len(store.rows) > 1000


def test_one_bad_file_does_not_cost_the_others(store, write):
    paths = [
        write(lines(1), "a"),
        write(b"prose\n", "b"),
        write(gzip.compress(lines(2))[:-3], "c"),
        write(lines(3), "d"),
    ]
    readings = read_gateway_files(store, paths, source="gateway")
    assert [(reading.problem is None, reading.complete) for reading in readings] == [
        (True, True),
        (False, True),
        (False, False),
        (True, True),
    ]
    assert {row["request_id"] for row in store.rows.values()} == {"r1", "r2", "r3"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param(
            "missing",
            "cannot be read (No such file or directory); check the path",
            id="a file that is not there",
        ),
        pytest.param(".", "is a directory, not a file; name its files, such as ", id="a directory"),
    ],
)
def test_nothing_is_begun_when_a_path_cannot_be_read(store, write, tmp_path, name, message):
    with pytest.raises(InputError) as refused:
        read(store, write(lines(1)), str(tmp_path / name))
    assert message in str(refused.value)
    assert store.batches == []


def test_standard_input_twice_is_wrong_usage(store):
    with pytest.raises(UsageError, match="standard input can be read once only"):
        read(store, "-", "-")


def test_a_store_that_fails_ends_the_import_and_covers_nothing(store, write):
    store.failures = [StoreError("store", "full")]
    with pytest.raises(StoreError, match="full"):
        read(store, write(lines(1, 2)))
    assert store.covered == []


# Coverage and progress


def test_each_file_covers_from_its_earliest_to_its_latest_time_and_no_gap_between_files(store, write):
    read(store, write(lines(5, 3, 9), "a"), write(lines(20, 30) + b"bad\n", "b"))
    assert store.covered == [(at(3), at(9)), (at(20), at(30))]
    assert {(kind, source) for kind, source, _ in store.intervals} == {("gateway", "gateway")}


MONTH = Interval(start=at(-100), end=at(100))


def test_a_declared_interval_replaces_what_the_lines_say(store, write):
    read(store, write(lines(5, 9)), covers=MONTH)
    assert store.covered == [(MONTH.start, MONTH.end)]


@pytest.mark.parametrize(
    "broken", [gzip.compress(lines(7))[:-3], b"prose\n", b""], ids=["truncated", "prose", "empty"]
)
def test_a_declared_interval_does_not_count_when_a_file_could_not_be_read(store, write, broken):
    with pytest.raises(InputError):
        read(store, write(lines(5, 9), "a"), write(broken, "b"), covers=MONTH)
    assert store.covered == []


def test_progress_adds_up_to_the_bytes_on_disk(store, write):
    taken = []
    content = gzip.compress(lines(*range(500)))
    read(store, write(content), progress=taken.append)
    assert sum(taken) == len(content)
