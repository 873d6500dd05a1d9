"""The plugin's log records: accepted as spans are, by every way, and nothing else of a log."""

import json

import grpc
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import LogsServiceStub
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collectors.otlp.committing import FORMAT
from collectors.otlp.coverage import ListeningCoverage
from collectors.otlp.engine_states import STATE_FORMAT, state_batches
from collectors.otlp.files import ingest_otlp_files
from collectors.otlp.json_logs import decode_any_json, decode_log_json
from collectors.otlp.problems import MalformedRequest
from collectors.otlp.protobuf_logs import decode_any_protobuf, decode_log_protobuf
from collectors.otlp.receiver import OtlpReceiver
from exporters.clickhouse import lines_of
from fairclock.errors import SpoolFull
from tests.collectors.deliveries import Deliveries
from tests.collectors.memory_store import MemoryStore
from tests.collectors.otlp_requests import RESOURCE, START_NS, _attributes, good_span, key_values, request_of

END_NS = START_NS + 337_679_147
GOOD = {
    "event.name": "fairclock.request.finished",
    "fairclock.engine.rank": 3,
    "fairclock.record": 17,
    "gen_ai.request.model": "llama",
    "gen_ai.request.id": "cmpl-req-3-0",
    "fairclock.arrived_unix_nano": START_NS,
    "gen_ai.latency.e2e": 0.3376791477203369,
    "gen_ai.latency.time_in_queue": 9.574899991093844e-05,
    "gen_ai.latency.time_in_model_prefill": 1165.25,
    "gen_ai.latency.time_in_model_decode": 0.24294486099995538,
    "gen_ai.latency.time_in_model_inference": 0.2814978970000084,
    "gen_ai.usage.prompt_tokens": 7,
    "gen_ai.usage.cached_tokens": 4,
    "gen_ai.usage.completion_tokens": 40,
    "fairclock.preemptions": 1,
    "gen_ai.response.finish_reason": "length",
}
LINE = {
    "trace_id": "", "span_id": "", "start_ns": str(START_NS), "end_ns": str(END_NS), "instance": "gpu-1:4242",
    "model": "llama", "request_id": "cmpl-req-3-0", "e2e": "0.3376791477203369", "queue": "9.574899991093844e-05",
    "prefill": "1165.25", "decode": "0.24294486099995538", "inference": "0.2814978970000084", "prompt_tokens": 7,
    "completion_tokens": 40, "cached_tokens": 4, "finish_reason": "length", "reporter": "plugin", "engine_rank": "3",
    "preemptions": "1", "record": "17",
}  # fmt: skip
STATE = {
    "event.name": "fairclock.engine.state", "fairclock.engine.rank": 3, "fairclock.engine.running": 2,
    "fairclock.engine.waiting": 6, "fairclock.kv_cache.usage": 0.25, "fairclock.record": 18,
}  # fmt: skip


def record(attributes=None, **changes):
    """A log record of the plugin; `attributes` change the good ones, None takes one away."""
    merged = {**GOOD, **(attributes or {})}
    held = key_values({key: value for key, value in merged.items() if value is not None})
    return LogRecord(**{"time_unix_nano": END_NS, "attributes": held} | changes)


def state(**changes):
    return LogRecord(time_unix_nano=END_NS, attributes=key_values(STATE | changes))


def foreign():
    return LogRecord(
        time_unix_nano=END_NS, body={"string_value": "a prompt"}, attributes=key_values({"a": "b"})
    )


def logs_of(*records):
    request = ExportLogsServiceRequest()
    resource_logs = request.resource_logs.add()
    resource_logs.resource.attributes.extend(key_values(RESOURCE))
    resource_logs.scope_logs.add().log_records.extend(records)
    return request


def json_of(request):
    """Return `request` as OTLP's JSON, written from the specification and not from the product."""
    return json.dumps({
        "resourceLogs": [
            {
                "resource": {"attributes": _attributes(each.resource.attributes)},
                "scopeLogs": [{"logRecords": [_record(one) for one in each.scope_logs[0].log_records]}],
            }
            for each in request.resource_logs
        ]
    }).encode()  # fmt: skip


def _record(one):
    found = {"attributes": _attributes(one.attributes), "body": {"stringValue": one.body.string_value}}
    if one.time_unix_nano:
        found["timeUnixNano"] = str(one.time_unix_nano)
    if one.observed_time_unix_nano:
        found["observedTimeUnixNano"] = str(one.observed_time_unix_nano)
    if one.event_name:
        found["eventName"] = one.event_name
    return found


def both_ways(request):
    """Decode `request` in both encodings; they must say the same."""
    wire, text = decode_log_protobuf(request.SerializeToString()), decode_log_json(json_of(request))
    assert (list(wire.lines), list(wire.state_lines)) == (list(text.lines), list(text.state_lines))
    assert (wire.ignored, list(wire.ends_ns), list(wire.lost_ns)) == (
        text.ignored,
        list(text.ends_ns),
        list(text.lost_ns),
    )
    return wire


