"""``fairclock ledger``, on a real store: what it prints, writes, and how it ends."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairclock.cli import ledger_rating, main
from fairclock.store import Query
from tests.ledger.factories import HOUR, START, a_usage

BOOK = Path(__file__).parents[2] / "examples" / "prices.yaml"
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
    assert "it is missing" in ledger("verify", "--against", copy, code=1).out


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
