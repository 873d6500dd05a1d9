"""Sound bodies and spans among odd ones, on all three ways into a receiver, at the same time."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import grpc
import httpx

from collectors.otlp.receiver import OtlpReceiver
from fairclock.store import LineBatch, Query
from tests.collectors.otlp_requests import json_of, request_of
from tests.faults import traffic
from tests.fuzz.mutation import LONGEST_STEP_SECONDS, changed, chooser, mutated

WAYS = ("HTTP/protobuf", "HTTP/JSON", "gRPC")
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
HTTP_ANSWERS = {200: "taken", 400: "refused", 413: "refused"}
GRPC_ANSWERS = {grpc.StatusCode.INVALID_ARGUMENT: "refused"}
SOUND = 500_000
SPANS = 3
SOUND_EVERY = 20
INGEST_LINES = 20_000


class Senders:
    """A receiver, and one sender a way; what is delivered is kept, in place of a spool."""

    def __init__(self):
        self._frames = []
        self._guard = threading.Lock()
        self._receiver = OtlpReceiver(self._deliver, "127.0.0.1:0", "127.0.0.1:0", source="fuzz")

    def __enter__(self):
        self._receiver.start()
        self._client = httpx.Client(
            base_url=f"http://{self._receiver.http_address}", timeout=LONGEST_STEP_SECONDS
        )
        self._channel = grpc.insecure_channel(str(self._receiver.grpc_address))
        self._export = self._channel.unary_unary(EXPORT)  # bytes as they are
        return self

    def __exit__(self, *_):
        self._channel.close()
        self._client.close()
        self._receiver.stop()

    def _deliver(self, frames):
        with self._guard:
            self._frames += frames

    def store_in(self, store):
        """Store what was delivered since the last call."""
        with self._guard:
            frames, self._frames = self._frames, []
        lines = [line for frame in frames for line in frame.payload.split(b"\n") if line]
        counts = store.ingest(LineBatch(kind="engine", source="fuzz", lines=lines))
        assert counts.read == len(lines)

    def send(self, way, body, *, packed=False):
        """Return "taken" or "refused"; any other answer, and none in time, fails."""
        if way == "gRPC":
            try:
                self._export(body, timeout=LONGEST_STEP_SECONDS)
            except grpc.RpcError as error:
                if error.code() in GRPC_ANSWERS:
                    return GRPC_ANSWERS[error.code()]
                raise
            return "taken"
        kind = "application/json" if way == "HTTP/JSON" else "application/x-protobuf"
        headers = {"Content-Type": kind, **({"Content-Encoding": "gzip"} if packed else {})}
        answer = self._client.post("/v1/traces", content=body, headers=headers)
        assert answer.status_code in HTTP_ANSWERS, (way, answer.status_code, answer.text)
        return HTTP_ANSWERS[answer.status_code]


def encoded(request, way):
    return json_of(request) if way == "HTTP/JSON" else request.SerializeToString()


def field(number, data):
    """Return `data` as a length-delimited field of protobuf."""
    size, length = len(data), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


def framed(spans, way, choose):
    """Return a body in which the odd span, between sound ones, begins and ends where its frame says."""
    first, odd, last = spans
    if way == "HTTP/JSON":
        body = json.loads(json_of(request_of(*spans)))
        among = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
        among[1] = changed(among[1], choose)
        return json.dumps(body).encode()
    pieces = [first.SerializeToString(), mutated(odd.SerializeToString(), choose), last.SerializeToString()]
    return field(1, field(2, b"".join(field(2, piece) for piece in pieces)))


class Trial:
    """What was sent one way, and which sound spans have to be there."""

    def __init__(self, senders, way, choose):
        self.senders, self.way, self.choose = senders, way, choose
        self.answers = Counter()
        self.sound_ids = []

    def run(self, numbers):
        for number in numbers:
            self.one(number)

    def one(self, number):
        spans = [traffic.span(SOUND + 2 * SPANS * number + each) for each in range(2 * SPANS)]
        if self.choose.random() < 0.5:
            self.expect(framed(spans[:SPANS], self.way, self.choose), [spans[0], spans[2]])
        else:
            body = mutated(encoded(request_of(*map(traffic.span, range(SPANS))), self.way), self.choose)
            self.send_odd(body)
        if number % SOUND_EVERY < len(WAYS):
            self.expect(encoded(request_of(*spans[SPANS:]), self.way), spans[SPANS:])

    def expect(self, body, spans):
        """Send a body of which `spans` have to be stored."""
        self.sound_ids += [span.span_id.hex() for span in spans]
        packed = self.may_be_packed()
        answer = self.senders.send(self.way, gzip.compress(body, 1) if packed else body, packed=packed)
        self.answers[answer] += 1
        assert answer == "taken", (self.way, body[:2_000])

    def send_odd(self, body):
        packed = self.may_be_packed()
        if packed:
            body = mutated(gzip.compress(body, 1), self.choose)
        self.answers[self.senders.send(self.way, body, packed=packed)] += 1

    def may_be_packed(self):
        return self.way != "gRPC" and self.choose.random() < 0.1


def fuzz_bodies(store, count):
    """Try `count` mutated bodies; return what was answered, by way."""
    with Senders() as senders, ThreadPoolExecutor(len(WAYS)) as pool:
        trials = [Trial(senders, way, chooser(way)) for way in WAYS]
        for first in range(0, count, INGEST_LINES // SPANS):
            numbers = range(first, min(count, first + INGEST_LINES // SPANS))
            began = time.monotonic()
            running = [pool.submit(trial.run, numbers[at :: len(WAYS)]) for at, trial in enumerate(trials)]
            for each in running:
                each.result()
            senders.store_in(store)
            assert time.monotonic() - began < LONGEST_STEP_SECONDS, f"bodies from {first} on hang"
        sound_ids = [each for trial in trials for each in trial.sound_ids]
    assert_stored(store, sound_ids)
    return {trial.way: trial.answers for trial in trials}


def assert_stored(store, ids):
    """Fail unless each of the spans `ids`, which are unique, is stored once and in full."""
    found = store.rows(
        Query(
            sql="SELECT count(), uniqExact(span_id) FROM engine_requests FINAL"
            " WHERE span_id IN {ids:Array(String)} AND prefill_us > 0",
            parameters={"ids": ids},
        )
    )
    assert found == [(len(ids), len(ids))]