def test_a_record_becomes_an_engine_line_with_its_detail_and_impossible_values_as_they_are():
    found = both_ways(logs_of(record()))
    assert [json.loads(line) for line in found.lines] == [LINE]
    assert list(found.ends_ns) == [END_NS]


def test_what_an_engine_says_of_itself_is_a_line_of_its_own():
    found = both_ways(logs_of(state(), record()))
    assert len(found.lines) == 1
    assert [json.loads(line) for line in found.state_lines] == [
        {"event": "state", "at_ns": str(END_NS), "instance": "gpu-1:4242", "engine_rank": "3", "running": "2",
         "waiting": "6", "record": "18", "kv_cache_usage": "0.25"}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "lines", "ignored"),
    [
        (foreign(), 0, 1),
        (record({"event.name": "fairclock.something.newer"}), 0, 1),
        (record({"event.name": None}), 0, 1),
        (record({"event.name": None}, event_name="fairclock.request.finished"), 1, 0),
        (record({"event.name": 7}), 0, 1),
        (record(time_unix_nano=0, observed_time_unix_nano=END_NS), 1, 0),
        (record({"fairclock.arrived_unix_nano": None}), 1, 0),
    ],
    ids=[
        "another program's",
        "a newer plugin's",
        "no event",
        "the event in its own field",
        "an event that is a number",
        "observed, and without a time",
        "without an arrival",
    ],
)  # fmt: skip
def test_which_records_are_taken(one, lines, ignored):
    found = both_ways(logs_of(one))
    assert (len(found.lines), found.ignored) == (lines, ignored)


def test_nothing_but_the_allowed_attributes_gets_in():
    secret = "the customer's secret"
    one = record({"gen_ai.prompt": secret, "fairclock.prompt": secret}, body={"string_value": secret})
    for found in (both_ways(logs_of(one)), both_ways(logs_of(state(prompt=secret)))):
        assert secret.encode() not in b"".join([*found.lines, *found.state_lines])


