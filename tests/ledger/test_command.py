"""``fairclock ledger``, on a real store: what it prints, writes, and how it ends."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from billing.bookkeeping.credits import keep_computed
from billing.usage import Treatment
from fairclock.cli import ledger_rating, main
from fairclock.store import Query
from tests.credits.factories import a_credit
from tests.ledger.factories import HOUR, START, a_usage

BOOK = Path(__file__).parent / "prices.yaml"
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def used():
    """What was used, as far as anybody asks: tests add to it."""
    return [
        a_usage(),
        a_usage(start=START + HOUR, end=START + 2 * HOUR, model="qwen3-32b", length_class="long"),
        a_usage(tenant="=cmd|'/c calc'!A0", requests=3),
    ]


@pytest.fixture(scope="module")
def ledger(store, used):
    """Run a command; usage comes from `used`."""

    def usages_of(store_, book, window, **others):
        return [each for each in used if window.start <= each.start < window.end]

    def run(*words, code=0):
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline=""), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ledger_rating, "usages_of", usages_of)
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as end,
            ):
                main(["ledger", *map(str, words), "--dsn", store.dsn])
        out.flush()
        raw = out.buffer.getvalue()
        said = SimpleNamespace(
            code=int(end.value.code or 0), raw=raw, out=raw.decode(errors="replace"), err=err.getvalue()
        )
        assert said.code == code, said
        return said

    run("rate", "--month", "2026-10", "--prices", BOOK)
    return run


def golden(name, text):
    path = GOLDEN / name
    text = re.sub(r"[0-9a-f]{64}", "HASH", text)
    if os.environ.get("FAIRCLOCK_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def test_rating_again_adds_nothing(ledger):
    assert json.loads(ledger("rate", "--month", "2026-10", "--prices", BOOK, "--json").out) == {
        "hours": 744, "entries": 0, "reversals": 0, "net": {},
    }  # fmt: skip


def test_what_is_shown(ledger):
    golden("show.txt", ledger("show").out)
    golden("show_by_model.txt", ledger("show", "--by", "model,length_class", "--tenant", "acme").out)
    golden("show.json", ledger("show", "--by", "tenant,charge", "--month", "2026-10", "--json").out)


def test_ceilings_and_budgets_are_shown_with_their_forecast(ledger, tmp_path):
    path = tmp_path / "prices.yaml"
    limits = "\nceilings: [{length_class: short, per_call: 0.0001}, {length_class: long, per_call: 1}]"
    limits += "\nbudgets: [{tenants: [acme], per_month: 500}]\nversions:\n"
    path.write_text(BOOK.read_text().replace("\nversions:\n", limits, 1))
    words = ("show", "--limits", "--month", "2026-10", "--prices", path)
    found = json.loads(ledger(*words, "--json").out)
    assert [(each["length_class"], each["requests"], each["above"]) for each in found["ceilings"]] == [
        ("short", 13, True),
        ("long", 10, False),
    ]
    shown = json.loads(
        ledger("show", "--by", "tenant", "--tenant", "acme", "--month", "2026-10", "--json").out
    )
    (budget,) = found["budgets"]
    assert (budget["spent"], budget["budget"], budget["above"]) == (shown[0]["amount"], "500", False)
    # rated up to the hour that ends at 10:00 on the fifth (UTC), of a month of Shanghai
    elapsed = Fraction(4 * 24 + 18, 31 * 24)
    assert found["rated_to"] == "2026-10-05T10:00:00Z"
    assert Fraction(budget["forecast"]) == Fraction(budget["spent"]) / elapsed
    lines = ledger(*words).out.splitlines()
    assert [(line.split()[0], line.split()[-1]) for line in lines[1:]] == [
        ("per", "above"),
        ("per", "within"),
        ("budget", "within"),
    ]
    assert "needs one --month" in ledger("show", "--limits", "--prices", path, code=2).err


def test_a_table_for_spreadsheets_runs_nothing(ledger):
    text = ledger("export").out
    golden("export.csv", text.replace("\r\n", "\n"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["tenant"] for row in rows} == {"acme", "'=cmd|'/c calc'!A0"}
    assert sum(Fraction(row["amount"]) for row in rows if row["tenant"] == "acme") > 0
    assert sum(int(row["requests"]) for row in rows if row["requests"]) == 23


def test_parquet_says_the_same(ledger, tmp_path):
    import pyarrow.parquet as pq

    path = tmp_path / "ledger.parquet"
    assert ledger("export", "--format", "parquet", "-o", path).out == f"{path}\n"
    rows = pq.read_table(path).to_pylist()
    as_csv = list(csv.DictReader(io.StringIO(ledger("export").out)))
    assert [str(row["amount_exact"]) for row in rows] == [row["amount_exact"] for row in as_csv]
    assert [row["requests"] for row in rows] == [
        int(row["requests"]) if row["requests"] else None for row in as_csv
    ]


def test_focus_rows_are_what_holds(ledger):
    rows = list(
        csv.DictReader(
            io.StringIO(ledger("export", "--format", "focus", "--prices", BOOK, "--tenant", "acme").out)
        )
    )
    shown = json.loads(ledger("show", "--tenant", "acme", "--json").out)
    assert sum(Fraction(row["BilledCost"]) for row in rows) == Fraction(shown[0]["amount"])
    assert {(row["ChargeCategory"], row["ChargeClass"], row["BillingCurrency"]) for row in rows} == {
        ("Usage", "", "CNY")
    }
    assert rows[0]["BillingPeriodStart"] == "2026-09-30T16:00:00Z"


def test_a_copy_that_somebody_changed_is_caught_and_says_where(ledger, tmp_path):
    copy = tmp_path / "ledger.jsonl"
    ledger("export", "--format", "jsonl", "-o", copy)
    assert ledger("verify", copy).out == ""
    lines = copy.read_text().splitlines(keepends=True)
    copy.write_text(
        "".join(
            line.replace('\\"requests\\":10', '\\"requests\\":9') if '"sequence":2,' in line else line
            for line in lines
        )
    )
    assert ledger("verify", copy, code=1).out == (
        "acme: entry 2: its bytes or its link were changed: they do not give its hash\n"
    )
    copy.write_text("".join([*lines[:1], *lines[2:]]))
    found = json.loads(ledger("verify", copy, "--json", code=1).out)["faults"]
    assert {(each["tenant"], each["entry"]) for each in found} <= {
        ("acme", 1),
        ("acme", 2),
        ("=cmd|'/c calc'!A0", 1),
    }
    copy.write_text("not a ledger\n")
    assert "is no line of a ledger's copy" in ledger("verify", copy, code=2).err


def test_a_month_is_closed_and_what_is_late_then_is_a_correction(ledger, used):
    golden("close.txt", ledger("close", "--month", "2026-10", "--final", "--prices", BOOK).out)
    assert ledger("close", "--month", "2026-10", "--final", "--prices", BOOK).out == ""
    used[0] = replace(used[0], requests=11)
    assert json.loads(ledger("rate", "--month", "2026-10", "--prices", BOOK, "--json").out)["reversals"] >= 1
    rows = csv.DictReader(
        io.StringIO(ledger("export", "--format", "focus", "--prices", BOOK, "--month", "2026-11").out)
    )
    assert {(row["ChargeClass"], row["BillingPeriodStart"]) for row in rows} == {
        ("Correction", "2026-10-31T16:00:00Z")
    }


def test_the_store_as_it_is_holds_what_was_exported_before(ledger, store, tmp_path):
    copy = tmp_path / "before.jsonl"
    ledger("export", "--format", "jsonl", "-o", copy)
    said = ledger("verify", "--against", copy)
    assert "nothing was changed" in said.err
    for table in ("ledger_entries", "ledger_heads"):
        # whoever cuts off the end of a chain and of what was noted is caught by a copy only
        store.execute(
            Query(
                sql=f"ALTER TABLE {table} DELETE WHERE tenant = 'acme' AND sequence > 1 SETTINGS mutations_sync = 1"
            )
        )
    assert ledger("verify").out == ""
    said = ledger("verify", "--against", copy, code=1).out
    assert "it is missing" in said
    assert "the ledger lacks it" in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(("rate",), "no price book is known", id="no prices"),
        pytest.param(
            ("rate", "--from", START.isoformat(), "--prices", BOOK), "--to: is missing", id="half a range"
        ),
        pytest.param(
            (
                "rate",
                "--from",
                START.isoformat(),
                "--to",
                (START + timedelta(minutes=90)).isoformat(),
                "--prices",
                BOOK,
            ),
            "whole hours",
            id="half an hour",
        ),
        pytest.param(("show", "--by", "colour"), "is no column of the ledger", id="an unknown column"),
        pytest.param(
            ("close", "--month", "2026-13", "--prices", BOOK), "not a month", id="a month that there is not"
        ),
        pytest.param(
            ("close", "--month", "2099-01", "--prices", BOOK),
            "has not ended",
            id="a month that has not ended",
        ),
    ],
)
def test_wrong_words(ledger, words, says):
    assert says in ledger(*words, code=2).err


def test_an_invoice_is_a_draft_then_numbered_and_then_never_another(ledger, used, tmp_path):
    used += [a_usage(tenant="billed"), a_usage(tenant="billed", treatment=Treatment.INCOMPLETE, requests=2)]
    ledger("rate", "--month", "2026-10", "--prices", BOOK)
    ask = ("invoice", "--month", "2026-10", "--tenant", "billed", "--prices", BOOK)
    draft = json.loads(ledger(*ask, "--json").out)
    assert (draft["status"], draft["number"], draft["totals"]["net"]) == ("draft", None, "0.01")
    ledger("close", "--month", "2026-10", "--final", "--tenant", "billed", "--prices", BOOK)
    final = ledger(*ask, "--json").out
    statement = json.loads(final)
    assert (statement["status"], statement["number"]) == ("final", "billed-000001")
    assert (statement["totals"]["net"], statement["totals"]["tax"], statement["totals"]["gross"]) == (
        "500.00",
        "30.00",
        "530.00",
    )
    assert sum(Fraction(line["net"]) for line in statement["lines"]) == 500
    used[-2] = replace(used[-2], requests=5_000_000)
    ledger("rate", "--month", "2026-10", "--prices", BOOK)
    assert ledger(*ask, "--json", "--opening-balance", "7").out == final
    note = json.loads(
        ledger("invoice", "--month", "2026-11", "--tenant", "billed", "--prices", BOOK, "--json").out
    )
    assert (note["kind"], note["corrects"], note["status"]) == ("debit_note", "billed-000001", "draft")
    # what the final one left due is carried, and is another where somebody says so
    assert (note["totals"]["opening_balance"], note["simulated"]) == ("530.00", False)
    assert Fraction(note["totals"]["due"]) == 530 + Fraction(note["totals"]["gross"])
    paid = ledger(
        "invoice",
        "--month",
        "2026-11",
        "--tenant",
        "billed",
        "--prices",
        BOOK,
        "--json",
        "--opening-balance",
        "0",
    )
    assert json.loads(paid.out)["totals"]["opening_balance"] == "0.00"
    # 4,999,990 calls more at 0.0003, less what the minimum had made up
    assert Fraction(note["totals"]["net"]) == Fraction("1000.01")
    said = ledger(*ask, "--format", "json,csv,html", "--lang", "en,zh", "-o", tmp_path)
    assert [Path(line).name for line in said.out.splitlines()] == [
        "billed-2026-10-invoice.json", "billed-2026-10-invoice.csv", "billed-2026-10-invoice.zh.csv",
        "billed-2026-10-invoice.html", "billed-2026-10-invoice.zh.html",
    ]  # fmt: skip


def test_a_credit_is_claimed_and_granted_and_goes_off_the_next_statement(ledger, store):
    credit = a_credit(
        id="cr-abcdef01", contract="acme-2026", month="2026-10", currency="CNY", amount=Fraction(50), closes_at=None,
        opens_at=START, shares={"credited": Fraction(50)}, facts={"decide_within_us": 86_400_000_000},
    )  # fmt: skip
    keep_computed(store, [credit], contract="acme-2026", month="2026-10")
    assert (
        "has to claim it first" in ledger("grant", credit.id, "--author", "Ops", "--prices", BOOK, code=2).err
    )
    claimed = json.loads(
        ledger("claim", credit.id, "--author", "Zhang", "--evidence", "letter 7", "--json").out
    )
    assert (claimed["state"], claimed["evidence"], claimed["amount"]) == ("claimed", "letter 7", "50")
    assert claimed["decide_by"] > claimed["stored_at"]
    granted = ledger("grant", credit.id, "--author", "Ops", "--prices", BOOK)
    assert granted.err == "cr-abcdef01 is granted, booked in 2026-11\n"
    statement = json.loads(
        ledger("invoice", "--month", "2026-11", "--tenant", "credited", "--prices", BOOK, "--json").out
    )
    assert statement["totals"]["credits"] == "-50.00"
    (line,) = statement["lines"]
    assert (line["section"], line["objective"], line["revision"]) == ("credits", "availability", 1)
    again = ledger("grant", credit.id, "--author", "Ops", "--prices", BOOK)
    assert again.err == "cr-abcdef01 is granted\n"
    assert "it is granted" in ledger("refuse", credit.id, "--author", "Ops", "--comment", "no", code=2).err


def test_a_grant_says_what_was_claimed_and_a_statement_what_it_comes_to_since(ledger, store, tmp_path):
    credit = a_credit(
        id="cr-abcdef02", contract="anew-2026", month="2026-10", currency="CNY", amount=Fraction(50), closes_at=None,
        opens_at=START, shares={"anew": Fraction(50)},
    )  # fmt: skip

    def computed(amount):
        anew = replace(credit, amount=Fraction(amount), shares={"anew": Fraction(amount)})
        keep_computed(store, [anew], contract="anew-2026", month="2026-10")

    computed(50)
    ledger("claim", credit.id, "--author", "Zhang")
    computed(40)
    granted = ledger("grant", credit.id, "--author", "Ops", "--prices", BOOK)
    assert granted.err == (
        "cr-abcdef02 is granted, booked in 2026-11; granted are 40 CNY before tax, as of revision 2, claimed were 50 of revision 1\n"
    )
    computed(15)
    ask = ("invoice", "--month", "2026-11", "--tenant", "anew", "--prices", BOOK)
    (line,) = json.loads(ledger(*ask, "--json").out)["lines"]
    assert (line["net"], line["granted"], line["comes_to"]) == ("-40.00", "40", "15")
    ledger(*ask, "--format", "html", "--lang", "en,zh", "-o", tmp_path)
    assert "granted 40.00 before tax; comes to 15.00" in (tmp_path / "anew-2026-11-invoice.html").read_text()
    assert "已给付 40.00" in (tmp_path / "anew-2026-11-invoice.zh.html").read_text()


def test_the_cost_book_gives_all_of_the_machines_time_to_somebody(ledger, tmp_path):
    config = tmp_path / "fairclock.yaml"
    config.write_text(
        "billing: {gpu_time: {engines: [{engine: e1, machine: NVIDIA H200, gpus: 2}, {engine: e2, machine: other}]}}\n"
    )
    ask = ("show", "--cost-book", "--month", "2026-10", "--prices", BOOK, "-c", config)
    found = json.loads(ledger(*ask, "--json").out)
    hours = 744 * 3600
    assert [(row["engine"], row["gpu_seconds"]["idle"], row["unpriced_gpu_seconds"]) for row in found] == [
        ("e1", str(2 * hours), "0"),
        ("e2", str(hours), str(hours)),
    ]
    assert Fraction(found[0]["cost"]["idle"]) == 2 * hours * Fraction("0.0061")
    assert f"{hours}.0 GPU-s without a price" in ledger(*ask).out
    assert "needs one --month" in ledger("show", "--cost-book", code=2).err
