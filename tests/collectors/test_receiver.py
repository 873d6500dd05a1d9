"""The receiver, spoken to by the exporters that vLLM uses, and by senders that do it wrong."""

import gzip
import json
import socket
import zlib

import grpc
import httpx
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind

from collectors.otlp.answers import Code, ContentType, failure
from collectors.otlp.bodies import LARGEST_BODY_BYTES
from collectors.otlp.committing import FORMAT
from collectors.otlp.receiver import OtlpReceiver
from exporters.clickhouse import DirectDelivery, lines_of
from fairclock.demo.live.programs import free_port
from fairclock.errors import SpoolFull, SpoolUnavailable, StoreUnreachable, UsageError
from tests.collectors.deliveries import Deliveries
from tests.collectors.memory_store import MemoryStore
from tests.collectors.otlp_requests import GOOD_ATTRIBUTES, START_NS, good_span, json_of, request_of
from tests.faults.processes import PATIENCE_SECONDS

PROTOBUF, JSON = "application/x-protobuf", "application/json"
BODY = request_of(good_span()).SerializeToString()
AWAY = StoreUnreachable("store", "nobody answers")


def straight_into(store):
    return DirectDelivery(store, adapters={FORMAT: lines_of})


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def receiver(store):
    with OtlpReceiver(straight_into(store), "127.0.0.1:0", "127.0.0.1:0", source="engines") as receiver:
        yield receiver


@pytest.fixture
def url(receiver):
    return f"http://{receiver.http_address}/v1/traces"


@pytest.fixture
def stub(receiver):
    with grpc.insecure_channel(str(receiver.grpc_address)) as channel:
        yield TraceServiceStub(channel)


def grpc_exporter(receiver, **settings):
    endpoint = f"http://{receiver.grpc_address}"
    return GrpcExporter(endpoint=endpoint, insecure=True, timeout=PATIENCE_SECONDS, **settings)


def http_exporter(receiver, **settings):
    endpoint = f"http://{receiver.http_address}/v1/traces"
    return HttpExporter(endpoint=endpoint, timeout=PATIENCE_SECONDS, **settings)


@pytest.mark.parametrize(
    "exporter",
    [
        pytest.param(grpc_exporter, id="over gRPC"),
        pytest.param(
            lambda each: grpc_exporter(each, compression=grpc.Compression.Gzip), id="over gRPC with gzip"
        ),
        pytest.param(http_exporter, id="over HTTP"),
        pytest.param(
            lambda each: http_exporter(each, compression=Compression.Gzip), id="over HTTP with gzip"
        ),
        pytest.param(
            lambda each: http_exporter(each, compression=Compression.Deflate), id="over HTTP with deflate"
        ),
    ],
)
def test_what_the_sdk_exports_as_vllm_does_arrives(receiver, store, exporter):
    provider = TracerProvider(resource=Resource({"host.name": "gpu-1", "vllm.process_id": "7"}))
    provider.add_span_processor(BatchSpanProcessor(exporter(receiver)))
    tracer = provider.get_tracer("vllm.llm_engine")
    for number in range(1200):
        start = START_NS + number * 10**6
        span = tracer.start_span("llm_request", kind=SpanKind.SERVER, start_time=start)
        span.set_attributes(GOOD_ATTRIBUTES | {"gen_ai.request.id": f"cmpl-{number}-0"})
        span.end(end_time=start + 10**9)
    tracer.start_span("Allocate KV cache").end()
    assert provider.force_flush()
    provider.shutdown()
    rows = {row["request_id"]: row for row in store.rows.values()}
    assert rows.keys() == {f"cmpl-{number}-0" for number in range(1200)}
    row = rows["cmpl-3-0"]
    assert (row["instance"], row["e2e"], row["queue"]) == (
        "gpu-1:7",
        "0.3376791477203369",
        "9.574899991093844e-05",
    )
    assert row["start_ns"] == str(START_NS + 3 * 10**6)
    assert len(store.rows) == 1200


