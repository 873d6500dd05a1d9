"""What the simulator writes: nginx JSON lines and OTLP requests, in files of a day each."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter

import numpy as np
import pytest

from fairclock.demo.course import End
from fairclock.demo.ids import Ids
from fairclock.demo.incidents import Incident, Mishap
from fairclock.demo.month import month_of
from fairclock.demo.nginx_lines import gateway_lines
from fairclock.demo.rotation import write_daily
from fairclock.demo.simulate import run_month, simulate
from fairclock.demo.spans import engine_lines
from tests.demo.factories import run, tenant, traffic

MILLISECONDS = re.compile(r"\d+\.\d{3}")
# the keys of the documented log, with those that this gateway knows beside
KEYS = [
    "time",
    "request_id",
    "traceparent",
    "tenant",
    "method",
    "uri",
    "status",
    "request_time",
    "request_completion",
    "limit_req_status",
    "limit_conn_status",
    "connection_time",
    "connection_requests",
    "upstream_addr",
    "upstream_status",
    "upstream_connect_time",
    "upstream_header_time",
    "upstream_response_time",
    "x_request_start",
    "request_length",
    "bytes_sent",
    "server",
    "stream",
    "model",
    "region",
    "simulated",
]


def lines_of(result):
    ids = Ids.drawn(np.random.default_rng(3), result.traffic)
    logged = [json.loads(line) for _, line in gateway_lines(result, ids, np.random.default_rng(4))]
    by_trace = {each["traceparent"].split("-")[1]: each for each in logged}
    return [by_trace[trace] for trace in ids.trace]


def spans_of(result, seed=4):
    ids = Ids.drawn(np.random.default_rng(3), result.traffic)
    exported = []
    for _, line in engine_lines(result, ids, np.random.default_rng(seed)):
        (resource,) = json.loads(line)["resourceSpans"]
        instance = attributes(resource["resource"])["service.instance.id"]
        exported += [(instance, span) for span in resource["scopeSpans"][0]["spans"]]
    return ids, exported


def attributes(holder):
    values = {}
    for each in holder["attributes"]:
        ((kind, value),) = each["value"].items()
        values[each["key"]] = int(value) if kind == "intValue" else value
    return values


@pytest.fixture(scope="module")
def month():
    return run_month(month=month_of("2026-10"), requests=4_000, seed=5)


def test_every_request_has_one_line_with_exactly_the_documented_keys_and_only_text(month):
    logged = lines_of(month)
    assert len(logged) == month.traffic.size
    for each in logged:
        assert list(each) == KEYS
        assert all(isinstance(value, str) for value in each.values())
        assert each["simulated"] == "1"
        for key in ("time", "request_time", "connection_time"):
            assert MILLISECONDS.fullmatch(each[key])
        assert "-" not in (each["tenant"], each["limit_conn_status"], each["x_request_start"]), "escape=json"


def test_lines_are_written_in_the_order_of_their_ends(month):
    ids = Ids.drawn(np.random.default_rng(3), month.traffic)
    stamped = list(gateway_lines(month, ids, np.random.default_rng(4)))
    stamps = [stamp for stamp, _ in stamped]
    assert stamps == sorted(stamps)
    assert all(f'"time":"{stamp // 1000}.{stamp % 1000:03d}"'.encode() in line for stamp, line in stamped)


def test_times_are_whole_milliseconds_of_instants_that_were_cut_before_they_were_subtracted():
    (line,) = lines_of(run(traffic([1.0004])))
    received = round(float(line["time"]) * 1000) - round(float(line["request_time"]) * 1000)
    assert received == 1_790_784_001_000


def test_a_kept_alive_connection_counts_its_requests_and_its_age_holds_them_all():
    logged = lines_of(run(traffic([1.0, 5.0, 9.0, 200.0])))
    assert [each["connection_requests"] for each in logged] == ["1", "2", "3", "1"]
    assert float(logged[2]["connection_time"]) > 8.0
    for each in logged:
        assert float(each["connection_time"]) >= float(each["request_time"])


REFUSED = Incident(at=0.5, mishap=Mishap.CRASH, replica=0, down_seconds=60.0)
HANG = Incident(at=0.5, mishap=Mishap.HANG, replica=0, hang_seconds=100.0)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            lambda: run(traffic([1.0])),
            {"status": "200", "request_completion": "OK", "upstream_status": "200", "stream": "false"},
            id="an answer",
        ),
        pytest.param(
            lambda: run(traffic([1.0], stream=True)),
            {"status": "200", "request_completion": "OK", "stream": "true"},
            id="a stream",
        ),
        pytest.param(
            lambda: run(traffic([1.0], patience_seconds=0.05)),
            {
                "status": "499",
                "request_completion": "",
                "upstream_status": "-",
                "upstream_header_time": "-",
                "bytes_sent": "0",
                "stream": "",
            },
            id="a client that left before the answer",
        ),
        pytest.param(
            lambda: run(traffic([1.0], stream=True, leaves_after_tokens=5)),
            {"status": "200", "request_completion": "", "upstream_status": "200", "stream": "true"},
            id="a client that left in the middle",
        ),
        pytest.param(
            lambda: run(traffic([1.0], malformed=True)),
            {"status": "400", "request_completion": "OK", "upstream_status": "400", "stream": ""},
            id="a malformed request",
        ),
        pytest.param(
            lambda: run(traffic([0.9, 1.0], tenants=(tenant(requests_per_second=1, request_burst=0),))),
            {
                "status": "503",
                "limit_req_status": "REJECTED",
                "upstream_addr": "",
                "upstream_status": "",
                "upstream_connect_time": "",
                "upstream_header_time": "",
                "upstream_response_time": "",
                "request_time": "0.000",
            },
            id="a request over the limit",
        ),
        pytest.param(
            lambda: run(traffic([0.9] * 4 + [0.95] * 2 + [1.0], completion_tokens=500)),
            {"status": "503", "limit_req_status": "PASSED", "upstream_status": "503"},
            id="a full engine",
        ),
        pytest.param(
            lambda: run(traffic([1.0]), incidents=[HANG], read_timeout_seconds=5.0),
            {
                "status": "504",
                "upstream_status": "504",
                "upstream_header_time": "-",
                "request_completion": "OK",
            },
            id="a silent engine",
        ),
        pytest.param(
            lambda: run(traffic([1.0]), incidents=[REFUSED]),
            {
                "status": "502",
                "upstream_status": "502",
                "upstream_addr": "10.20.1.11:8000",
                "upstream_header_time": "-",
            },
            id="a lone engine that is down",
        ),
        pytest.param(
            lambda: run(traffic([1.0]), replicas=2, incidents=[REFUSED]),
            {
                "status": "200",
                "upstream_status": "502, 200",
                "upstream_addr": "10.20.1.11:8000, 10.20.1.12:8000",
            },
            id="a second try",
        ),
        pytest.param(
            lambda: run(
                traffic([1.0, 1.1]),
                replicas=2,
                incidents=[REFUSED, Incident(at=0.6, mishap=Mishap.CRASH, replica=1, down_seconds=60.0)],
            ),
            {
                "status": "502",
                "upstream_status": "502",
                "upstream_addr": "m",
                "upstream_connect_time": "-",
                "upstream_header_time": "-",
                "upstream_response_time": "0.000",
            },
            id="no engine left to try",
        ),
    ],
)
def test_what_nginx_would_log_of(made, expected):
    *_, line = lines_of(made())
    assert {key: line[key] for key in expected} == expected


def test_each_try_has_its_own_times():
    crash = Incident(at=1.3, mishap=Mishap.CRASH, replica=0, down_seconds=60.0)
    *_, line = lines_of(run(traffic([1.0, 1.0, 1.1], completion_tokens=300), replicas=2, incidents=[crash]))
    first, second = (float(each) for each in line["upstream_response_time"].split(", "))
    assert first == pytest.approx(0.2, abs=0.05)
    assert first + second == pytest.approx(float(line["request_time"]), abs=0.01)
    assert line["upstream_header_time"].startswith("-, ")


def test_upstream_times_may_exceed_the_requests_time_by_a_millisecond_but_no_more(month):
    excesses = Counter()
    for each in lines_of(month):
        if each["upstream_response_time"] and "," not in each["upstream_response_time"]:
            excess = round(1000 * (float(each["upstream_response_time"]) - float(each["request_time"])))
            excesses[max(excess, 0)] += 1
    assert set(excesses) == {0, 1}


def test_only_what_the_engine_answered_has_a_span_and_it_carries_the_gateways_trace(month):
    ids, exported = spans_of(month)
    answered = {ids.trace[number] for number, end in enumerate(month.course.end) if end == End.ANSWERED}
    requests = [span for _, span in exported if span["name"] == "llm_request"]
    assert {span["traceId"] for span in requests} <= answered
    assert len(answered) - len(requests) <= 10, "an exporter drops one in thousands"
    assert all(span["parentSpanId"] == span["traceId"][:16] for span in requests)
    assert len({span["spanId"] for span in requests}) == len(requests)
    assert any(span["name"] == "Allocate KV cache" for _, span in exported), "engines started again"


def test_a_spans_phases_are_those_of_the_engine_and_fit_into_its_own_end_to_end(month):
    ids, exported = spans_of(month)
    number_of = {trace: number for number, trace in enumerate(ids.trace)}
    marks = month.course.marks
    checked = 0
    for instance, span in exported:
        if span["name"] != "llm_request":
            continue
        number = number_of[span["traceId"]]
        found = attributes(span)
        assert span["kind"] == 2
        assert found["fairclock.simulated"] is True
        assert instance == month.replicas[month.course.replica[number]]
        assert found["gen_ai.usage.prompt_tokens"] == month.traffic.prompt_tokens[number]
        assert found["gen_ai.usage.completion_tokens"] == month.traffic.completion_tokens[number]
        queue, prefill, decode, inference, whole = (
            found[f"gen_ai.latency.{name}"]
            for name in (
                "time_in_queue",
                "time_in_model_prefill",
                "time_in_model_decode",
                "time_in_model_inference",
                "e2e",
            )
        )
        if prefill > 1e6:
            continue  # a span whose scheduling was never stamped
        assert queue == marks.scheduled[number] - month.course.queued[number]
        assert inference == pytest.approx(prefill + decode)
        assert min(queue, prefill) > 0
        assert queue + inference < whole
        assert whole <= month.course.responded[number] - month.course.arrived[number]
        length = (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e9
        assert length == pytest.approx(whole, abs=0.001)
        checked += 1
    assert checked > 3_500


def test_the_clock_of_an_engines_host_is_not_the_gateways(month):
    ids, exported = spans_of(month)
    number_of = {trace: number for number, trace in enumerate(ids.trace)}
    offsets = {}
    for instance, span in exported:
        if span["name"] == "llm_request":
            at = month.traffic.epoch_seconds + month.course.arrived[number_of[span["traceId"]]]
            offsets.setdefault(instance, []).append(int(span["startTimeUnixNano"]) / 1e9 - at)
    assert len(offsets) == 3
    for values in offsets.values():
        assert 0.003 < abs(np.mean(values)) < 0.3


def test_request_ids_are_decorated_as_the_engine_does():
    pair = (tenant(), tenant(name="b", uri="/v1/completions", own_ids="waybill-"))
    ids, exported = spans_of(run(traffic([1.0, 2.0], tenants=pair, tenant=[0, 1])))
    names = [attributes(span)["gen_ai.request.id"] for _, span in exported]
    assert names == [f"chatcmpl-{ids.trace[0]}", "cmpl-waybill-000001-0"]


def test_a_tenant_s_name_may_be_anything():
    names = ["云帆金融", "<img src=x>", "\"'; DROP TABLE requests; --", "back\\slash\nline"]
    tenants = tuple(tenant(name=name) for name in names)
    logged = lines_of(run(traffic([1.0, 2.0, 3.0, 4.0], tenants=tenants, tenant=[0, 1, 2, 3])))
    assert [each["tenant"] for each in logged] == names


def test_a_file_holds_a_local_day_and_the_last_one_all_that_comes_later(tmp_path):
    month = month_of("2026-10")
    at = month.epoch_seconds * 1000
    days = 86_400_000
    stamped = [
        (at + 1, b"a"),
        (at + days - 1, b"b"),
        (at + days, b"c"),
        (at + 30 * days, b"d"),
        (at + 32 * days, b"e"),
    ]
    paths = write_daily(stamped, name="gateway", month=month, folder=tmp_path)
    assert [path.name for path in paths] == [
        "gateway-2026-10-01.jsonl.gz",
        "gateway-2026-10-02.jsonl.gz",
        "gateway-2026-10-31.jsonl",
    ]
    assert gzip.decompress(paths[0].read_bytes()) == b"a\nb\n"
    assert gzip.decompress(paths[1].read_bytes()) == b"c\n"
    assert paths[2].read_bytes() == b"d\ne\n"


def test_equal_seeds_give_equal_bytes_and_other_seeds_others(tmp_path):
    def written(name, seed):
        made = simulate(out=tmp_path / name, month="2026-10", requests=400, seed=seed)
        paths = (*made.gateway_files, *made.engine_files, *made.contracts)
        return {path.relative_to(tmp_path / name): path.read_bytes() for path in paths}

    assert written("one", 1) == written("again", 1)
    assert written("one", 1) != written("other", 2)
