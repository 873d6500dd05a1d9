"""`fairclock probe run` as a user calls it: what is printed, kept, refused, and what is reproduced from a file."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from click.testing import CliRunner

from fairclock.cli.probe_run import run
from fairclock.errors import NotEvaluable, UsageError
from fairclock.model import Interval
from fairclock.store import LineBatch, Query, open_store
from fairclock.store.probes import probes_as_of
from inference_probe.prober.latencies import figures
from inference_probe.prober.result_files import read_result
from tests.acceptance.contracts import good_contract
from tests.prober.servers import answer, plainly, serving

COMMON = ["--model", "m", "--completion-tokens", "3", "--arrivals", "constant", "--most-late-ms", "60000"]
EVER = Interval(start=datetime(2020, 1, 1, tzinfo=UTC), end=datetime(2100, 1, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def dsn(tmp_path_factory):
    return f"chdb://{tmp_path_factory.mktemp('store')}"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """No configuration of the machine's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FAIRCLOCK_CONFIG", raising=False)
    monkeypatch.delenv("FAIRCLOCK_DSN", raising=False)


def called(*words):
    return CliRunner().invoke(
        run, [str(each) for each in words], catch_exceptions=False, standalone_mode=False
    )


def rows(dsn, run_id=None):
    with open_store(dsn) as store:
        found = probes_as_of(store, EVER, store.watermark())
    return [each for each in found if run_id in {None, each.run}]


def test_a_run_is_printed_written_and_stored_with_what_it_asked(dsn, tmp_path):
    file = tmp_path / "run.jsonl"
    with serving(plainly) as service:
        done = called(service.url, *COMMON, "--rate", 40, "--duration", 0.5, "-o", file, "--dsn", dsn)
    kept = read_result(file)
    assert len(kept.seen) == 20
    assert kept.header["figures"] == figures(kept.seen)
    assert kept.header["figures"]["outcomes"] == {"ok": 20}
    assert kept.header["prober"]["lateness"]["n"] == 20
    assert "sent late by: P50 " in done.stdout
    stored = rows(dsn, kept.header["run"])
    assert [each.number for each in stored] == list(range(20))
    assert {(each.mode, each.tenant, each.target, each.outcome.value) for each in stored} == {
        ("run", "", service.url, "ok")
    }
    begun = datetime.fromtimestamp(kept.header["started_at"], UTC)
    for row, seen in zip(stored, kept.seen, strict=True):
        assert row.id == seen.request_id
        assert abs(row.intended_at - begun - timedelta(seconds=seen.intended)) < timedelta(microseconds=2)
        assert abs(row.done_us - (seen.done - seen.sent) * 1e6) <= 2


def test_a_run_in_which_the_prober_was_late_is_void_and_nothing_of_it_is_kept(dsn, tmp_path):
    file = tmp_path / "run.jsonl"
    before = rows(dsn)
    with serving(plainly) as service, pytest.raises(NotEvaluable) as void:
        called(
            service.url, *COMMON, "--most-late-ms", 0.000001, "--rate", 40, "--duration", 0.5, "-o", file, "--dsn", dsn
        )  # fmt: skip
    assert void.value.exit_code == 3
    assert "probes were sent late" in str(void.value)
    assert (rows(dsn), file.exists()) == (before, False)


@pytest.mark.parametrize(
    "kind", [["--rates", "20,40"], ["--concurrency", "1,3"]], ids=["rates", "concurrencies"]
)
def test_a_sweep_is_reproduced_from_its_file_by_one_command(kind, tmp_path):
    file, chart, again = tmp_path / "s.jsonl", tmp_path / "s.svg", tmp_path / "again.svg"
    words = ["--mode", "sweep", *kind, "--duration", "0.4", "--objective", "end_to_end p95 60", "--no-store"]
    with serving(plainly) as service:
        first = called(service.url, *COMMON, *words, "-o", file, "--chart", chart)
    second = called("--show", file, "--chart", again)
    assert first.stdout == second.stdout
    assert chart.read_bytes() == again.read_bytes()
    assert chart.read_text().startswith("<svg")
    assert "end_to_end p95 60: kept at every load" in second.stdout
    tree = json.loads(called("--show", file, "--json").stdout)
    assert [each["load"] for each in tree["stages"]] == [float(each) for each in kind[1].split(",")]
    assert all(each["figures"]["outcomes"] == {"ok": each["figures"]["probes"]} for each in tree["stages"])


def test_a_broken_line_of_a_result_is_named(tmp_path):
    file = tmp_path / "run.jsonl"
    with serving(plainly) as service:
        called(service.url, *COMMON, "--rate", 10, "--duration", 0.2, "-o", file, "--no-store")
    file.write_text(file.read_text() + '{"number": 1}\n')
    with pytest.raises(Exception, match=r"run.jsonl:4: not a line of a probe run"):
        read_result(file)