def post(url, body, content_type=PROTOBUF, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(
        url, content=body, headers={"Content-Type": content_type, **named}, timeout=PATIENCE_SECONDS
    )


@pytest.mark.parametrize(
    ("body", "content_type", "headers", "answer"),
    [
        pytest.param(BODY, PROTOBUF, {}, b"", id="protobuf"),
        pytest.param(BODY, "application/protobuf", {}, b"", id="protobuf under its other name"),
        pytest.param(json_of(request_of(good_span())), JSON, {}, b"{}", id="JSON"),
        pytest.param(
            json_of(request_of(good_span())), "Application/JSON; charset=utf-8", {}, b"{}", id="a charset"
        ),
        pytest.param(gzip.compress(BODY), PROTOBUF, {"Content_Encoding": "gzip"}, b"", id="gzip"),
        pytest.param(zlib.compress(BODY), PROTOBUF, {"Content_Encoding": "deflate"}, b"", id="deflate"),
        pytest.param(iter([BODY[:9], BODY[9:]]), PROTOBUF, {}, b"", id="a chunked body"),
    ],
)
def test_http_success(  # noqa: PLR0917 - a table
    url, store, body, content_type, headers, answer
):
    response = post(url, body, content_type, **headers)
    assert (response.status_code, response.content) == (200, answer)
    assert response.headers["Content-Type"].startswith(JSON if answer else PROTOBUF)
    assert len(store.rows) == 1


def test_no_spans_are_a_success(url, store):
    assert post(url, b"").status_code == 200
    assert post(url, b"{}", JSON).status_code == 200
    assert store.batches == []


BOMB = gzip.compress(bytes(200 << 20), 9)


@pytest.mark.parametrize(
    ("body", "content_type", "headers", "status", "message"),
    [
        pytest.param(b"\xff\xff", PROTOBUF, {}, 400, "not an ExportTraceServiceRequest", id="no protobuf"),
        pytest.param(b"{", JSON, {}, 400, "not JSON: ", id="no JSON"),
        pytest.param(b"[]", JSON, {}, 400, "not an object", id="JSON of another kind"),
        pytest.param(BODY, PROTOBUF, {"Content_Encoding": "gzip"}, 400, "gzip data is damaged", id="no gzip"),
        pytest.param(b"", PROTOBUF, {"Content_Encoding": "gzip"}, 400, "empty", id="an empty gzip"),
        pytest.param(
            gzip.compress(BODY)[:-4],
            PROTOBUF,
            {"Content_Encoding": "gzip"},
            400,
            "ends in the middle",
            id="half a gzip",
        ),
        pytest.param(BODY, PROTOBUF, {"Content_Encoding": "br"}, 415, "send gzip", id="another compression"),
        pytest.param(
            BODY, "text/plain", {}, 415, "application/x-protobuf or application/json", id="another type"
        ),
        pytest.param(BODY, "", {}, 415, "Content-Type must be", id="no type"),
        pytest.param(
            bytes(LARGEST_BODY_BYTES + 1), PROTOBUF, {}, 413, "larger than 20 MiB", id="a body too large"
        ),
        pytest.param(
            BOMB, PROTOBUF, {"Content_Encoding": "gzip"}, 413, "larger than 20 MiB", id="200 MB in gzip"
        ),
        pytest.param(BOMB, JSON, {"Content_Encoding": "gzip"}, 413, "larger than 20 MiB", id="and as JSON"),
    ],
)
def test_http_refusals_are_a_status_in_the_encoding_of_the_request(  # noqa: PLR0917 - a table
    url, store, body, content_type, headers, status, message
):
    response = post(url, body, content_type, **headers)
    assert response.status_code == status
    if content_type == PROTOBUF:
        assert response.headers["Content-Type"] == PROTOBUF
        answered = Status.FromString(response.content)
        assert (answered.code, message in answered.message) == (Code.INVALID_ARGUMENT, True)
    else:
        assert response.headers["Content-Type"] == JSON
        assert message in response.json()["message"]
    assert store.batches == []
    assert post(url, BODY).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/traces", 405), ("POST", "/v1/metrics", 404), ("GET", "/v1/logs", 405), ("GET", "/", 404)],
    ids="{}".format,
)
def test_other_http_requests(receiver, method, path, status):
    response = httpx.request(method, f"http://{receiver.http_address}{path}", timeout=PATIENCE_SECONDS)
    assert response.status_code == status
    assert "POST /v1/traces" in response.json()["message"]


def test_a_sender_that_breaks_off_is_no_success(receiver, store, url):
    with socket.create_connection((receiver.http_address.host, receiver.http_address.port)) as connection:
        head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nContent-Length: {len(BODY)}\r\n\r\n"
        connection.sendall(head.encode() + BODY[:-5])
    assert post(url, b"").status_code == 200
    assert store.batches == []


