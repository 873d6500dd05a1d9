"""Own the trying of wrong and strange input: a clear sentence, the right exit code, and nothing lost beside it."""

from __future__ import annotations

import gzip
import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.commands import Answer, Worker, ingest, said
from tests.acceptance.contracts import good_contract, write_contract
from tests.acceptance.oracle.contract import from_us, period_us
from tests.acceptance.traffic import MS, Traffic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GOOD_LINE = (
    b'{"time":"1791000000.500","request_id":"a","tenant":"acme","uri":"/v1/chat/completions","status":"200",'
    b'"request_time":"0.250","request_completion":"OK"}\n'
)
COMBINED = b'192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "POST /v1 HTTP/1.1" 200 512 "-" "curl/8.5"\n'
MANY_LINES = b"".join(GOOD_LINE.replace(b'"a"', b'"a%d"' % number) for number in range(500))
SPAN = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET /","traceId":"%b","spanId":"%b"}]}]}]}\n' % (
    b"1" * 32,
    b"2" * 16,
)

FILES: dict[str, tuple[str, bytes, str]] = {
    "an empty log": ("gateway", b"", "empty file"),
    "an empty file of spans": ("otlp", b"", "empty file"),
    "a log of blank lines": ("gateway", b"\n\n\n", "nothing could be read"),
    "a binary file as a log": ("gateway", bytes(range(256)) * 40, "binary file"),
    "a binary file as spans": ("otlp", bytes(range(256)) * 40, "is not OTLP"),
    "a log of another format": ("gateway", COMBINED * 3, "combined"),
    "a log as spans": ("otlp", COMBINED * 3, "is not OTLP"),
    "spans as a log": ("gateway", SPAN * 3, "nothing could be read"),
    "a truncated gzip of a log": ("gateway", gzip.compress(MANY_LINES)[:-9], "ends in the middle"),
    "a truncated gzip of spans": ("otlp", gzip.compress(SPAN * 500)[:-9], "ends in the middle"),
    "a gzip that is damaged inside": (
        "gateway",
        gzip.compress(MANY_LINES, mtime=0)[:600] + b"damage" + gzip.compress(MANY_LINES, mtime=0)[606:],
        "damaged",
    ),
}

TENANTS = {
    "of HTML": "<img src=x>",
    "of SQL": "\"'; DROP TABLE requests; --",
    "in Chinese": "数据公司（上海）",
    "that a spreadsheet would compute": "=1+1",
    "of quotes, braces and backslashes": "{{7*7}}\\'\"`${x}%s\\n",
}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with Worker(f"chdb://{tmp_path_factory.mktemp('wrong')}/store") as running:
        yield running


def is_told(answer: Answer, *, code: int) -> str:
    """Return what stderr says first: ``where: what (found); what to do``, without a traceback."""
    assert answer.code == code, answer
    assert "Traceback" not in answer.err
    first = answer.err.splitlines()[0]
    assert ": " in first, answer
    return first


@pytest.mark.parametrize(("kind", "content", "says"), FILES.values(), ids=FILES)
def test_a_file_that_is_none_is_told_in_one_sentence(
    kind: str, content: bytes, says: str, worker: Worker, tmp_path: Path
) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    answer = worker.run("ingest", kind, "--json", path)
    first = is_told(answer, code=2)
    assert str(path) in first
    assert says in first
    assert "; " in first
    counts = said(answer)
    assert counts["read"] == sum(value for key, value in counts.items() if key != "read")