def test_quality_is_counted_by_inference_mode(dsn):
    texts = {"Repeat": "12345 a b c d", "Answer": '{"name": "x", "count": 3, "tags": []}'}

    async def answers(headers, body):
        prompt = body["messages"][0]["content"]
        text = next((each for start, each in texts.items() if prompt.startswith(start)), "go on " * 40)
        said = {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"completion_tokens": 9},
        }
        yield answer(json.dumps(said).encode(), headers=b"X-Inference-Mode: int4\r\n")

    with serving(answers) as service:
        done = called(
            service.url, *COMMON, "--mode", "quality", "--whole", "--rate", 50, "--dsn", dsn, "--json"
        )
    tree = json.loads(done.stdout)
    worth = tree["quality"]["int4"]
    assert (worth["answers"], worth["failed"], worth["invalid_ratio"], worth["numbers_copied_ratio"]) == (
        10,
        0,
        0,
        0,
    )
    assert worth["repetition_ratio"] == pytest.approx(0.3 * (1 - 2 / 77) / 0.9 / 1, abs=0.2)
    stored = rows(dsn, tree["run"])
    assert {(each.tenant, each.inference_mode) for each in stored} == {("", "int4")}
    assert sum(each.invalid_output is False for each in stored) == 10


def test_a_shadow_asks_what_the_gateway_logged_a_while_ago_with_its_lengths_and_none_of_its_text(dsn):
    now = datetime.now(UTC).timestamp()
    lines = [
        json.dumps(
            {
                "time": f"{now - 12 + n / 4:.3f}", "request_id": f"customers-{n}", "tenant": "acme", "method": "POST",
                "uri": "/v1/chat/completions", "status": "200", "request_time": "0.001", "request_completion": "OK",
                "server": "gw", "model": "m", "prompt_tokens": "40", "completion_tokens": "5",
            }
        ).encode()
        for n in range(600)
    ]  # fmt: skip
    with open_store(dsn) as store:
        store.ingest(LineBatch(kind="gateway", source="test", lines=lines))
    with serving(plainly) as service:
        done = called(
            service.url, *COMMON, "--mode", "shadow", "--share", 1, "--delay", 9, "--duration", 3, "--dsn", dsn, "--json"
        )  # fmt: skip
    tree = json.loads(done.stdout)
    stored = rows(dsn, tree["run"])
    # it begins 9 s before the command did, whenever that was; a line every quarter of a second leaves it minutes to begin
    assert len(stored) == tree["schedule"]["arrivals"] > 0
    assert {(each.mode, each.outcome.value, each.completion_tokens) for each in stored} == {
        ("shadow", "ok", 5)
    }
    asked = [
        body
        for headers, body in service.requests
        if not headers["x-request-id"].startswith("probe-" + tree["run"] + "-calibration")
    ]
    assert {body["max_tokens"] for body in asked} == {5}
    assert "customers" not in json.dumps([headers | body for headers, body in service.requests])


def test_a_canary_that_fails_is_to_be_rolled_back_and_that_is_an_alert(dsn, tmp_path):
    async def fails(headers, body):
        yield answer(b"", status="500 Error")

    policy, file = tmp_path / "policy.yaml", tmp_path / "canary.jsonl"
    policy.write_text(
        "thresholds: {memory_ratio: , mean_ratio: 1000}\nsteps: {every_seconds: 0.5}\nleast_probes: 5\n"
    )
    with serving(plainly) as old, serving(fails) as new:
        done = called(
            old.url, *COMMON, "--mode", "canary", "--canary", new.url, "--policy", policy, "--rate", 60, "-o", file,
            "--dsn", dsn,
        )  # fmt: skip
    assert done.return_value == 1
    assert "5 %: rollback (failures are 100.00 points more, at most 1)" in done.stdout
    assert called("--show", file).stdout == done.stdout
    kept = read_result(file)
    assert kept.header["endpoints"] == {"baseline": old.url, "canary": new.url}
    stored = rows(dsn, kept.header["run"])
    # they speak for nobody: what may be broken is no customer's outage
    assert {(each.tenant, each.target, each.outcome.value) for each in stored} == {
        ("fairclock-probe", old.url, "ok"),
        ("fairclock-probe", new.url, "server_error"),
    }
    with open_store(dsn) as store:
        alerts = store.rows(Query(sql="SELECT alert_id, state, severity FROM alerts"))
    assert alerts == [(f"canary/{kept.header['run']}", "firing", "critical")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ["--tenant", "acme"], "the use of this tenant would be charged", id="a customer as the prober"
        ),
        pytest.param(["--key-env", "NOT_SET"], "the variable is not set", id="a key that is not there"),
        pytest.param(["--mode", "sweep"], "needs rates or concurrencies", id="a sweep of nothing"),
        pytest.param(
            ["--mode", "sweep", "--rates", "4,2"], "not numbers in rising order", id="falling rates"
        ),
        pytest.param(
            ["--mode", "sweep", "--rates", "4", "--objective", "fast"], "not an objective", id="no objective"
        ),
        pytest.param(["--mode", "canary"], "the new version has no address", id="a canary without one"),
        pytest.param(["--mode", "shadow"], "follows what is in the store", id="a shadow of nothing"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(words, message):
    with serving(plainly) as service:
        with pytest.raises(UsageError, match=message):
            called(service.url, *COMMON, "--no-store", *words)
        assert service.requests == []


def test_a_contract_of_the_probes_tenant_is_refused(tmp_path):
    (tmp_path / "fairclock.yaml").write_text("sla: {contracts: [c.yaml]}\n")
    (tmp_path / "c.yaml").write_text(
        yaml.safe_dump(good_contract(customer={"name": "Acme", "tenants": ["acme", "fairclock-probe"]}))
    )
    with serving(plainly) as service, pytest.raises(UsageError, match="would be in the figures of contract"):
        called(service.url, *COMMON, "--no-store")
