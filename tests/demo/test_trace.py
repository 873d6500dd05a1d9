"""Recorded arrivals: what is read, kept and refused."""

from __future__ import annotations

import json

import pytest

from fairclock.demo.simulate import simulate_trace
from fairclock.demo.trace import read_trace, recorded_traffic
from fairclock.errors import InputError

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"


def trace_file(folder, *rows, header=HEADER, ending="\n"):
    path = folder / "trace.csv"
    path.write_bytes(ending.join([header, *rows]).encode())
    return path


def test_times_and_token_counts_are_kept(tmp_path):
    trace = read_trace(
        trace_file(
            tmp_path,
            "2023-11-16 18:17:03.9799600,4808,10",
            "2023-11-16 18:17:04.0319600,3180,8",
            ending="\r\n",
        )
    )
    assert trace.month.name == "2023-11"
    assert list(trace.received_seconds) == pytest.approx([1_361_823.97996, 1_361_824.03196], abs=1e-6)
    assert list(trace.prompt_tokens) == [4808, 3180]
    assert list(trace.completion_tokens) == [10, 8]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2023-11-01 00:00:05", 5.0),
        ("2023-11-01T00:00:05.25Z", 5.25),
        ("2023-11-01 08:00:05.000000001+08:00", 5.0),
        ("2023-11-01 00:00:05.9999999", 5.9999999),
    ],
)
def test_an_instant_may_be_written_as(tmp_path, written, seconds):
    trace = read_trace(trace_file(tmp_path, f"{written},1,1"))
    assert trace.received_seconds[0] == pytest.approx(seconds, abs=1e-8)


def test_rows_out_of_order_are_put_in_order(tmp_path):
    trace = read_trace(trace_file(tmp_path, "2023-11-16 00:00:02,7,1", "2023-11-16 00:00:01,5,1"))
    assert list(trace.prompt_tokens) == [5, 7]


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        ((), HEADER, "no rows"),
        ((), "", "not the header of a trace"),
        (("2023-11-16 00:00:01,5,1",), "time,prompt,completion", "not the header of a trace"),
        (("2023-11-16 00:00:01,5",), HEADER, "trace.csv:2: a row needs three fields"),
        (("2023-11-16 00:00:01,5,1", "yesterday,5,1"), HEADER, r"trace.csv:3: not an instant \(yesterday\)"),
        (("2023-02-30 00:00:01,5,1",), HEADER, "not an instant"),
        (("2023-11-16 00:00:01,5,0",), HEADER, "at least 1"),
        (("2023-11-16 00:00:01,-5,1",), HEADER, "at least 1"),
        (("2023-11-16 00:00:01,1e3,1",), HEADER, "at least 1"),
        (("2023-11-30 23:59:59,5,1", "2023-12-01 00:00:00,5,1"), HEADER, "more than one calendar month"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_line(tmp_path, rows, header, sentence):
    with pytest.raises(InputError, match=sentence):
        read_trace(trace_file(tmp_path, *rows, header=header))


def test_a_binary_file_and_a_missing_one_are_refused(tmp_path):
    path = tmp_path / "trace.csv"
    with pytest.raises(InputError, match="cannot be read"):
        read_trace(path)
    path.write_bytes(b"\x00\xff\x9f\x92binary")
    with pytest.raises(InputError, match=r"not a CSV file|not the header"):
        read_trace(path)


def test_a_trace_is_one_tenant_whose_every_request_is_answered(tmp_path):
    path = trace_file(tmp_path, *(f"2023-11-16 00:00:{second:02d}.5,1000,20" for second in range(60)))
    made = simulate_trace(out=tmp_path / "out", trace=read_trace(path), replicas=1, seed=1)
    (file,) = made.gateway_files
    logged = [json.loads(line) for line in _lines(file)]
    assert {(each["tenant"], each["status"], each["simulated"]) for each in logged} == {("trace", "200", "1")}
    received = sorted(float(each["time"]) - float(each["request_time"]) for each in logged)
    assert received == pytest.approx([1_700_092_800.5 + second for second in range(60)], abs=0.002)
    assert [path.name for path in made.contracts] == ["trace.yaml"]


def test_more_engines_queue_less(tmp_path):
    path = trace_file(tmp_path, *(f"2023-11-16 00:00:00.{n:03d},2000,50" for n in range(200)))
    traffic = recorded_traffic(read_trace(path), seed=1)
    assert traffic.size == 200
    ends = [
        max(float(json.loads(line)["time"]) for line in _lines(made.gateway_files[0]))
        for made in (
            simulate_trace(out=tmp_path / str(n), trace=read_trace(path), replicas=n, seed=1) for n in (1, 4)
        )
    ]
    assert ends[0] - 1_700_092_800 > 3 * (ends[1] - 1_700_092_800)


def _lines(path):
    import gzip

    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines()
