"""`fairclock probe run` as a user calls it: what is printed, kept, refused, and what is reproduced from a file."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta

import click
import pytest
import yaml
from click.testing import CliRunner

from fairclock.cli.probe_run import run
from fairclock.errors import FairclockError, NotEvaluable, UsageError
from fairclock.model import Interval
from fairclock.store import LineBatch, Query, open_store
from fairclock.store.probes import probes_as_of
from inference_probe.prober.endpoints import endpoint
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
        pytest.param(
            ["--mode", "canary", "--canary", "http://127.0.0.1:9", "--policy", "none.yaml"],
            "--policy: there is no such file",
            id="a policy that is not there",
        ),
        pytest.param(
            ["--mode", "sweep", "--rates", "4,9000000"],
            "make no run",
            id="a rate that is too high, after one that is not",
        ),
        pytest.param(
            ["--mode", "canary", "--canary", "http://127.0.0.1:9"],
            "compares memory",
            id="a memory nobody tells of",
        ),
        pytest.param(
            [
                "--mode",
                "canary",
                "--canary",
                "http://127.0.0.1:9",
                "--metrics-url",
                "http://127.0.0.1:9/metrics",
                "--canary-metrics-url",
                "http://127.0.0.1:9/metrics",
                "--rate",
                "0.01",
            ],
            "fewer probes than the policy asks for",
            id="steps that can never be decided",
        ),
        pytest.param(["--mode", "shadow"], "follows what is in the store", id="a shadow of nothing"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(words, message):
    with serving(plainly) as service:
        with pytest.raises(UsageError, match=message):
            called(service.url, *COMMON, "--no-store", *words)
        assert service.requests == []


@pytest.mark.parametrize("option", ["--rate", "--duration", "--timeout", "--most-late-ms", "--share"])
@pytest.mark.parametrize("number", ["nan", "inf"])
def test_a_number_that_is_none_is_refused(option, number):
    with serving(plainly) as service:
        with pytest.raises(click.BadParameter):
            called(service.url, *COMMON, "--no-store", option, number)
        assert service.requests == []


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://a..b/", "http://host:99999999", "ftp://host", "http://u:p@host"]
)
def test_an_address_that_is_none_is_named(url):
    with pytest.raises(FairclockError, match=r"not an endpoint's address|has no address"):
        endpoint(url)


def test_of_several_addresses_of_a_name_the_one_that_answers_is_asked(monkeypatch):
    # ports that are bound and listen to nobody: no other process can take them meanwhile
    with socket.socket() as away, socket.socket() as away_too, serving(plainly) as service:
        away.bind(("127.0.0.2", 0))
        away_too.bind(("127.0.0.1", 0))
        there = ("127.0.0.1", int(service.url.rpartition(":")[2]))

        def asked_of(*addresses):
            found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", each) for each in addresses]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
            return endpoint("http://several.example").address

        assert asked_of(away.getsockname(), there) == "127.0.0.1"
        # where none answers the first one holds, and its failure is told
        assert asked_of(away.getsockname(), away_too.getsockname()) == "127.0.0.2"


def test_a_file_that_cannot_be_written_is_known_before_anything_is_asked(tmp_path):
    (tmp_path / "file").write_text("")
    with serving(plainly) as service:
        with pytest.raises(FairclockError, match="cannot be written") as refused:
            called(service.url, *COMMON, "--no-store", "-o", tmp_path / "file" / "run.jsonl")
        assert service.requests == []
    assert "name another file by -o" in str(refused.value)


def test_a_service_that_is_down_is_a_result_and_an_address_that_never_answered_a_mistake(dsn):
    is_down = False

    async def answers(headers, body):
        yield answer(b"", status="502 Bad Gateway") if is_down else answer()

    words = [*COMMON, "--rate", 20, "--duration", 0.2, "--dsn", dsn, "--json"]
    with serving(answers) as service:
        called(service.url, *words)
        is_down = True
        down = json.loads(called(service.url, *words).stdout)
    assert down["figures"]["outcomes"] == {"server_error": 4}
    assert {each.outcome.value for each in rows(dsn, down["run"])} == {"server_error"}
    before = rows(dsn)
    with serving(answers) as another, pytest.raises(FairclockError, match="it does not take probes"):
        called(another.url, *words)
    assert rows(dsn) == before


def test_no_run_asks_what_an_earlier_one_asked_unless_it_is_told_to():
    def prompts(*words):
        with serving(plainly) as service:
            called(service.url, *COMMON, "--rate", 20, "--duration", 0.2, "--no-store", *words)
        return {body["messages"][0]["content"] for _, body in service.requests}

    assert not prompts() & prompts()
    assert prompts("--seed", 7) == prompts("--seed", 7)


def test_a_service_that_takes_only_what_is_openais_is_asked_only_that(tmp_path):
    async def strict(headers, body):
        more = {"ignore_eos"} & set(body) or {"continuous_usage_stats"} & set(body["stream_options"])
        yield answer(b"", status="400 Unknown parameter") if more else answer()

    file = tmp_path / "run.jsonl"
    with serving(strict) as service:
        done = called(service.url, *COMMON, "--rate", 20, "--duration", 0.2, "--no-store", "-o", file)
    assert "4 probes, 4 ok" in done.stdout
    assert read_result(file).header["speaks_for"] == ""
    with serving(plainly) as service:
        called(service.url, *COMMON, "--rate", 20, "--duration", 0.1, "--no-store")
    assert all(body["ignore_eos"] for _, body in service.requests)


def test_a_disk_that_is_full_at_the_end_costs_neither_the_rows_nor_what_is_printed(
    dsn, tmp_path, monkeypatch, capsys
):
    def full(path, result):
        raise FairclockError(str(path), "the result cannot be written", found="No space left on device")

    monkeypatch.setattr("fairclock.cli.probing.keeping.write_result", full)
    before = len(rows(dsn))
    with serving(plainly) as service, pytest.raises(FairclockError, match="No space left"):
        run.main(
            [service.url, *map(str, COMMON), "--rate", "20", "--duration", "0.2", "-o", str(tmp_path / "r"), "--dsn", dsn],
            standalone_mode=False,
        )  # fmt: skip
    assert "sent late by" in capsys.readouterr().out
    assert len(rows(dsn)) == before + 4


def test_a_store_that_is_away_costs_neither_the_file_nor_what_is_printed(dsn, tmp_path, monkeypatch, capsys):
    def away(*_, **__):
        raise FairclockError("store", "it does not answer")

    monkeypatch.setattr("fairclock.cli.probing.keeping.keep", away)
    file = tmp_path / "run.jsonl"
    with serving(plainly) as service, pytest.raises(FairclockError, match="does not answer"):
        run.main(
            [service.url, *map(str, COMMON), "--rate", "20", "--duration", "0.2", "-o", str(file), "--dsn", dsn],
            standalone_mode=False,
        )  # fmt: skip
    assert "sent late by" in capsys.readouterr().out
    assert len(read_result(file).seen) == 4


def test_whatever_a_service_says_a_run_is_written_and_read_again(tmp_path):
    async def answers(headers, body):
        said = {
            "choices": [{"delta": {"content": "a"}, "finish_reason": "st\u2028op\ud800"}],
            "usage": {"completion_tokens": 1},
        }
        truth = b'event: fairclock\ndata: {"wall_arrived": NaN, "queued": 1e999, "scheduled": 1}\n\n'
        body = b"data: " + json.dumps(said).encode() + b"\n\n" + truth + b"data: [DONE]\n\n"
        yield answer(body, headers=b"X-Inference-Mode: int\x85four\r\n")

    file = tmp_path / "run.jsonl"
    with serving(answers) as service:
        done = called(service.url, *COMMON, "--rate", 10, "--duration", 0.2, "-o", file, "--no-store")
    kept = read_result(file)
    assert {(each.finish_reason, each.inference_mode) for each in kept.seen} == {
        ("st\u2028op?", "int\x85four")
    }
    assert [each.truth for each in kept.seen] == [{"scheduled": 1}] * 2
    assert called("--show", file).stdout == done.stdout


def test_a_webhook_that_fails_ends_no_comparison(dsn, tmp_path, monkeypatch):
    def fails(*_, **__):
        raise FairclockError("webhooks", "it cannot be kept")

    monkeypatch.setattr("inference_probe.prober.canary.telling.send_decision", fails)
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "thresholds: {memory_ratio: , mean_ratio: 1000}\nsteps: {every_seconds: 0.2, first_percent: 100}\nleast_probes: 1\n"
    )
    with serving(plainly) as old, serving(plainly) as new:
        done = called(
            old.url, *COMMON, "--mode", "canary", "--canary", new.url, "--policy", policy, "--rate", 20, "--dsn", dsn
        )  # fmt: skip
    assert done.return_value == 0
    assert "100 %: finish" in done.stdout
    assert "not told: webhooks: it cannot be kept" in done.stderr


def test_a_contract_of_the_probes_tenant_is_refused(tmp_path):
    (tmp_path / "fairclock.yaml").write_text("sla: {contracts: [c.yaml]}\n")
    (tmp_path / "c.yaml").write_text(
        yaml.safe_dump(good_contract(customer={"name": "Acme", "tenants": ["acme", "fairclock-probe"]}))
    )
    with serving(plainly) as service, pytest.raises(UsageError, match="would be in the figures of contract"):
        called(service.url, *COMMON, "--no-store")
