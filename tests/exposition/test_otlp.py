"""Requests as spans: taken apart exactly, sent once each, again where nobody took them, and without anybody's text."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.resources import Resource

from exporters.otlp.decomposition import FinishedRequest, is_sampled, resource_of, spans_of
from exporters.otlp.encoding import trace_request
from exporters.otlp.requests import Batch, RequestSender
from exporters.otlp.sending import Answer, Backend, Fate
from exporters.otlp.telemetry import start_telemetry
from exporters.prometheus import Figure
from fairclock.cli.pipeline.passes import Passes
from fairclock.errors import StoreUnreachable
from tests.exposition.conftest import SECTION, Recorder
from tests.faults.processes import eventually

REQUEST = FinishedRequest(
    received_at=datetime(2026, 10, 7, 3, tzinfo=UTC), request_id="order-7", trace_id=f"{0xA1:016x}{0xB2:016x}", content_hash=5,
    k=0, tenant="acme", model="deepseek-v4", route="/v1/chat/completions", region="cn-north", upstream="10.0.0.1:8000", status=200,
    outcome="ok", error_code="", stream=True, inference_mode="fp16", model_version="v4.1", attempts=1,
    end_to_end_us=2_000_000, forwarded_us=10_000, queue_us=400_000, prefill_us=300_000, decode_us=1_100_000,
    time_to_first_token_us=760_000, prompt_tokens=100, cached_tokens=20, completion_tokens=50, engine="joined", simulated=False,
)  # fmt: skip
UNJOINED = replace(
    REQUEST, engine="none", queue_us=None, prefill_us=None, decode_us=None, prompt_tokens=None, cached_tokens=None,
    completion_tokens=None, time_to_first_token_us=None,
)  # fmt: skip


def taken_apart(request, **changes):
    spans = list(spans_of(replace(request, **changes), resource_of("llm-gateway")))
    return {span.attributes.get("fairclock.phase", "gateway"): span for span in spans}


def test_phases_are_as_long_as_they_were_and_lie_in_the_request():
    spans = taken_apart(REQUEST)
    root = spans.pop("gateway")
    assert root.end_time - root.start_time == 2_000_000_000
    assert {name: (each.end_time - each.start_time) // 1000 for name, each in spans.items()} == {
        "queue": 400_000, "prefill": 300_000, "decode": 1_100_000,
    }  # fmt: skip
    assert spans["queue"].start_time == root.start_time + 10_000_000
    assert spans["queue"].end_time == spans["prefill"].start_time
    assert spans["prefill"].end_time == spans["decode"].start_time
    for each in spans.values():
        assert (each.parent.span_id, each.context.trace_id) == (root.context.span_id, root.context.trace_id)
    # what nginx tells the engine: the engine's own span becomes a child of the gateway's
    assert (root.parent, root.context.span_id) == (None, 0xA1)


@pytest.mark.parametrize(
    ("changes", "begins_us"),
    [
        ({"forwarded_us": 900_000}, 200_000),
        ({"forwarded_us": None}, 0),
        ({"end_to_end_us": 1_799_000}, 0),
    ],
    ids=["the gateway's queue is in both", "nobody knows when it was handed on", "a gateway's milliseconds"],
)
def test_phases_never_begin_before_the_request_nor_end_after_it_where_they_fit(changes, begins_us):
    spans = taken_apart(REQUEST, **changes)
    assert spans["queue"].start_time - spans["gateway"].start_time == begins_us * 1000
    assert spans["decode"].end_time - spans["decode"].start_time == 1_100_000_000


def test_attributes_are_those_of_the_conventions_and_what_is_not_known_is_absent():
    found = dict(taken_apart(REQUEST)["gateway"].attributes)
    assert found == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "vllm", "gen_ai.request.model": "deepseek-v4",
        "gen_ai.request.stream": True, "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.cache_read.input_tokens": 20, "gen_ai.response.time_to_first_chunk": 0.76,
        "http.route": "/v1/chat/completions", "http.response.status_code": 200,
        "http.request.header.x-request-id": ("order-7",), "server.address": "10.0.0.1:8000", "cloud.region": "cn-north",
        "fairclock.tenant": "acme", "fairclock.outcome": "ok", "fairclock.attempts": 1, "fairclock.engine": "joined",
        "fairclock.model_version": "v4.1", "fairclock.inference_mode": "fp16",
    }  # fmt: skip
    spans = taken_apart(UNJOINED, request_id="", model="", region="", model_version="", inference_mode="")
    assert list(spans) == ["gateway"]
    assert spans["gateway"].name == "chat"
    assert not {key for key in spans["gateway"].attributes if key.startswith("gen_ai.usage")}


def test_nothing_of_a_request_but_what_is_said_here_can_be_sent():
    texts = {each.name for each in fields(FinishedRequest) if each.type == "str"}
    assert texts == {
        "request_id", "trace_id", "tenant", "model", "route", "region", "upstream", "outcome", "error_code",
        "inference_mode", "model_version", "engine",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "error", "code"),
    [
        ({}, None, "UNSET"),
        ({"status": 504, "outcome": "timeout"}, "timeout", "ERROR"),
        ({"status": 200, "outcome": "incomplete"}, "incomplete", "ERROR"),
        ({"status": 503, "outcome": "quota_rejected", "error_code": "QpsExceeded"}, "QpsExceeded", "ERROR"),
        ({"status": 429, "outcome": "quota_rejected"}, "quota_rejected", "UNSET"),
        ({"status": 499, "outcome": "client_aborted"}, "client_aborted", "UNSET"),
    ],
)  # fmt: skip
def test_an_error_is_what_the_service_did_wrong(changes, error, code):
    root = taken_apart(UNJOINED, **changes)["gateway"]
    assert (root.attributes.get("error.type"), root.status.status_code.name) == (error, code)


def test_ids_are_the_same_again_and_others_where_the_request_is_another():
    def ids(**changes):
        return [span.context.span_id for span in taken_apart(REQUEST, **changes).values()]

    assert ids() == ids()
    assert not set(ids(trace_id="")) & set(ids(trace_id="", k=1))
    alone, shared = (
        next(iter(spans_of(REQUEST, resource_of("x"), is_alone=each))).context.span_id
        for each in (True, False)
    )
    assert alone != shared


def test_the_same_share_of_traces_is_sent_whatever_else_they_are():
    requests = [
        replace(REQUEST, trace_id=f"{number * 0x9E3779B97F4A7C15 % 2**128:032x}") for number in range(1, 400)
    ]
    half = [each for each in requests if is_sampled(each, one_in=2)]
    fewer = [each for each in requests if is_sampled(each, one_in=8)]
    assert 140 < len(half) < 260
    assert 20 < len(fewer) < 90
    assert set(map(id, fewer)) <= set(map(id, half))
    assert all(is_sampled(each, one_in=1) for each in requests)


def test_the_encoding_is_that_of_opentelemetrys_own_exporter():
    spans = [
        *spans_of(REQUEST, Resource({"service.name": "a", "n": 1.5})),
        *spans_of(replace(UNJOINED, outcome="timeout", status=504), resource_of("b")),
    ]
    ours, theirs = ExportTraceServiceRequest.FromString(trace_request(spans)), encode_spans(spans)
    for each in theirs.resource_spans:
        for span in each.scope_spans[0].spans:
            span.ClearField("flags")
    assert ours == theirs


def partial(rejected):
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = rejected
    response.partial_success.error_message = "too long ago"
    return httpx.Response(200, content=response.SerializeToString())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (httpx.Response(200), Answer(fate=Fate.TAKEN)),
        (partial(3), Answer(fate=Fate.TAKEN, problem="too long ago", rejected=3)),
        (httpx.Response(503, headers={"retry-after": "7"}), Answer(fate=Fate.AGAIN, problem="HTTP status 503:", wait_seconds=7)),
        (httpx.Response(429, headers={"retry-after": "soon"}), Answer(fate=Fate.AGAIN, problem="HTTP status 429:")),
        (httpx.Response(400, text="no"), Answer(fate=Fate.REFUSED, problem="HTTP status 400: no")),
    ],
    ids=["taken", "taken in part", "later", "later, nobody knows when", "never"],
)  # fmt: skip
def test_what_an_answer_means(answer, expected):
    assert Backend(SECTION, transport=httpx.MockTransport(Recorder(answer))).post("traces", b"x") == expected


def test_headers_are_read_from_their_file_and_shown_nowhere(tmp_path):
    path = tmp_path / "headers"
    section = SECTION.model_copy(update={"headers_file": path})
    recorder = Recorder()
    backend = Backend(section, transport=httpx.MockTransport(recorder))
    path.write_text("no header\n")
    answer = backend.post("traces", b"x")
    assert (answer.fate, "line 1: is no header" in answer.problem) == (Fate.AGAIN, True)
    path.write_text("\nAuthorization: Bearer s3cret\n")
    assert backend.post("metrics", b"x").fate is Fate.TAKEN
    (request,) = recorder.requests
    assert (request.url.path, request.headers["authorization"]) == ("/v1/metrics", "Bearer s3cret")
    assert "s3cret" not in answer.problem + repr(section)


def test_own_telemetry_is_spans_of_what_is_done_and_figures_as_metrics():
    posted = []

    def post(signal, content):
        posted.append((signal, content))
        return Answer(fate=Fate.TAKEN)

    figures = [
        Figure(name="fairclock_rows", about="Rows.", value=3, labels={"source": "a"}, kind="counter"),
        Figure(name="fairclock_spool_bytes", about="Bytes.", value=2.5),
    ]
    telemetry = start_telemetry(post, lambda: figures, instance="here:1")

    class Fails:
        def step(self, now):
            raise ValueError("not today")

    passes = Passes()
    passes.add("slices", Fails())
    passes.trace_with(telemetry.tracer)
    passes.run(datetime.now(UTC), type("Stop", (), {"is_set": lambda self: False})())
    telemetry.close()
    (spans,) = [
        ExportTraceServiceRequest.FromString(content) for signal, content in posted if signal == "traces"
    ]
    (span,) = spans.resource_spans[0].scope_spans[0].spans
    assert (span.name, span.status.code) == ("evaluator slices", 2)
    metrics = [
        ExportMetricsServiceRequest.FromString(content) for signal, content in posted if signal == "metrics"
    ][-1]
    found = {each.name: each for each in metrics.resource_metrics[0].scope_metrics[0].metrics}
    assert found["fairclock_rows"].sum.data_points[0].as_double == 3
    assert found["fairclock_rows"].sum.is_monotonic
    assert found["fairclock_rows"].sum.data_points[0].attributes[0].value.string_value == "a"
    assert found["fairclock_spool_bytes"].gauge.data_points[0].as_double == 2.5


def told(posted):
    """The values of each request with metrics, by name."""
    for signal, content in posted:
        if signal == "metrics":
            (resource,) = ExportMetricsServiceRequest.FromString(content).resource_metrics
            yield {
                each.name: (each.sum if each.HasField("sum") else each.gauge).data_points[0].as_double
                for each in resource.scope_metrics[0].metrics
            }


def test_a_figure_that_comes_later_is_told_and_what_cannot_be_read_ends_nothing():
    posted, figures = [], []

    def post(signal, content):
        posted.append((signal, content))
        return Answer(fate=Fate.TAKEN)

    def read():
        yield from figures
        if len(figures) > 1:
            raise ValueError("not today")

    telemetry = start_telemetry(post, read, instance="here:1", every_seconds=0.05)
    eventually(lambda: any(told(posted)), what=lambda: "nothing was told")
    figures.append(Figure(name="fairclock_rows", about="Rows.", value=3, kind="counter"))
    eventually(
        lambda: list(told(posted))[-1].get("fairclock_rows") == 3, what=lambda: "nothing was told later"
    )
    figures.append(Figure(name="fairclock_spool_bytes", about="Bytes.", value=2.5))
    before = len(posted)
    eventually(lambda: len(posted) > before + 1, what=lambda: "nothing was told any more")
    telemetry.close()
    assert list(told(posted))[-1] == {"fairclock_up": 1}


def test_whatever_keeps_requests_from_being_read_ends_no_sending_and_is_over_when_it_is(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("exporters.otlp.requests.EVERY_SECONDS", 0.01)
    problems = [StoreUnreachable("store", "nobody answers"), ValueError("a row of the future")]
    seen, reads = [], []

    def read(place):
        reads.append(place)
        seen.append(sender.statistics.problem)
        if len(reads) <= len(problems):
            raise problems[len(reads) - 1]
        return Batch((), 0, [1, 0, -1], is_all=True)

    sender = RequestSender(
        section=SECTION, post=lambda content: Answer(fate=Fate.TAKEN), read=read, path=tmp_path / "place.json",
        random=lambda: 0.0,
    )  # fmt: skip
    sender.start()
    try:
        eventually(lambda: len(reads) > len(problems) + 1, what=lambda: f"it ended: {sender.statistics}")
        assert sender.is_alive
    finally:
        sender.stop()
    assert seen[:4] == [
        "", "store: nobody answers", "an unexpected ValueError('a row of the future')", "",
    ]  # fmt: skip
    assert sender.statistics.failures == 2