def test_a_damaged_record_costs_no_other():
    whole = logs_of(record(), foreign()).SerializeToString()
    damaged = whole.replace(b"a prompt", b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8")
    found = decode_log_protobuf(damaged)
    assert json.loads(found.lines[0]) == LINE
    assert b"not readable as a log record" in found.lines[1]


def test_a_time_that_is_none_is_a_bad_line_of_its_own():
    body = json.loads(json_of(logs_of(record(), record())))
    body["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["timeUnixNano"] = "soon"
    found = decode_log_json(json.dumps(body))
    assert len(found.lines) == 2
    assert json.loads(found.lines[0])["bad"] == "time is not a number of nanoseconds"


@pytest.mark.parametrize("body", [b"\xff", b"{", b"[]", b'{"resourceSpans":[]}'])
def test_what_is_no_log_request(body):
    with pytest.raises(MalformedRequest):
        decode_log_json(body)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_request_or_a_problem(body):
    for decode in (decode_log_protobuf, decode_log_json, decode_any_protobuf, decode_any_json):
        try:
            found = decode(body)
        except MalformedRequest:
            continue
        assert all(json.loads(line) for line in [*found.lines, *found.state_lines])


@given(st.data())
def test_a_record_with_anything_in_it_is_a_line_of_json(data):
    value = (
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats()
        | st.text(st.characters(codec="utf-8"))
    )
    changes = {key: data.draw(value) for key in data.draw(st.sets(st.sampled_from(sorted(GOOD | STATE))))}
    changes.pop("event.name", None)
    for base in (record(changes), state(**{key: each for key, each in changes.items() if each is not None})):
        found = decode_log_protobuf(logs_of(base).SerializeToString())
        (line,) = [*found.lines, *found.state_lines]
        assert isinstance(json.loads(line), dict)


@pytest.mark.parametrize("decode", ["protobuf", "json"])
def test_either_signal_is_told_from_the_other(decode):
    log, trace = logs_of(state(), record()), request_of(good_span())
    if decode == "protobuf":
        found = [decode_any_protobuf(each.SerializeToString()) for each in (log, trace)]
    else:
        from tests.collectors.otlp_requests import json_of as json_of_spans

        found = [decode_any_json(json_of(log)), decode_any_json(json_of_spans(trace))]
    assert [(len(each.lines), len(each.state_lines)) for each in found] == [(1, 1), (1, 0)]
    assert b'"reporter":"plugin"' in found[0].lines[0]
    assert b"reporter" not in found[1].lines[0]


@pytest.fixture
def deliveries():
    return Deliveries()


@pytest.fixture
def receiver(deliveries):
    with OtlpReceiver(deliveries, "127.0.0.1:0", "127.0.0.1:0", source="engines") as receiver:
        yield receiver


def post(receiver, content, kind="application/x-protobuf"):
    url = f"http://{receiver.http_address}/v1/logs"
    return httpx.post(url, content=content, headers={"Content-Type": kind}, timeout=120, trust_env=False)


def test_every_transport_takes_logs_beside_spans(receiver, deliveries):
    request = logs_of(state(), record(), foreign())
    assert post(receiver, request.SerializeToString()).content == b""
    assert post(receiver, json_of(request), "application/json").json() == {}
    with grpc.insecure_channel(str(receiver.grpc_address)) as channel:
        assert not LogsServiceStub(channel).Export(request).HasField("partial_success")
        TraceServiceStub(channel).Export(request_of(good_span()))
    formats = [
        (frame.kind, frame.format, frame.payload.count(b"\n")) for frame in deliveries.frames if frame.payload
    ]
    assert formats == [("engine", FORMAT, 1), ("engine", STATE_FORMAT, 1)] * 3 + [("engine", FORMAT, 1)]
    assert receiver.ignored == 3


def test_states_alone_are_delivered_too(receiver, deliveries):
    assert post(receiver, logs_of(state()).SerializeToString()).status_code == 200
    assert [frame.format for frame in deliveries.frames] == [STATE_FORMAT]


def test_a_sender_is_told_to_send_again_while_nothing_can_be_kept(receiver, deliveries):
    request = logs_of(record(), state())
    deliveries.failures = [SpoolFull("spool", "is full", remedy="wait")] * 2
    answer = post(receiver, request.SerializeToString())
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    with grpc.insecure_channel(str(receiver.grpc_address)) as channel, pytest.raises(grpc.RpcError) as raised:
        LogsServiceStub(channel).Export(request)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert deliveries.frames == []
    assert post(receiver, request.SerializeToString()).status_code == 200


def test_records_that_cannot_be_expressed_are_a_partial_success(receiver):
    body = json.loads(json_of(logs_of(record(), record())))
    body["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["timeUnixNano"] = "soon"
    answer = post(receiver, json.dumps(body), "application/json")
    assert answer.json()["partialSuccess"]["rejectedLogRecords"] == "1"


def test_a_body_that_is_none_is_refused(receiver):
    assert post(receiver, b"\xff\xff").status_code == 400
    with grpc.insecure_channel(str(receiver.grpc_address)) as channel:
        export = channel.unary_unary("/opentelemetry.proto.collector.logs.v1.LogsService/Export")
        with pytest.raises(grpc.RpcError) as raised:
            export(b"\xff\xff")
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_files_hold_either_signal_or_both(tmp_path):
    from tests.collectors.otlp_requests import json_of as json_of_spans

    log, trace = logs_of(state(), record(), foreign()), request_of(good_span())
    (tmp_path / "json").write_bytes(json_of(log) + b"\n" + json_of_spans(trace) + b"\n")
    (tmp_path / "protobuf").write_bytes(log.SerializeToString())
    store = MemoryStore()
    counts = ingest_otlp_files(store, [str(tmp_path / "json")], source="files")
    assert (counts.read, counts.ignored) == (4, 1)
    assert ingest_otlp_files(store, [str(tmp_path / "protobuf")], source="files").read == 3
    kinds = {batch.kind: [json.loads(line) for line in batch.lines] for batch in store.batches}
    assert set(kinds) == {"engine", "engine_state"}
    assert kinds["engine_state"][0]["event"] == "state"


def test_an_adapter_makes_state_rows_of_a_state_frame(receiver, deliveries):
    post(receiver, logs_of(state(), state(**{"fairclock.record": 19}), record()).SerializeToString())
    engine, states = deliveries.frames
    assert [(batch.kind, len(batch.lines)) for batch in lines_of(engine)] == [("engine", 1)]
    assert [(batch.kind, len(batch.lines), batch.source) for batch in state_batches(states)] == [
        ("engine_state", 2, "engines")
    ]


def test_time_of_which_a_plugin_lost_records_is_not_covered():
    second = 10**9
    coverage = ListeningCoverage()
    coverage.observe([START_NS, START_NS + 10 * second], listened_seconds=100)
    coverage.lose([(START_NS + 11 * second, START_NS + 20 * second)])
    assert coverage.observe([START_NS + 30 * second], listened_seconds=100) == []
    assert len(coverage.latest(9)) == 2
    lost = LogRecord(time_unix_nano=END_NS, attributes=key_values({
        "event.name": "fairclock.records.lost", "fairclock.lost.records": 5, "fairclock.lost.reason": "queue full",
        "fairclock.lost.from_unix_nano": START_NS, "fairclock.lost.to_unix_nano": END_NS,
    }))  # fmt: skip
    assert list(both_ways(logs_of(lost)).lost_ns) == [(START_NS, END_NS)]
