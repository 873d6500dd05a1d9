"""Mutated log lines and mutated OTLP bodies: no crash, no hang, and no neighbour is lost.

FAIRCLOCK_FUZZ_LINES and FAIRCLOCK_FUZZ_BODIES set how many the soak tries.
"""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from collectors.otlp.receiver import OtlpReceiver
from exporters.clickhouse import DirectDelivery, lines_of
from fairclock.store import LineBatch, Query, open_store
from tests.collectors.otlp_requests import json_of, request_of
from tests.faults import traffic

if TYPE_CHECKING:
    from fairclock.model import Frame

CASES = Path(__file__).parent / "cases"
SEEDS = {"lines": 20_261_014, "bodies": 20_261_015}
LINES = int(os.environ.get("FAIRCLOCK_FUZZ_LINES", "1000000"))
BODIES = int(os.environ.get("FAIRCLOCK_FUZZ_BODIES", "100000"))
BATCH = 5_000
LONGEST_BATCH_SECONDS = 120
TOKENS = [
    b"{", b"}", b'"', b"\\", b"\\x22", b"\\u0000", b"\\ud800", b"null", b"true", b"-", b"", b"[]", b"{}", b"[[[[",
    b"1e308", b"-1", b"0", b"NaN", b"18446744073709551616", b"99999999999999999999999999", b"1791939600.000",
    b"0.000001", b"4294967295.9", b"\x00", b"\xff\xfe", b"\xf0\x9f\x9a\x80", b"\xc3", b"\r", b"\t", b" ", b"'", b";",
    b"?secret", b"#", b" : ", b", ", b"00-" + b"f" * 32, b"x" * 5_000, b"[" * 2_000, b'{"a":' * 500,
]  # fmt: skip


def mutated(data, choose):
    """Return `data` with one to six changes: bytes turned, cut, doubled, moved, and tokens that mean something."""
    data = bytearray(data)
    for _ in range(choose.randint(1, 6)):
        at = choose.randint(0, len(data))
        to = min(len(data), at + choose.randint(0, 40))
        kind = choose.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << choose.randrange(8)
        elif kind == 1:
            del data[at:to]
        elif kind == 2:
            data[at:at] = data[at:to]
        elif kind == 3:
            data[at:to] = choose.choice(TOKENS)
        elif kind == 4:
            data[at:at] = choose.choice(TOKENS)
        elif kind == 5:
            data[at:to] = choose.randbytes(to - at)
        else:
            del data[at:]
    return bytes(data)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('fuzz')}/store") as store:
        yield store


@pytest.fixture
def empty(store):
    for table in ("gateway_requests", "engine_requests", "dead_letters", "covered"):
        store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return store


def sound_lines(numbers):
    return [traffic.line(number) for number in numbers if number == traffic.logged(number)]


def stored_ids(store):
    return {row[0] for row in store.rows(Query(sql="SELECT request_id FROM gateway_requests FINAL"))}


def ingest_lines(store, sound, odd, choose):
    """Store `odd` lines among `sound` ones in one batch; return what was counted, and the seconds it took."""
    lines = sound + [line.replace(b"\n", b" ") for line in odd]
    choose.shuffle(lines)
    began = time.monotonic()
    counts = store.ingest(LineBatch(kind="gateway", source="fuzz", lines=lines))
    assert counts.read == len(lines)
    assert counts.stored + counts.duplicates + counts.ignored + counts.dead_letters == counts.read
    assert counts.stored + counts.duplicates >= len(sound)
    return time.monotonic() - began


def fuzz_lines(store, count):
    choose = random.Random(SEEDS["lines"])
    partitions = "SELECT uniqExact(toYYYYMMDD(received_at)) FROM gateway_requests"
    for first in range(0, count, BATCH):
        sound = sound_lines(range(first // 10, first // 10 + 200))
        odd = [mutated(choose.choice(sound), choose) for _ in range(min(BATCH, count - first))]
        assert ingest_lines(store, sound, odd, choose) < LONGEST_BATCH_SECONDS
        assert {json.loads(line)["request_id"] for line in sound} <= stored_ids(store)
        assert store.rows(Query(sql=partitions))[0][0] < 10_000
        store.execute(Query(sql="TRUNCATE TABLE gateway_requests"))
        store.execute(Query(sql="TRUNCATE TABLE dead_letters"))


def test_mutated_lines_cost_no_neighbour(empty):
    fuzz_lines(empty, 10_000)


@pytest.mark.soak
def test_a_million_mutated_lines_cost_no_neighbour(empty):
    fuzz_lines(empty, LINES)


class Fuzzed:
    """A receiver whose spans go straight into a store; sound bodies are sent between mutated ones."""

    def __init__(self, store):
        self.adapters = {"engine-json": lines_of}
        self.direct = DirectDelivery(store, adapters=self.adapters)
        self.answers = {}

    def deliver(self, frames):
        return self.direct(frames)

    def post(self, client, content, kind):
        answer = client.post("/v1/traces", content=content, headers={"Content-Type": kind})
        self.answers[answer.status_code] = self.answers.get(answer.status_code, 0) + 1
        return answer


def kept(folder):
    """Return the frames that a receiver delivered, in place of a store: bodies are tried by the thousand."""
    frames: list[Frame] = []

    def deliver(more):
        frames.extend(more)

    return frames, deliver


BODY_SPANS = 3
SOUND = 500_000


def fuzz_bodies(store, count):
    choose = random.Random(SEEDS["bodies"])
    frames, deliver = kept(store)
    answers: dict[int, int] = {}
    sound_ids: list[str] = []
    with (
        OtlpReceiver(deliver, None, "127.0.0.1:0", source="fuzz") as receiver,
        httpx.Client(base_url=f"http://{receiver.http_address}", timeout=30) as client,
    ):
        for number in range(count):
            request = request_of(*(traffic.span(number + each) for each in range(BODY_SPANS)))
            as_json = number % 2
            content = json_of(request) if as_json else request.SerializeToString()
            kind = "application/json" if as_json else "application/x-protobuf"
            answer = client.post(
                "/v1/traces", content=mutated(content, choose), headers={"Content-Type": kind}
            )
            answers[answer.status_code] = answers.get(answer.status_code, 0) + 1
            assert answer.status_code in {200, 400, 413}, (number, answer.status_code, answer.text)
            if number % 20 == 0:
                spans = [traffic.span(SOUND + number + each) for each in range(BODY_SPANS)]
                sound_ids += [span.span_id.hex() for span in spans]
                sound = client.post(
                    "/v1/traces",
                    content=request_of(*spans).SerializeToString(),
                    headers={"Content-Type": "application/x-protobuf"},
                )
                assert sound.status_code == 200
                assert sound.content == b""
            if len(frames) >= BATCH or number == count - 1:
                lines = [line for frame in frames for line in frame.payload.split(b"\n") if line]
                frames.clear()
                counts = store.ingest(LineBatch(kind="engine", source="fuzz", lines=lines))
                assert counts.read == len(lines)
    assert len(answers) > 1
    found = store.rows(
        Query(
            sql="SELECT uniqExact(span_id) FROM engine_requests WHERE span_id IN {ids:Array(String)}",
            parameters={"ids": sound_ids},
        )
    )
    assert found == [(len(sound_ids),)]
    return answers


def test_mutated_bodies_cost_no_neighbour(empty):
    fuzz_bodies(empty, 1_000)


@pytest.mark.soak
def test_a_hundred_thousand_mutated_bodies_cost_no_neighbour(empty):
    fuzz_bodies(empty, BODIES)