def mixed():
    return request_of(
        good_span(1), good_span(2, attributes={"gen_ai.latency.e2e": float("nan")}), good_span(3, name="x")
    )


def test_partial_success_over_http_in_protobuf(url, store):
    answer = ExportTraceServiceResponse.FromString(post(url, mixed().SerializeToString()).content)
    assert answer.partial_success.rejected_spans == 1
    assert "dead_letters" in answer.partial_success.error_message
    assert len(store.rows) == 1


def test_partial_success_over_http_in_json(url, store):
    answer = post(url, json_of(mixed()), JSON).json()
    assert answer["partialSuccess"]["rejectedSpans"] == "1"
    assert "dead_letters" in answer["partialSuccess"]["errorMessage"]


def test_partial_success_over_grpc(stub, store):
    assert stub.Export(mixed()).partial_success.rejected_spans == 1
    assert stub.Export(request_of(good_span())) == ExportTraceServiceResponse()
    assert len(store.rows) == 2


def test_a_store_that_is_away_is_a_reason_to_send_again_over_http(url, store):
    store.failures = [AWAY, AWAY]
    response = post(url, BODY)
    assert (response.status_code, int(response.headers["Retry-After"]) > 0) == (503, True)
    status = Status.FromString(response.content)
    assert (status.code, status.message) == (Code.UNAVAILABLE, "store: nobody answers")
    assert post(url, json_of(request_of(good_span())), JSON).json() == {
        "code": 14,
        "message": "store: nobody answers",
    }
    assert post(url, BODY).status_code == 200
    assert len(store.rows) == 1


def test_a_store_that_is_away_is_a_reason_to_send_again_over_grpc(stub, store):
    store.failures = [AWAY]
    with pytest.raises(grpc.RpcError) as refused:
        stub.Export(request_of(good_span()))
    assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
    assert stub.Export(request_of(good_span())) == ExportTraceServiceResponse()
    assert len(store.rows) == 1


@pytest.fixture
def full():
    """Return a receiver whose spool is full once."""
    deliver = Deliveries()
    deliver.failures = [SpoolFull("spool", "the spool is full")]
    with OtlpReceiver(deliver, "127.0.0.1:0", "127.0.0.1:0") as receiver:
        yield receiver
    assert len(deliver.lines) == 1


def retry_info(details):
    info = RetryInfo()
    assert details.Unpack(info)
    return info


def test_a_full_spool_is_resource_exhausted_with_retry_info_over_grpc(full):
    with grpc.insecure_channel(str(full.grpc_address)) as channel:
        stub = TraceServiceStub(channel)
        with pytest.raises(grpc.RpcError) as refused:
            stub.Export(request_of(good_span()))
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        trailing = dict(refused.value.trailing_metadata())
        status = Status.FromString(trailing["grpc-status-details-bin"])
        assert (status.code, status.message) == (Code.RESOURCE_EXHAUSTED, "spool: the spool is full")
        assert retry_info(status.details[0]).retry_delay.seconds == 5
        assert stub.Export(request_of(good_span())) == ExportTraceServiceResponse()


def test_a_full_spool_is_503_with_retry_after_over_http(full):
    url = f"http://{full.http_address}/v1/traces"
    response = post(url, BODY)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    status = Status.FromString(response.content)
    assert status.code == Code.RESOURCE_EXHAUSTED
    assert retry_info(status.details[0]).retry_delay.seconds == 5
    assert post(url, BODY).status_code == 200


def test_the_sdks_exporter_sends_again_what_a_full_spool_refused(full):
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(grpc_exporter(full)))
    span = provider.get_tracer("vllm").start_span("llm_request", start_time=START_NS)
    span.set_attributes(GOOD_ATTRIBUTES)
    span.end(end_time=START_NS + 10**9)
    assert provider.force_flush()
    provider.shutdown()


def test_a_disk_that_is_full_is_unavailable():
    deliver = Deliveries()
    deliver.failures = [SpoolUnavailable("spool", "no space left on device")] * 2
    with OtlpReceiver(deliver, "127.0.0.1:0", "127.0.0.1:0") as receiver:
        with grpc.insecure_channel(str(receiver.grpc_address)) as channel:
            with pytest.raises(grpc.RpcError) as refused:
                TraceServiceStub(channel).Export(request_of(good_span()))
            assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
        response = post(f"http://{receiver.http_address}/v1/traces", BODY)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "5")


