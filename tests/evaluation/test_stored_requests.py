"""The evaluation on a real store: joined live, sealed, replayed; and the command that seals."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from fairclock.model import Interval
from fairclock.store import LineBatch
from sla.evaluation import evaluate
from tests.evaluation.factories import a_contract, availability, latency

RECEIVED = 1_728_878_400  # 2024-10-14 04:00 UTC
OCTOBER = Interval(start=datetime(2024, 9, 30, 16, tzinfo=UTC), end=datetime(2024, 10, 31, 16, tzinfo=UTC))


def gateway_line(number: int, *, seconds: float, tenant: str, status: str = "200") -> bytes:
    """Return one line of the gateway's log; its trace names the engine's row of the same number."""
    keys = {
        "time": f"{RECEIVED + 10 * number + seconds:.3f}",
        "request_id": f"{number:032x}",
        "traceparent": f"00-{number:032x}-{number:016x}-01",
        "tenant": tenant,
        "method": "POST",
        "uri": "/v1/chat/completions",
        "status": status,
        "request_time": f"{seconds:.3f}",
        "request_completion": "OK",
        "upstream_addr": "10.0.0.1:8000",
        "upstream_status": status,
    }
    return json.dumps(keys).encode()


def engine_line(number: int, *, seconds: str, queue: str) -> bytes:
    """Return one engine row: 0.2 s of prefill, 0.5 s of decode, the given queue."""
    start = (RECEIVED + 10 * number) * 10**9
    keys = {
        "trace_id": f"{number:032x}",
        "span_id": f"{number:016x}",
        "start_ns": str(start),
        "end_ns": str(start + int(float(seconds) * 10**9)),
        "instance": "engine-1",
        "model": "m",
        "request_id": f"cmpl-{number:032x}-0",
        "e2e": seconds,
        "queue": queue,
        "prefill": "0.2",
        "decode": "0.5",
        "inference": "0.7",
        "ttft": "0.31",
        "prompt_tokens": 7,
        "completion_tokens": 11,
    }
    return json.dumps(keys).encode()


def contract_for(tenant: str):
    return a_contract(
        customer={"name": "Acme", "tenants": [tenant]},
        term={"from": "2024-01-01", "to": "2024-12-31", "time_zone": "Asia/Shanghai"},
        objectives=[
            latency(at_most="2s"),
            latency("excluding_queue", at_most="1s"),
            latency("queue", at_most="100ms"),
            availability("90%"),
            {
                "name": "uptime",
                "availability": {
                    "formula": "downtime",
                    "interval": "1m",
                    "bad_above": "5%",
                    "empty": "good",
                    "target": "99.9%",
                },
            },
            {
                "name": "speed",
                "rate": {
                    "clock": "output_tokens_per_second",
                    "at_least": "20",
                    "window": "5m",
                    "statistic": "p50",
                    "windows_met": "99%",
                },
            },
        ],
    )


def test_a_report_is_the_same_joined_live_sealed_and_replayed(given_store):
    tenant = "一家银行 \"'; DROP TABLE requests; --"
    store = given_store.store
    gateway = [gateway_line(number, seconds=1.5, tenant=tenant) for number in range(1, 21)]
    gateway.append(gateway_line(21, seconds=3, tenant=tenant, status="504"))
    engine = [engine_line(number, seconds="1.4", queue="0.6") for number in range(1, 21)]

    def load(reverse: bool) -> None:
        for kind, lines in (("engine", engine), ("gateway", gateway)):
            store.ingest(LineBatch(kind=kind, source="one", lines=lines[::-1] if reverse else lines))
            store.cover(kind=kind, source="one", intervals=[OCTOBER])

    def report():
        found = evaluate(store, contract_for(tenant), month="2024-10", software_version="test")
        as_of, seals = found.pop("as_of"), found["evidence"].pop("seals")
        assert as_of.endswith("Z")
        return found, seals

    load(reverse=False)
    live, no_seals = report()
    assert store.seal(OCTOBER) == 1
    sealed, seals = report()
    load(reverse=True)
    replayed, _ = report()
    assert (no_seals, seals) == (0, 1)
    assert live == sealed == replayed
    assert live["coverage"] == {"gateway": 1.0, "engine": 1.0, "joined": 1.0}
    assert live["traffic"]["outcomes"] | {"ok": 20, "timeout": 1} == live["traffic"]["outcomes"]
    found = [(each["n"], each["violations"], each["value"], each["verdict"]) for each in live["objectives"]]
    assert found == [
        (21, 1, None, "violated"),
        (21, 1, None, "violated"),
        (21, 21, None, "violated"),
        (21, 1, 20 / 21, "met"),
        (44_640, 1, 44_639 / 44_640, "met"),
        (1, 0, 20.0, "met"),
    ]
    assert live["latency"][0]["p99"] == 1.5
    assert live["latency"][1]["p99"] == 0.9


def test_an_old_as_of_gives_the_old_report(given_store):
    store = given_store.store
    contract = contract_for("acme-late")
    store.ingest(
        LineBatch(kind="gateway", source="two", lines=[gateway_line(1, seconds=1.5, tenant="acme-late")])
    )
    before = evaluate(store, contract, month="2024-10", software_version="test")
    as_of = datetime.fromisoformat(before["as_of"])
    store.ingest(
        LineBatch(kind="gateway", source="two", lines=[gateway_line(2, seconds=2.5, tenant="acme-late")])
    )
    store.seal(OCTOBER)
    again = evaluate(store, contract, month="2024-10", as_of=as_of, software_version="test")
    after = evaluate(store, contract, month="2024-10", software_version="test")
    assert again == before
    assert after["traffic"]["admitted"] == 2


def fairclock(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fairclock", *words], capture_output=True, text=True, check=False
    )


def test_the_command_seals_what_has_changed_and_then_nothing(tmp_path):
    log = tmp_path / "access.log"
    log.write_bytes(gateway_line(1, seconds=1.5, tenant="acme") + b"\n")
    dsn = ("--dsn", f"chdb://{tmp_path / 'store'}")
    assert fairclock("ingest", "gateway", *dsn, str(log)).returncode == 0
    october = ("--from", "2024-10-01T00:00:00+08:00", "--to", "2024-11-01T00:00:00+08:00")
    answers = [
        fairclock("evaluate", *dsn, *october),
        fairclock("evaluate", *dsn),
        fairclock("evaluate", *dsn, "--json"),
    ]
    assert [answer.returncode for answer in answers] == [0, 0, 0]
    assert [answer.stdout for answer in answers] == [
        "1 hour sealed\n",
        "0 hours sealed\n",
        '{"sealed_hours": 0}\n',
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--from", "2024-10-01T00:00:00Z"), "--from: a range needs both ends"),
        (("--to", "2024-10-01T00:00:00Z"), "--to: a range needs both ends"),
        (
            ("--from", "2024-10-02T00:00:00Z", "--to", "2024-10-01T00:00:00Z"),
            "--to: the range is empty",
        ),
        (("--from", "2024-10-01", "--to", "2024-10-02T00:00:00Z"), "--from: the instant has no zone"),
        (("--from", "soon", "--to", "2024-10-02T00:00:00Z"), "--from: not an instant"),
    ],
    ids=["an end is missing", "a start is missing", "backwards", "without a zone", "no instant at all"],
)
def test_a_range_that_cannot_be_is_refused_in_one_sentence(tmp_path, words, sentence):
    answer = fairclock("evaluate", "--dsn", f"chdb://{tmp_path}", *words)
    assert answer.returncode == 2
    assert answer.stderr.startswith(sentence)
    assert answer.stdout == ""
