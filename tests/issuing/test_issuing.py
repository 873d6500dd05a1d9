"""``fairclock report --issue``: numbers without a gap, bytes that stay, revisions of what changed, rivals."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from fairclock.store import Query
from sla.contracts.versions import load_versions
from sla.issuing import reports
from sla.issuing.reports import all_issued, issue
from sla.reports.canonical import report_json
from tests.issuing.conftest import OCTOBER, change
from tests.revisions.conftest import keep

NOW = datetime(2026, 11, 3, 8, tzinfo=UTC)
LATE = OCTOBER + timedelta(days=1)


def report(fairclock, contract, *words, code=0):
    return fairclock("report", contract, "--month", "2026-10", "--json", *words, code=code)


def issued(fairclock, contract, **how):
    return issue(
        fairclock.store,
        load_versions(contract),
        **({"month": "2026-10", "as_of": None, "now": NOW, "software_version": "1"} | how),
    )


def numbers(fairclock):
    return [each["number"] for each in fairclock("reports", "list", "--json").json]


def test_an_issued_report_has_a_number_and_is_final_and_is_the_same_bytes_or_found_to_be_others(
    fairclock, contract
):
    draft = report(fairclock, contract).json
    assert draft["status"] == "draft"
    assert "issue" not in draft
    assert numbers(fairclock) == []
    said = report(fairclock, contract, "--issue")
    assert said.err.startswith("issued acme-2026-R000001: revision 1, as of ")
    tree = said.json
    assert (tree["status"], tree["revision"], tree["issue"]["number"]) == ("final", 1, "acme-2026-R000001")
    assert tree["issue"]["supersedes"] is None
    assert tree["issue"]["previous"] is None
    (row,) = fairclock("reports", "list", "--json").json
    assert row["sha256"] == sha256(said.out.encode()).hexdigest()
    assert (row["month"], row["revision"], row["superseded_by"], row["signatures"]) == ("2026-10", 1, None, 0)
    again = report(fairclock, contract, "--issue")
    assert again.out == said.out
    assert "nothing changed since acme-2026-R000001 was issued, so nothing is issued" in again.err
    assert numbers(fairclock) == ["acme-2026-R000001"]
    # another contract counts for itself
    other = contract.with_name("other.yaml")
    other.write_text(contract.read_text().replace("id: acme-2026", "id: other"))
    report(fairclock, other, "--issue")
    assert numbers(fairclock) == ["acme-2026-R000001", "other-R000001"]
    fairclock.store.execute(
        Query(
            sql="ALTER TABLE issued_reports UPDATE content = replaceOne(content, 'Acme', 'Acne') WHERE 1"
            " SETTINGS mutations_sync = 2"
        )
    )
    done = report(fairclock, contract, "--issue", code=2)
    assert "issued report acme-2026-R000001: its bytes were changed in the store" in done.err


def test_later_rows_make_the_next_revision_which_a_draft_knows_and_that_says_what_changed_since_the_last_issued(
    fairclock, contract
):
    early = fairclock.store.watermark()
    first = report(fairclock, contract, "--issue").json
    keep(fairclock, LATE, "..", number=100)
    draft = report(fairclock, contract).json
    assert (draft["status"], draft["revision"], draft["previous_revision"]["revision"]) == ("draft", 2, 1)
    second = report(fairclock, contract, "--issue").json
    assert second["issue"]["number"] == "acme-2026-R000002"
    assert second["issue"]["supersedes"] == "acme-2026-R000001"
    assert second["issue"]["previous"] == {
        "number": "acme-2026-R000001",
        "sha256": sha256(report_json(first)).hexdigest(),
    }
    assert second["revision"] == 2
    assert second["previous_revision"]["number"] == "acme-2026-R000001"
    admitted = next(each for each in second["changes"] if each["what"] == "admitted")
    assert (admitted["before"], admitted["after"]) == (10, 12)
    assert [each["reason"] for each in admitted["why"]] == ["late_rows"]
    rows = fairclock("reports", "list", "--json").json
    assert [each["superseded_by"] for each in rows] == ["acme-2026-R000002", None]
    done = report(fairclock, contract, "--issue", "--as-of", early.isoformat(), code=2)
    assert "--as-of: lies before what acme-2026-R000002 was issued as of" in done.err
    assert numbers(fairclock) == ["acme-2026-R000001", "acme-2026-R000002"]


def test_changes_are_told_since_what_the_parties_hold_whatever_was_kept_in_between(fairclock, contract):
    config = contract.with_name("fairclock.yaml")
    config.write_text(f"sla: {{contracts: [{contract.name}]}}\n")
    report(fairclock, contract, "--issue")
    keep(fairclock, OCTOBER + timedelta(days=2), "..", number=100)
    fairclock("evaluate", "--config", config)
    keep(fairclock, OCTOBER + timedelta(days=3), "..", number=200)
    tree = report(fairclock, contract, "--issue").json
    assert (tree["revision"], tree["previous_revision"]["revision"]) == (3, 1)
    admitted = next(each for each in tree["changes"] if each["what"] == "admitted")
    assert (admitted["before"], admitted["after"]) == (10, 14)


def test_prose_says_at_risk_until_issued_and_violated_then_while_keys_and_code_stay(
    fairclock, contract, tmp_path
):
    change(contract, objectives=[{"name": "availability", "availability": {"formula": "request_ratio", "target": "99%"}},
                                 {"name": "p50", "latency": {"clock": "end_to_end", "percentile": 50, "at_most": "2s"}}])  # fmt: skip
    draft = report(fairclock, contract, "--format", "html", "-o", tmp_path / "draft", code=1)
    final = report(fairclock, contract, "--format", "html", "-o", tmp_path / "final", "--issue", code=1)
    assert [each["verdict"] for each in draft.json["objectives"]] == [
        each["verdict"] for each in final.json["objectives"]
    ]
    one = (tmp_path / "draft" / "acme-2026-2026-10.html").read_text()
    other = (tmp_path / "final" / "acme-2026-2026-10.html").read_text()
    assert "at risk</" in one
    assert "violated</" not in one
    assert "violated</" in other
    assert "at risk</" not in other
    assert "A draft has no number" in one
    assert "Issued as acme-2026-R000001" in other
    assert "Not signed yet." in other
    assert sha256(final.out.encode()).hexdigest() in other


@pytest.mark.parametrize(
    ("month", "code", "said"),
    [
        ("2026-11", 3, "choose a month of the term"),
        ("2027-01", 3, "choose a month of the term"),
    ],
    ids=["a month outside the term", "a month of another year"],
)
def test_a_month_that_cannot_be_judged_is_not_issued(fairclock, contract, month, code, said):
    done = fairclock("report", contract, "--month", month, "--issue", "--json", code=code)
    assert said in done.err
    assert numbers(fairclock) == []


def test_a_month_that_is_not_over_is_not_issued(fairclock, contract):
    before_its_end = "2026-10-31T23:59:59Z"
    done = report(fairclock, contract, "--issue", "--as-of", before_its_end, code=3)
    assert "is not over, so its report cannot be issued" in done.err
    assert numbers(fairclock) == []


def test_two_rivals_never_share_a_number_and_leave_no_gap(fairclock, contract, monkeypatch):
    """The rival issues between the moment at which this one has read the chain and the one at which it writes."""
    other = []

    def keep_after_a_rival(store, row, content):
        if not other:
            other.append(None)
            monkeypatch.setattr(reports, "keep_issued", original)
            keep(fairclock, LATE, "..", number=100)
            other[0] = issued(fairclock, contract, software_version="rival")
            monkeypatch.setattr(reports, "keep_issued", keep_after_a_rival)
        return original(store, row, content)

    original = reports.keep_issued
    monkeypatch.setattr(reports, "keep_issued", keep_after_a_rival)
    with pytest.raises(Exception, match="lies before what acme-2026-R000001 was issued as of"):
        issued(fairclock, contract)
    monkeypatch.setattr(reports, "keep_issued", original)
    late = issued(fairclock, contract)
    assert [each.number for each in all_issued(fairclock.store)] == ["acme-2026-R000001"]
    assert (late.is_new, late.content) == (False, other[0].content)


def test_rivals_of_different_months_take_turns(fairclock, contract, monkeypatch):
    keep(fairclock, datetime(2026, 9, 14, 3, tzinfo=UTC), "...", number=500)
    original, done = reports.keep_issued, []

    def keep_after_a_rival(store, row, content):
        if not done:
            done.append(True)
            issued(fairclock, contract, month="2026-09")
        return original(store, row, content)

    monkeypatch.setattr(reports, "keep_issued", keep_after_a_rival)
    mine = issued(fairclock, contract)
    rows = all_issued(fairclock.store)
    assert [(each.number, each.month) for each in rows] == [
        ("acme-2026-R000001", "2026-09"),
        ("acme-2026-R000002", "2026-10"),
    ]
    assert rows[1].previous == rows[0].sha256
    assert json.loads(mine.content)["issue"]["number"] == mine.row.number == "acme-2026-R000002"
    void = fairclock.store.rows(Query(sql="SELECT count() FROM issued_reports"))
    assert void == [(3,)]


def test_many_at_once_issue_one_report(fairclock, contract):
    as_of = fairclock.store.watermark()
    found, failed = [], []
    ready = threading.Barrier(4)

    def one(place):
        try:
            ready.wait(120)
            found.append(issued(fairclock, contract, as_of=as_of, now=NOW + timedelta(seconds=place)))
        except Exception as error:  # noqa: BLE001 - told by the test
            failed.append(error)

    threads = [threading.Thread(target=one, args=(place,)) for place in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(300)
    assert (failed, len(found)) == ([], 4)
    assert len({each.content for each in found}) == 1
    assert [each.number for each in all_issued(fairclock.store)] == ["acme-2026-R000001"]
    assert sum(each.is_new for each in found) == 1