def test_a_file_that_is_missing_is_told_before_anything_is_read(worker: Worker, tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    good.write_bytes(GOOD_LINE.replace(b'"a"', b'"never-read"'))
    first = is_told(worker.run("ingest", "gateway", good, tmp_path / "missing.jsonl"), code=2)
    assert "missing.jsonl" in first
    found = worker.run(
        "query", "SELECT count() AS n FROM gateway_requests WHERE request_id = 'never-read'", "--json"
    )
    assert int(json.loads(found.out)["n"]) == 0


def test_a_bad_line_costs_its_neighbours_nothing(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    lines = [GOOD_LINE.replace(b'"a"', b'"n%d"' % number) for number in range(6)]
    rubbish = [COMBINED, b"\x00\x00\xff\xfe\n", b"\n", lines[0][:50] + b"\n", b'{"time":"soon"}\n']
    path.write_bytes(b"".join(line for pair in zip(lines, [*rubbish, b""], strict=True) for line in pair))
    answer = worker.run("ingest", "gateway", "--json", path)
    assert answer.code == 0, answer
    assert said(answer)["stored"] == 6
    assert said(answer)["dead_letters"] >= 3


def test_all_five_mistakes_of_a_contract_are_told_at_once(worker: Worker, tmp_path: Path) -> None:
    contract = good_contract(
        term={"from": "2026-01-01", "to": "2026-12-31", "time_zone": "Asia/Shanghia"},
        clock={"start": "recieved"},
        insufficient={"below": "many", "verdict": "void"},
        unmeasured={"coverage_floor": "99.5%", "below_floor": "voided"},
        objectives=[
            {"name": "p99", "latency": {"clock": "end_to_end", "percentil": 99, "at_most": "2s"}},
            {"name": "availability", "availability": {"formula": "request_ratio", "target": "99.9%"}},
        ],
    )
    path = write_contract(contract, tmp_path)
    mistakes = (
        "term.time_zone",
        "clock.start",
        "insufficient.below",
        "unmeasured.below_floor",
        "objectives[0].latency.percentil",
    )
    answer = worker.run("report", path, "--month", "2026-10", "-o", tmp_path)
    is_told(answer, code=2)
    assert [each for each in mistakes if each not in answer.err] == []
    assert "Asia/Shanghai" in answer.err
    lint = worker.run("contract", "lint", path)
    assert lint.code == 1
    assert [each for each in mistakes if each not in lint.out + lint.err] == []


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02\xff", b"a: [", b"- a list", b"%PDF-1.7"], ids=repr)
def test_a_file_that_is_no_contract_is_told(content: bytes, worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "contract.yaml"
    path.write_bytes(content)
    first = is_told(worker.run("report", path, "--month", "2026-10", "-o", tmp_path), code=2)
    assert str(path) in first


@pytest.mark.parametrize("month", ["2026-13", "2026", "october", "2026-1", "0000-00"])
def test_a_month_that_is_none_is_wrong_usage(month: str, worker: Worker, tmp_path: Path) -> None:
    contract = write_contract(good_contract(), tmp_path)
    assert month in is_told(worker.run("report", contract, "--month", month, "-o", tmp_path), code=2)


def test_a_month_outside_the_term_cannot_be_evaluated(worker: Worker, tmp_path: Path) -> None:
    contract = write_contract(good_contract(), tmp_path)
    assert "2025-12" in is_told(worker.run("report", contract, "--month", "2025-12", "-o", tmp_path), code=3)


QUIET = {
    "that was read through": ("violated", 3, "insufficient_data"),
    "that nobody read, which the contract counts": ("violated", 1, "violated"),
    "that nobody read, which it leaves open": ("void", 3, "not_measured"),
}


@pytest.mark.parametrize("kind", QUIET)
def test_a_month_without_traffic_is_told_from_one_that_nobody_read(
    kind: str, worker: Worker, tmp_path: Path
) -> None:
    read_through = kind == "that was read through"
    below_floor, code, verdict = QUIET[kind]
    month = "2026-05" if read_through else "2026-04"
    if read_through:
        path = tmp_path / "other.jsonl"
        path.write_bytes(GOOD_LINE.replace(b'"1791', b'"1778').replace(b'"acme"', b'"someone else"'))
        ingest(worker, "gateway", [path], ("2026-05-01T00:00:00+08:00", "2026-06-01T00:00:00+08:00"))
    contract = write_contract(
        good_contract(id=below_floor, unmeasured={"coverage_floor": "99.5%", "below_floor": below_floor}),
        tmp_path,
    )
    content, answer = worker.report(contract, month, tmp_path)
    assert answer.code == code
    assert "Traceback" not in answer.err
    report = json.loads(content)
    assert report["traffic"]["admitted"] == 0
    assert report["coverage"] == {"gateway": 1.0 if read_through else 0.0, "engine": 0.0, "joined": None}
    assert [each["verdict"] for each in report["objectives"]] == [verdict, verdict]
    assert [each["value"] for each in report["objectives"]] == [None, None]
    assert [each["max"] for each in report["latency"]] == [None] * len(report["latency"])


@pytest.mark.parametrize("tenant", TENANTS.values(), ids=TENANTS)
def test_a_tenant_is_a_name_and_nothing_else(tenant: str, worker: Worker, tmp_path: Path) -> None:
    traffic = Traffic(random=Random(3))
    start = 1_782_000_000_000 * MS
    for number in range(3):
        traffic.log(received_us=start + number * MS, took_ms=40, request_id="x", tenant=tenant)
    gateway, _ = traffic.write(tmp_path / "raw")
    ingest(worker, "gateway", [gateway])
    contract = write_contract(
        good_contract(customer={"name": tenant, "tenants": [tenant]}, title={"en": tenant, "zh": tenant}),
        tmp_path,
    )
    answer = worker.run("report", contract, "--month", "2026-06", "--format", "json,html,csv", "-o", tmp_path)
    assert answer.code in (1, 3), answer
    report = json.loads((tmp_path / "acme-2026-2026-06.json").read_bytes())
    assert report["contract"]["customer"]["tenants"] == [tenant]
    assert report["traffic"]["admitted"] == 3
    page = (tmp_path / "acme-2026-2026-06.html").read_text(encoding="utf-8")
    assert "<img" not in page.replace('<img src="data:', "")
    assert ("49" not in page) or ("{{7*7}}" in page) or "{{" not in tenant
    for line in (tmp_path / "acme-2026-2026-06.csv").read_text(encoding="utf-8-sig").splitlines():
        assert not any(cell.strip('"').startswith(("=", "@")) for cell in line.split(","))
    assert worker.run("query", "SELECT count() FROM requests").code == 0


@pytest.mark.parametrize(
    ("zone", "month", "hours"),
    [
        ("Europe/Berlin", "2026-10", 745),
        ("America/New_York", "2026-03", 743),
        ("Australia/Lord_Howe", "2026-04", 720.5),
        ("Asia/Kolkata", "2026-02", 672),
    ],
)
def test_a_month_holds_its_first_and_its_last_millisecond_and_no_other(
    zone: str, month: str, hours: float, worker: Worker, tmp_path: Path
) -> None:
    clauses: dict[str, Any] = {"from": "2026-01-01", "to": "2026-12-31", "time_zone": zone}
    start, end = period_us({"term": clauses}, month)
    assert (end - start) / 3_600_000_000 == hours
    tenant = f"edge of {zone}"
    traffic = Traffic(random=Random(4))
    for name, received in {"before": start - MS, "first": start, "last": end - MS, "after": end}.items():
        traffic.log(received_us=received, took_ms=100, request_id=name, tenant=tenant)
    gateway, _ = traffic.write(tmp_path / "raw")
    ingest(worker, "gateway", [gateway], (from_us(start).isoformat(), from_us(end).isoformat()))
    contract = write_contract(
        good_contract(term=clauses, customer={"name": "Edge", "tenants": [tenant]}), tmp_path
    )
    content, answer = worker.report(contract, month, tmp_path)
    report = json.loads(content)
    assert report["traffic"]["admitted"] == 2
    assert report["period"]["hours"] == hours
    assert report["coverage"]["gateway"] == 1
    assert answer.code == 0
