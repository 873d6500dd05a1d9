"""One seal a day: when a day is sealed, what its hash is over, chains, revisions, rivals, and what verify finds."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from fairclock.store import Query
from fairclock.store.issued_reports import day_seal_content, day_seal_rows
from sla.contracts.versions import load_versions
from sla.issuing import sealing
from sla.issuing.chains import chain_of
from sla.issuing.day_seals import closed_days, read_day_seal
from sla.issuing.noticing import DaySealsStep
from sla.issuing.sealing import HourSeals, due_days, seal_days
from sla.slices import in_force
from tests.evaluation.factories import a_contract
from tests.issuing.conftest import OCTOBER, signed_contract
from tests.revisions.conftest import keep

TERM = {"from": "2026-01-01", "to": "2026-10-17", "time_zone": "UTC"}
DAYS = ["2026-10-14", "2026-10-15", "2026-10-16", "2026-10-17"]


@pytest.fixture
def contract(tmp_path, provider, customer):
    return signed_contract(tmp_path, provider, customer, term=TERM)


@pytest.fixture
def at_once(monkeypatch):
    """Let a seal be revised at once: the store's clock is the machine's."""
    monkeypatch.setattr(sealing, "AGAIN_AFTER", timedelta())


def versions(fairclock, contract):
    return in_force(fairclock.store, load_versions(contract), fairclock.store.watermark())


def look(fairclock, contract):
    """Do what a pass of the evaluator does: seal hours, then days."""
    fairclock.store.seal()
    counted = versions(fairclock, contract)
    DaySealsStep(lambda: fairclock.store, lambda: counted, "1").step(datetime.now(UTC))


def seals(fairclock, contract="acme-2026"):
    store = fairclock.store
    rows = chain_of(day_seal_rows(store, store.watermark()), contract).rows
    return [(row, json.loads(day_seal_content(store, contract, row.sha256))) for row in rows]


def test_every_day_since_the_first_hour_is_sealed_once_it_has_closed_and_chained_to_the_day_before(
    fairclock, contract
):
    look(fairclock, contract)
    found = seals(fairclock)
    assert [row.day for row, _ in found] == DAYS
    assert [row.sequence for row, _ in found] == [1, 2, 3, 4]
    assert [tree["previous"] for _, tree in found] == [None, *(row.sha256 for row, _ in found[:-1])]
    for row, tree in found:
        content = day_seal_content(fairclock.store, "acme-2026", row.sha256)
        assert sha256(content).hexdigest() == row.sha256
        assert read_day_seal(content, where="it") == tree


def test_a_day_has_one_hash_over_the_hours_and_tells_only_of_the_contracts_own_requests(fairclock, contract):
    keep(fairclock, OCTOBER, "...", tenant="somebody-else", number=300)
    keep(fairclock, OCTOBER + timedelta(hours=2), "..", number=400)
    look(fairclock, contract)
    _, tree = seals(fairclock)[0]
    of_store = fairclock.store.rows(
        Query(sql="SELECT hour, max(seal) FROM seals GROUP BY hour ORDER BY hour")
    )
    assert [each["seal"] for each in tree["hours"]] == [str(seal) for _, seal in of_store]
    assert [each["rows"] for each in tree["hours"] if each["rows"]] == [10, 2]
    assert tree["rows"] == 12
    lines = "".join(f"{each['hour']}\t{each['rows']}\t{each['rows_sha256']}\n" for each in tree["hours"])
    assert tree["hours_sha256"] == sha256(lines.encode()).hexdigest()


def test_the_hours_that_have_requests_are_those_that_the_reports_evidence_is_over(fairclock, contract):
    keep(fairclock, OCTOBER + timedelta(days=2), "..", number=400)
    look(fairclock, contract)
    report = fairclock("report", contract, "--month", "2026-10", "--json").json
    lines = "".join(
        f"{each['hour']}\t{each['rows']}\t{each['rows_sha256']}\n"
        for _, tree in seals(fairclock)
        for each in tree["hours"]
        if each["rows"]
    )
    assert sha256(lines.encode()).hexdigest() == report["evidence"]["rows_sha256"]


def test_an_hour_that_is_sealed_anew_makes_a_further_revision_of_its_day_after_a_while_and_edits_nothing(
    fairclock, contract, monkeypatch
):
    look(fairclock, contract)
    before = seals(fairclock)
    keep(fairclock, OCTOBER, ".", number=500)
    look(fairclock, contract)
    assert seals(fairclock) == before
    monkeypatch.setattr(sealing, "AGAIN_AFTER", timedelta())
    look(fairclock, contract)
    after = seals(fairclock)
    assert after[: len(before)] == before
    ((row, tree),) = after[len(before) :]
    assert (row.day, row.revision, row.sequence) == ("2026-10-14", 2, 5)
    assert tree["supersedes"] == before[0][0].sha256
    assert tree["previous"] == before[-1][0].sha256
    assert (before[0][1]["rows"], tree["rows"]) == (10, 11)
    # nothing has changed since
    look(fairclock, contract)
    assert seals(fairclock) == after


def test_a_day_with_an_hour_that_is_not_sealed_waits(fairclock, contract):
    look(fairclock, contract)
    fairclock.store.execute(Query(sql="TRUNCATE TABLE day_seals"))
    keep(fairclock, OCTOBER + timedelta(days=2), ".", number=500)
    store, as_of = fairclock.store, fairclock.store.watermark()
    hours = HourSeals.read(store, as_of)
    due = list(due_days(versions(fairclock, contract), chain_of([], "acme-2026"), hours, as_of=as_of))
    seal_days(store, due, hours, as_of=as_of, software_version="1")
    days = [row.day for row, _ in seals(fairclock)]
    assert days == [day for day in DAYS if day != "2026-10-16"]
    look(fairclock, contract)
    assert seals(fairclock)[-1][0].day == "2026-10-16"


def test_two_who_seal_at_once_make_one_chain(fairclock, contract, monkeypatch):
    fairclock.store.seal()
    store, as_of = fairclock.store, fairclock.store.watermark()
    hours = HourSeals.read(store, as_of)
    due = list(due_days(versions(fairclock, contract), chain_of([], "acme-2026"), hours, as_of=as_of))
    original, rival = sealing.keep_day_seals, []

    def keep_after_a_rival(store, rows):
        monkeypatch.setattr(sealing, "keep_day_seals", original)
        rival.extend(seal_days(store, due[:2], hours, as_of=as_of, software_version="rival"))
        return original(store, rows)

    monkeypatch.setattr(sealing, "keep_day_seals", keep_after_a_rival)
    assert seal_days(store, due, hours, as_of=as_of, software_version="1") == []
    assert len(rival) == 2
    look(fairclock, contract)
    found = seals(fairclock)
    assert [row.day for row, _ in found] == DAYS
    assert [tree["software_version"] for _, tree in found] == ["rival"] * 2 + ["1"] * 2


@pytest.mark.parametrize(
    ("zone", "first"),
    [
        ("Asia/Shanghai", "2026-10-13T16:00:00Z"),
        ("Asia/Kolkata", "2026-10-13T18:30:00Z"),
        ("America/New_York", "2026-10-13T04:00:00Z"),
    ],
)
def test_a_day_is_one_of_the_contracts_zone(fairclock, tmp_path, provider, customer, zone, first):  # noqa: PLR0917 - fixtures and a table's columns
    contract = signed_contract(tmp_path, provider, customer, term=TERM | {"time_zone": zone})
    look(fairclock, contract)
    row, tree = seals(fairclock)[0]
    assert tree["from"] == first
    assert sum(tree["rows"] for _, tree in seals(fairclock)) == 10
    assert row.day == tree["day"]


def test_a_day_closes_an_hour_after_its_end_in_its_zone_and_lasts_as_long_as_it_does_there():
    contract = a_contract(term={"from": "2026-10-24", "to": "2026-10-27", "time_zone": "Europe/Berlin"})
    since = datetime(2026, 10, 25, 12, tzinfo=UTC)
    until = datetime(2026, 10, 26, 23, tzinfo=UTC)
    found = list(closed_days(contract, since=since, until=until))
    assert [day.isoformat() for day, _ in found] == ["2026-10-25", "2026-10-26"]
    assert [(each.end - each.start) // timedelta(hours=1) for _, each in found] == [25, 24]
    assert list(closed_days(contract, since=since, until=until - timedelta(microseconds=1))) == found[:1]


@pytest.fixture
def received(fairclock, contract, tmp_path):
    """The seal of the first day, as a customer received it."""
    look(fairclock, contract)
    row, _ = seals(fairclock)[0]
    path = tmp_path / "received.json"
    path.write_bytes(day_seal_content(fairclock.store, "acme-2026", row.sha256))
    return path


def verify(fairclock, path, contract, code=0):
    tree = fairclock("reports", "verify", path, "--contract", contract, "--json", code=code).json
    return [each["text"] for each in tree["findings"] if each["wrong"] == bool(code)]


def test_requests_that_were_changed_in_the_store_after_the_day_was_sealed_are_found(
    fairclock, contract, received
):
    fairclock.store.execute(
        Query(
            sql="ALTER TABLE requests UPDATE end_to_end_us = 1 WHERE status = 504 SETTINGS mutations_sync = 2"
        )
    )
    (said,) = verify(fairclock, received, contract, code=1)
    assert said == "the store has other requests than were sealed, in 1 hours: 2026-10-14T03:00:00Z"


def test_a_seal_that_was_made_away_with_is_found(fairclock, contract, received):
    fairclock.store.execute(
        Query(sql="ALTER TABLE day_seals DELETE WHERE day = '2026-10-14' SETTINGS mutations_sync = 2")
    )
    assert any(
        "the store holds no such seal" in each for each in verify(fairclock, received, contract, code=1)
    )


def test_a_revision_is_told_of_whoever_has_the_seal_before_and_both_hold(
    fairclock, contract, received, at_once
):
    keep(fairclock, OCTOBER, ".", number=500)
    look(fairclock, contract)
    said = verify(fairclock, received, contract)
    assert any(each.startswith("hours of that day were sealed anew: revision 2, ") for each in said)
    assert "the store has the 10 requests that were sealed, as they were" in said
