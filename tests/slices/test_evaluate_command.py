"""``fairclock evaluate`` with contracts in the configuration: what it writes, says, and ends with."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from billing.bookkeeping.price_books import BookPrices, keep_versions
from billing.bookkeeping.rating import rate
from billing.prices import load_price_book
from fairclock.cli import main
from fairclock.store import LineBatch, Query, open_store
from tests.evaluation.factories import availability, latency
from tests.ledger.factories import a_usage
from tests.slices.test_slices import ALL, gateway, some_traffic

MEASURED = {"coverage_floor": "0%", "below_floor": "void", "unknown_clock": "void"}
BOOK = BookPrices(load_price_book(Path(__file__).parents[1] / "ledger" / "prices.yaml"))
TRAFFIC = [each for each in some_traffic(21, count=60) if each.status in ("200", "504")]


def a_file(folder: Path, **clauses: object) -> Path:
    tree = {
        "apiVersion": "fairclock/v1",
        "kind": "Contract",
        "id": "acme-2026",
        "title": "Inference",
        "provider": {"name": "Example Cloud"},
        "customer": {"name": "Acme", "tenants": ["acme"]},
        "term": {"from": "2026-01-01", "to": "2026-12-31", "time_zone": "Asia/Shanghai"},
        "clock": {"start": "received"},
        "objectives": [availability("1%"), latency(percentile="1", at_most="9s")],
        "insufficient": {"below": 1, "verdict": "void"},
        "unmeasured": {"coverage_floor": "0%", "below_floor": "void"},
    }
    path = folder / "acme-2026.yaml"
    path.write_text(yaml.safe_dump(tree | clauses, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"chdb://{tmp_path_factory.mktemp('evaluate')}"


@pytest.fixture
def run(dsn, tmp_path, monkeypatch, capsys):
    with open_store(dsn) as store:
        for table in ("sli_slices", "slice_progress"):
            store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
        store.ingest(LineBatch(kind="gateway", source="g", lines=[gateway(each) for each in TRAFFIC]))
        store.cover(kind="gateway", source="g", intervals=[ALL])
    monkeypatch.delenv("FAIRCLOCK_DSN", raising=False)

    def evaluate(*words: str, **clauses: object) -> tuple[int, str]:
        contract = a_file(tmp_path, **clauses)
        config = tmp_path / "fairclock.yaml"
        config.write_text(f"sla: {{contracts: [{contract.name}]}}\n")
        with pytest.raises(SystemExit) as stop:
            main(["evaluate", "-c", str(config), "--dsn", dsn, *words])
        return stop.value.code, capsys.readouterr().out

    return evaluate


RANGE = ("--from", "2026-10-07T00:00:00Z", "--to", "2026-10-08T00:00:00Z")
FAILED = sum(each.status == "504" for each in TRAFFIC)


@pytest.mark.parametrize(
    ("clauses", "code", "verdict"),
    [
        ({}, 0, "met"),
        ({"objectives": [availability("99.9%"), latency(percentile="1", at_most="9s")]}, 1, "violated"),
        ({"insufficient": {"below": 10_000, "verdict": "void"}}, 3, "insufficient_data"),
    ],
    ids=["every promise is kept", "one is broken", "too few requests to judge"],
)
def test_the_exit_code_is_the_worst_that_is_said(run, clauses, code, verdict):
    found, out = run(*RANGE, "--json", **clauses)
    tree = json.loads(out)
    assert (found, tree["objectives"][0]["verdict"]) == (code, verdict)
    first = tree["objectives"][0]
    assert (first["n"], first["violations"], first["month"]) == (len(TRAFFIC), FAILED, "2026-10")


def test_what_is_counted_again_is_written_once(run, dsn):
    first, again = (json.loads(run("--json", *RANGE)[1]) for _ in range(2))
    assert first["slices"] > 0
    assert (again["slices"], again["sealed_hours"]) == (0, 0)
    with open_store(dsn) as store:
        (found,) = store.rows(Query(sql="SELECT sum(total[1]), sum(bad[1]) FROM sli_slices"))
    assert tuple(found) == (len(TRAFFIC), FAILED)


def test_the_table_says_how_each_promise_stands(run):
    code, out = run(*RANGE, "--quiet")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].split() == ["contract", "month", "objective", "n", "over", "allowed", "verdict"]
    assert lines[1].split()[:4] == ["acme-2026", "2026-10", "availability", str(len(TRAFFIC))]


@pytest.mark.parametrize(
    ("price", "code", "verdict"),
    [
        (("0.001", "CNY"), 0, "met"),
        (("0.0001", "CNY"), 1, "violated"),
        (("1", "USD"), 3, "not_measured"),
    ],
    ids=["calls cost less than was promised", "they cost more", "the ledger is in another currency"],
)
def test_promises_about_cost_are_judged_as_the_report_judges_them(run, dsn, price, code, verdict):
    with open_store(dsn) as store:
        keep_versions(store, BOOK.book, until=BOOK.months.interval("2026-10").end)
        usage = a_usage(start=datetime(2026, 10, 7, 3, tzinfo=UTC), requests=1000, uncached_prompt_tokens=0,
                        cached_prompt_tokens=0, completion_tokens=0, gpu_picoseconds=0)  # fmt: skip
        usage = replace(usage, end=usage.start + timedelta(hours=1))
        rate(
            store, lambda _: [usage], BOOK.months.interval("2026-10"), as_of=store.watermark(), prices=BOOK, months=BOOK.months
        )  # fmt: skip
    # 1.5 times 0.0002 a call
    cost = {
        "name": "cost-short",
        "cost": {"at_most": float(price[0]), "per": "call", "currency": price[1]},
        "where": {"prompt_tokens": "short"},
    }
    found, out = run(*RANGE, "--json", objectives=[availability("1%"), cost], unmeasured=MEASURED)
    standing = json.loads(out)["objectives"][-1]
    assert (found, standing["objective"], standing["verdict"]) == (code, "cost-short", verdict)
    assert standing["n"] == (None if verdict == "not_measured" else 1000)


def test_a_contract_that_has_not_begun_could_not_be_judged(run):
    term = {"from": "2098-01-01", "to": "2098-12-31", "time_zone": "Asia/Shanghai"}
    code, out = run("--json", term=term)
    assert code == 3
    assert {each["verdict"] for each in json.loads(out)["objectives"]} == {"not_measured"}


def test_a_contract_that_cannot_be_read_is_named(run, capsys):
    code, out = run(objectives=[])
    assert (code, out) == (2, "")