def raw_export(receiver, body, **settings):
    with grpc.insecure_channel(str(receiver.grpc_address)) as channel:
        call = channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")
        return call(body, timeout=PATIENCE_SECONDS, **settings)


@pytest.mark.parametrize(
    ("body", "settings", "code"),
    [
        pytest.param(b"\xff\xff", {}, grpc.StatusCode.INVALID_ARGUMENT, id="no protobuf"),
        pytest.param(bytes(LARGEST_BODY_BYTES + 1), {}, grpc.StatusCode.RESOURCE_EXHAUSTED, id="too large"),
        pytest.param(
            bytes(200 << 20),
            {"compression": grpc.Compression.Gzip},
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            id="200 MB in gzip",
        ),
    ],
)
def test_grpc_refusals(receiver, store, body, settings, code):
    with pytest.raises(grpc.RpcError) as refused:
        raw_export(receiver, body, **settings)
    assert refused.value.code() == code
    assert store.batches == []


def test_a_span_that_no_parser_takes_costs_no_neighbour_over_grpc(receiver, store):
    body = (
        request_of(good_span(1), good_span(2, name="REPLACE-ME"))
        .SerializeToString()
        .replace(b"REPLACE-ME", b"\xff" * 10)
    )
    answer = ExportTraceServiceResponse.FromString(raw_export(receiver, body))
    assert (answer.partial_success.rejected_spans, len(store.rows)) == (1, 1)


def test_both_transports_and_encodings_of_a_span_are_one_row(url, stub, store):
    post(url, BODY)
    post(url, json_of(request_of(good_span())), JSON)
    stub.Export(request_of(good_span()))
    assert len(store.rows) == 1


@pytest.mark.parametrize("option", ["--grpc", "--http"])
def test_an_occupied_port_is_one_sentence(store, option, capfd):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        addresses = (taken, "127.0.0.1:0") if option == "--grpc" else ("127.0.0.1:0", taken)
        with pytest.raises(UsageError) as refused:
            OtlpReceiver(straight_into(store), *addresses)
    assert str(refused.value) == (
        f"{option}: cannot listen on {taken} (Address already in use); "
        f"stop the program that listens there, or choose another address with {option} HOST:PORT"
    )
    assert capfd.readouterr().err == ""


def test_two_receivers_never_share_a_port(store, receiver):
    with pytest.raises(UsageError, match="Address already in use"):
        OtlpReceiver(straight_into(store), str(receiver.grpc_address), None)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        pytest.param("4317", "4317", id="a port alone"),
        pytest.param("127.0.0.1:99999", "127.0.0.1:99999", id="a port that is none"),
        pytest.param("::1:4317", "::1:4317", id="IPv6 without brackets"),
        pytest.param("host with blanks:1", "host with blanks:1", id="no host"),
        pytest.param("no-such-host.invalid:4317", "no-such-host.invalid", id="a host nobody knows"),
    ],
)
def test_addresses_that_are_none(store, address, found):
    with pytest.raises(UsageError, match="--http: ") as refused:
        OtlpReceiver(straight_into(store), None, address)
    assert refused.value.found == found


def test_one_transport_is_enough_and_none_is_too_few(store):
    with OtlpReceiver(straight_into(store), None, "127.0.0.1:0") as receiver:
        assert receiver.grpc_address is None
    with pytest.raises(UsageError, match="nothing to listen on"):
        OtlpReceiver(straight_into(store), None, None)


def test_a_stopped_receiver_has_committed_covered_and_freed_its_ports(store):
    # ports that the system gives to nobody, so that both are free again when the receiver has left them
    receiver = OtlpReceiver(straight_into(store), *(f"127.0.0.1:{free_port()}" for _ in range(2)))
    with receiver:
        post(
            f"http://{receiver.http_address}/v1/traces",
            request_of(good_span(1), good_span(4)).SerializeToString(),
        )
    assert len(store.covered) == 1
    OtlpReceiver(straight_into(store), str(receiver.grpc_address), str(receiver.http_address)).stop()


@pytest.mark.parametrize("message", ["", "short", "ä" * 100, "x" * 5000], ids=len)
def test_a_status_written_by_hand_reads_as_one(message):
    answered = Status.FromString(failure(ContentType.PROTOBUF, Code.UNAVAILABLE, message))
    assert (answered.code, answered.message) == (14, message)
    assert json.loads(failure(ContentType.JSON, Code.UNAVAILABLE, message)) == {
        "code": 14,
        "message": message,
    }
