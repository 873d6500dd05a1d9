"""``fairclock exclusions`` on a real store: proposed, answered, listed, and nothing of it ever changed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from fairclock.store import Query

HOUR = timedelta(hours=1)
NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
EXAMPLE = Path(__file__).parents[2] / "examples" / "contracts" / "acme-2026.yaml"


@pytest.fixture(scope="module")
def contract(tmp_path_factory):
    """The example contract, in force around the present."""
    clauses = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    zone = clauses["term"]["time_zone"]
    clauses["term"] = {
        "from": f"{NOW - timedelta(days=400):%Y-%m-%d}",
        "to": f"{NOW + timedelta(days=400):%Y-%m-%d}",
        "time_zone": zone,
    }
    clauses["id"] = "acme-now"
    path = tmp_path_factory.mktemp("contract") / "acme.yaml"
    text = EXAMPLE.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^id: .*$", "id: acme-now", text)
    text = re.sub(
        r"(?m)^term: .*$",
        f"term: {{from: {clauses['term']['from']}, to: {clauses['term']['to']}, time_zone: {zone}}}",
        text,
    )
    path.write_text(text, encoding="utf-8")
    return path


def stamp(value):
    return f"{value:%Y-%m-%dT%H:%M:%SZ}"


def add(fairclock, contract, *more, clause="force_majeure", start=None, end=None, **how):
    words = [
        "exclusions",
        "add",
        "--contract",
        contract,
        "--clause",
        clause,
        "--reason",
        "flood",
        "--author",
        "Ops",
    ]
    begin = start or NOW + 2 * HOUR
    words += ["--from", stamp(begin)]
    if end != "open":
        words += ["--to", stamp(end or begin + 2 * HOUR)]
    return fairclock(*words, *more, **how)


def plain(text):
    """Return a text without ids and times."""
    text = re.sub(r"ex-[0-9a-f]{8}", "ID", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", text)


def listed(fairclock, id_, *more):
    (found,) = [each for each in fairclock("exclusions", "list", "--json", *more).json if each["id"] == id_]
    return found


def test_a_life_as_it_is_printed(fairclock, contract):
    made = add(fairclock, contract)
    id_ = made.out.strip()
    assert plain(made.err) == "ID: proposed; it expires TIME without an answer\n"
    fairclock("exclusions", "dispute", id_, "--author", "Zhang", "--comment", "no flood was seen")
    fairclock("exclusions", "accept", id_, "--author", "Zhang", "--evidence", "mail of Tuesday")
    done = fairclock("exclusions", "revoke", id_, "--author", "Ops", "--comment", "wrong week")
    assert plain(done.err) == "ID is revoked\n"
    mine = fairclock("exclusions", "list").out
    assert plain(mine) == (
        "ID  revoked   force_majeure  TIME to TIME\n    flood (Ops)\n    revoked by Ops, TIME: wrong week\n"
    )


def test_every_step_is_a_row_and_each_instant_can_be_read_again(fairclock, contract):
    id_ = add(fairclock, contract, "--quiet").out.strip()
    fairclock("exclusions", "accept", id_, "--author", "Zhang", "--evidence", "mail")
    fairclock("exclusions", "dispute", id_, "--author", "Zhang", "--comment", "on second thoughts")
    rows = fairclock.store.rows(
        Query(
            sql="SELECT state, author, answer_evidence, stored_at FROM exclusions WHERE id = {id:String} ORDER BY sequence",
            parameters={"id": id_},
        )
    )
    assert [row[:3] for row in rows] == [
        ("proposed", "Ops", ""),
        ("accepted", "Zhang", "mail"),
        ("disputed", "Zhang", ""),
    ]
    for row in rows:
        assert listed(fairclock, id_, "--as-of", row[3].isoformat())["state"] == row[0]


def test_a_recurring_window_is_listed_with_its_month_and_cap(fairclock, contract):
    first = NOW + 100 * HOUR
    made = add(
        fairclock,
        contract,
        *("--recurrence", f"FREQ=DAILY;UNTIL={NOW + timedelta(days=30):%Y%m%d}"),
        *("--except", f"{first + timedelta(days=1):%Y%m%d}", "--zone", "UTC"),
        *("--notice-at", stamp(NOW - HOUR), "--notice-to", "sla@acme.example", "--json"),
        clause="maintenance",
        start=first,
    )
    assert made.json["marks"] == {}
    assert made.json["recurrence"].splitlines()[1].startswith("EXDATE:")
    past = (NOW - timedelta(days=40)).replace(day=10, hour=3)
    late = add(fairclock, contract, "--json", clause="maintenance", start=past).json
    assert sorted(late["marks"]) == ["late", "retroactive"]
    local = (past + 8 * HOUR).strftime("%Y-%m")
    month = listed(fairclock, late["id"], "--contract", contract, "--month", local)["month"]
    assert month["windows"][0] | {"late": True, "retroactive": True, "counts": True} == month["windows"][0]
    assert month["cap"] == {
        "claimed_seconds": 7200.0,
        "granted_seconds": 0.0,
        "allowed_seconds": 14400.0,
        "used_seconds": 0.0,
    }
    printed = fairclock("exclusions", "list", "--contract", contract, "--month", local).out
    assert "late, retroactive, counts" in printed
    assert "claimed 7200 s, granted 0 s; cap 14400 s, used 0 s" in printed


def test_exclusions_of_another_contract_are_not_listed(fairclock, contract, tmp_path):
    add(fairclock, contract)
    other = tmp_path / "other.yaml"
    other.write_text(contract.read_text(encoding="utf-8").replace("acme-now", "acme-then"), encoding="utf-8")
    assert fairclock("exclusions", "list", "--contract", other, "--json").json == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--clause", "weather"],
            "--clause: the contract excludes no such thing (weather); its clauses are: maintenance,",
        ),
        (
            ["--clause", "cold_start"],
            "--clause: is noticed from the engines themselves (cold_start); enter nothing by hand",
        ),
        (["--clause", "client_network"], "--evidence: client_network needs evidence"),
        (["--except", "20261004"], "--except: needs --recurrence"),
        (["--recurrence", "FREQ=HOURLY"], "--recurrence: recurs at no frequency that is taken (HOURLY)"),
        (["--notice-to", "a@b.example"], "--notice-to: needs --notice-at"),
        (["--from", "2026-10-01T00:00:00"], "--from: the instant has no zone"),
        (["--answer-by", "2020-01-01T00:00:00Z"], "--answer-by: has passed"),
        (["--reason", " "], "--reason: is empty"),
    ],
)
def test_a_proposal_that_cannot_be_says_what_to_do(fairclock, contract, words, message):
    before = len(fairclock("exclusions", "list", "--json").json)
    refused = add(fairclock, contract, *words, code=2)
    assert refused.err.startswith(message)
    assert refused.out == ""
    assert len(fairclock("exclusions", "list", "--json").json) == before


def test_answers_that_cannot_be_given(fairclock, contract):
    id_ = add(fairclock, contract).out.strip()
    proof = ("--evidence", "mail")
    said = fairclock("exclusions", "accept", "ex-none", "--author", "Zhang", *proof, code=2)
    assert "there is no such exclusion" in said.err
    said = fairclock("exclusions", "accept", id_, "--author", "OPS", *proof, code=2)
    assert "whoever proposed an exclusion cannot answer it (OPS)" in said.err
    fairclock("exclusions", "revoke", id_, "--author", "Ops", "--comment", "x")
    said = fairclock("exclusions", "accept", id_, "--author", "Zhang", *proof, code=2)
    assert said.err == f"{id_}: cannot be accepted (it is revoked); propose it anew\n"
    said = fairclock("exclusions", "list", "--month", "2026-10", code=2)
    assert said.err.startswith("--month: needs --contract")


def test_an_open_end_is_accepted_for_what_has_passed(fairclock, contract):
    made = add(fairclock, contract, start=NOW - 2 * HOUR, end="open")
    id_ = made.out.strip()
    assert "an acceptance reaches up to the instant at which it is given" in made.err
    for _ in range(2):
        fairclock("exclusions", "accept", id_, "--author", "Zhang", "--evidence", "mail")
    assert listed(fairclock, id_)["to"] is None


def test_degradations_are_recorded_once_and_end(fairclock):
    words = ["degradations", "record", "--mode", "int8", "--from", stamp(NOW - HOUR), "--author", "Ops"]
    made = fairclock(*words, "--reason", "memory", "--tenant", "b", "--tenant", "a", "--json").json
    assert made | {"sequence": 1, "to": None, "tenants": ["a", "b"], "origin": "command", "new": True} == made
    again = fairclock(*words, "--reason", "memory", "--tenant", "a", "--tenant", "b")
    assert again.err == f"{made['id']}: that was recorded already\n"
    ended = fairclock(
        *words, "--reason", "memory", "--tenant", "a", "--tenant", "b", "--to", stamp(NOW), "--json"
    ).json
    assert (ended["id"], ended["sequence"]) == (made["id"], 2)
    (found,) = fairclock("degradations", "list", "--json").json
    assert found["to"] == stamp(NOW)
    (before,) = fairclock("degradations", "list", "--as-of", made["stored_at"], "--json").json
    assert before["to"] is None
    assert plain(fairclock("degradations", "list").out) == (
        f"{made['id']}  int8  TIME to TIME  a, b\n    memory (Ops, by command)\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "2020-01-01T00:00:00Z"], "--to: "),
        (["--mode", ""], "--mode: "),
        (["--from", "2026-10-01"], "--from: the instant has no zone"),
        (["--author", " "], "--author: is empty"),
    ],
)
def test_a_degradation_that_cannot_be(fairclock, words, message):
    good = ["--mode", "int8", "--from", "2026-10-01T00:00:00Z", "--reason", "r", "--author", "Ops"]
    assert fairclock("degradations", "record", *good, *words, code=2).err.startswith(message)
