"""Collectors in front of the real store: what they hand over is what can be read back."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import grpc
import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from collectors.gateway.files import ingest_gateway_files
from collectors.otlp.committing import FORMAT
from collectors.otlp.files import ingest_otlp_files
from collectors.otlp.receiver import OtlpReceiver
from exporters.clickhouse import DirectDelivery, lines_of
from fairclock.model import Interval
from fairclock.store import Query, open_store
from tests.collectors.otlp_requests import START_NS, good_span, json_of, request_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ALWAYS = Interval(start=datetime(2020, 1, 1, tzinfo=UTC), end=datetime(2030, 1, 1, tzinfo=UTC))
TABLES = ("gateway_requests", "engine_requests", "dead_letters", "covered")
SECRET = "the-customer's-secret-prompt"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('real')}/store") as store:
        yield store


@pytest.fixture
def store(opened):
    for table in TABLES:
        opened.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return opened


@pytest.fixture
def receiver(store):
    with OtlpReceiver(
        DirectDelivery(store, adapters={FORMAT: lines_of}), "127.0.0.1:0", "127.0.0.1:0", source="engines"
    ) as receiver:
        yield receiver


def rows(store, sql):
    return store.rows(Query(sql=sql))


def post(receiver, request):
    url = f"http://{receiver.http_address}/v1/traces"
    answer = httpx.post(
        url, content=json_of(request), headers={"Content-Type": "application/json"}, timeout=120
    )
    assert answer.status_code == 200
    return int(answer.json().get("partialSuccess", {}).get("rejectedSpans", 0))


def test_a_span_is_one_row_with_its_figures_by_whatever_way_and_however_often_it_comes(
    store, receiver, tmp_path
):
    request = request_of(good_span())
    (tmp_path / "json").write_bytes(json_of(request))
    (tmp_path / "protobuf").write_bytes(request.SerializeToString())
    with grpc.insecure_channel(str(receiver.grpc_address)) as channel:
        for _ in range(2):
            TraceServiceStub(channel).Export(request)
    assert post(receiver, request) == 0
    assert (
        ingest_otlp_files(
            store, [str(tmp_path / "json"), str(tmp_path / "protobuf")], source="files"
        ).duplicates
        == 2
    )
    assert rows(
        store,
        "SELECT toUnixTimestamp64Micro(arrived_at), hex(trace_id), span_id, request_id, join_id, instance, end_to_end_us, queue_us,"
        " prefill_us, decode_us, time_to_first_token_us, prompt_tokens, completion_tokens, cached_tokens FROM engine_requests FINAL",
    ) == [
        (
            START_NS // 1000,
            "0" * 31 + "1",
            "0" * 15 + "1",
            "cmpl-req-3-0",
            "req-3",
            "gpu-1:4242",
            337679,
            96,
            38553,
            242945,
            96584,
            7,
            40,
            None,
        )
    ]


NAN, INF = float("nan"), float("inf")
QUEUE, E2E = "gen_ai.latency.time_in_queue", "gen_ai.latency.e2e"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"attributes": {QUEUE: NAN}}, f"{QUEUE}: absent or not a possible duration", id="NaN"),
        pytest.param(
            {"attributes": {QUEUE: INF}}, f"{QUEUE}: absent or not a possible duration", id="infinity"
        ),
        pytest.param(
            {"attributes": {QUEUE: 1e300}},
            f"{QUEUE}: absent or not a possible duration",
            id="an absurd duration",
        ),
        pytest.param(
            {"attributes": {QUEUE: "soon"}}, f"{QUEUE}: absent or not a possible duration", id="text"
        ),
        pytest.param(
            {"attributes": {QUEUE: None}}, f"{QUEUE}: absent or not a possible duration", id="no duration"
        ),
        pytest.param({"start_time_unix_nano": 0}, "start: before 2000", id="no start"),
        pytest.param(
            {"start_time_unix_nano": 2**64 - 1},
            "start: absent or not a number of nanoseconds",
            id="a start that wrapped",
        ),
        pytest.param({"trace_id": b"short"}, "span: trace id is not 16 bytes", id="a short trace id"),
    ],
)
def test_a_bad_span_is_a_rejected_dead_letter_with_a_reason_and_its_neighbours_are_rows(
    store, receiver, changes, reason
):
    secrets = {"gen_ai.prompt": SECRET, "gen_ai.completion": SECRET}
    changes["attributes"] = secrets | changes.get("attributes", {})
    request = request_of(good_span(1), good_span(2, **changes), good_span(3), good_span(4, name="other"))
    assert post(receiver, request) == 1
    assert rows(store, "SELECT span_id FROM engine_requests FINAL ORDER BY span_id") == [
        (f"{2:016x}",),
        (f"{4:016x}",),
    ]
    assert rows(store, "SELECT kind, source, reason FROM dead_letters FINAL") == [
        ("engine", "engines", reason)
    ]
    assert rows(store, f"SELECT count() FROM dead_letters WHERE position(excerpt, '{SECRET[:12]}') > 0") == [
        (0,)
    ]


def test_no_prompt_gets_past_the_receiver(store, receiver, caplog, capfd):
    leaks = dict.fromkeys(
        ("gen_ai.prompt", "gen_ai.completion", "user", E2E, "gen_ai.usage.prompt_tokens"), SECRET
    )
    post(
        receiver,
        request_of(good_span(1, attributes=leaks), good_span(2, attributes={"gen_ai.prompt": SECRET})),
    )
    for table in TABLES:
        found = b"".join(str(row).encode() for row in rows(store, f"SELECT * FROM {table}"))
        assert SECRET.encode() not in found
    assert SECRET not in caplog.text + capfd.readouterr().err


def test_many_senders_at_once_and_again_lose_nothing_and_add_nothing(store, receiver):
    requests = [request_of(*(good_span(sender * 100 + each) for each in range(50))) for sender in range(12)]
    with ThreadPoolExecutor(12) as pool:
        for _ in range(2):
            assert list(pool.map(lambda request: post(receiver, request), requests)) == [0] * 12
    assert rows(store, "SELECT count() FROM engine_requests FINAL") == [(600,)]
    assert rows(store, "SELECT count() FROM dead_letters FINAL") == [(0,)]


def test_what_a_receiver_heard_is_covered_once_it_stops(store):
    with OtlpReceiver(
        DirectDelivery(store, adapters={FORMAT: lines_of}), None, "127.0.0.1:0", source="engines"
    ) as receiver:
        post(receiver, request_of(good_span(1), good_span(30)))
        post(receiver, request_of(good_span(60)))
    (covered,) = store.covered("engine", ALWAYS, store.watermark())
    assert (covered.start, covered.end) == tuple(
        EPOCH + timedelta(microseconds=(START_NS + number * 10**9 + 337_679_147) // 1000)
        for number in (1, 60)
    )


NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)


def line(second, **changes):
    keys = {
        "time": f"{NOON.timestamp() + second:.3f}",
        "request_time": "0.100",
        "status": "200",
        "tenant": "acme",
    }
    return json.dumps({**keys, **changes}).encode() + b"\n"


def test_a_gateway_file_is_read_once_however_often_it_is_read(store, tmp_path):
    path = tmp_path / "access.log"
    path.write_bytes(line(1) + line(2) * 3 + b"\n" + b"no JSON\n" + line(9, status="x"))
    counts = ingest_gateway_files(store, [str(path)], source="gateway")
    assert (counts.read, counts.stored, counts.ignored, counts.dead_letters) == (7, 4, 1, 2)
    again = ingest_gateway_files(store, [str(path)], source="elsewhere")
    assert (again.read, again.duplicates, again.ignored, again.dead_letters) == (7, 4, 1, 2)
    assert rows(store, "SELECT k, count() FROM gateway_requests FINAL GROUP BY k ORDER BY k") == [
        (0, 2),
        (1, 1),
        (2, 1),
    ]
    assert rows(store, "SELECT count() FROM dead_letters FINAL") == [(2,)]
    (covered,) = store.covered("gateway", ALWAYS, store.watermark())
    assert (covered.start, covered.end) == (NOON + timedelta(seconds=1), NOON + timedelta(seconds=2))
