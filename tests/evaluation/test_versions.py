"""Several versions of one contract: each judges what was received while it was in force, and says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fairclock.errors import ContractError, NotEvaluable
from fairclock.model import Interval
from sla.contracts.versions import load_versions, versions_of
from sla.evaluation import evaluate
from tests.evaluation.conftest import AS_OF
from tests.evaluation.factories import a_contract, a_request, availability, latency
from tests.laws import examples

MIDDLE = datetime(2026, 10, 14, 16, tzinfo=UTC)  # 15 October in Shanghai


def term(first: str, last: str = "2026-12-31", zone: str = "Asia/Shanghai") -> dict[str, str]:
    return {"from": first, "to": last, "time_zone": zone}


OLD = a_contract(term=term("2026-01-01"), objectives=[latency(at_most="2s"), availability()])
NEW = a_contract(
    term=term("2026-10-15"),
    objectives=[latency(at_most="1s")],
    outcomes=[{"status": 500, "is": "client_error"}],
    clock={"start": "connected"},
)


def judged(store, contracts, requests, month="2026-10", **others):
    return evaluate(
        store.given(requests), contracts, month=month, as_of=AS_OF, software_version="test", **others
    )


def test_each_request_is_judged_by_the_version_in_force_when_it_was_received(given_store):
    slow = {"end_to_end_us": 1_500_000, "connected_us": 1}
    requests = [
        a_request(received_at=MIDDLE - timedelta(microseconds=1), **slow),
        a_request(received_at=MIDDLE, **slow),
        a_request(received_at=MIDDLE, status=500, outcome="server_error"),
    ]
    report = judged(given_store, [NEW, OLD], requests)
    rows = [
        (row["name"], row["version_sha256"], row["n"], row["violations"], row["value"], row["verdict"])
        for row in report["objectives"]
    ]
    old, new = OLD.version_sha256, NEW.version_sha256
    assert rows == [
        ("p99-end_to_end", old, 1, 0, 1.5, "met"),
        ("availability", old, 1, 0, 1.0, "met"),
        ("p99-end_to_end", new, 1, 1, 1.500001, "violated"),
    ]
    assert report["contract"]["version_sha256"] == new
    assert report["contract"]["versions"] == [
        {"version_sha256": old, "from": "2026-09-30T16:00:00Z", "to": "2026-10-14T16:00:00Z"},
        {"version_sha256": new, "from": "2026-10-14T16:00:00Z", "to": "2026-10-31T16:00:00Z"},
    ]
    assert report["traffic"]["admitted"] == report["evidence"]["rows"] == 3
    assert {key for key, count in report["traffic"]["outcomes"].items() if count} == {"ok", "client_error"}
    assert report["latency"][0]["n"] == 2
    assert sum(day["n"] for day in report["daily"]) == 2
    assert report["period"]["hours"] == 744


UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)


@settings(max_examples=examples(8, soak=150), phases=UNSHRUNK)
@given(
    hours=st.lists(st.integers(0, 743), max_size=20),
    day=st.integers(2, 31),
    outcomes=st.lists(st.sampled_from(["ok", "timeout", "server_error"]), min_size=20, max_size=20),
)
def test_a_month_cut_in_two_by_a_version_that_changes_nothing_adds_up(given_store, hours, day, outcomes):
    start = datetime(2026, 9, 30, 16, tzinfo=UTC)
    requests = [
        a_request(received_at=start + timedelta(hours=hour), outcome=outcome)
        for hour, outcome in zip(hours, outcomes, strict=False)
    ]
    covered = [Interval(start=start, end=start + timedelta(days=31))]
    promises = [
        latency(),
        availability(),
        {
            "name": "uptime",
            "availability": {
                "formula": "downtime",
                "interval": "1h",
                "bad_above": "5%",
                "empty": "good",
                "target": "90%",
            },
        },
    ]
    whole = a_contract(term=term("2026-01-01"), objectives=promises)
    again = a_contract(term=term(f"2026-10-{day:02d}"), objectives=promises)
    one = evaluate(
        given_store.given(requests, gateway=covered),
        whole,
        month="2026-10",
        as_of=AS_OF,
        software_version="test",
    )
    two = evaluate(given_store, [whole, again], month="2026-10", as_of=AS_OF, software_version="test")
    for key in ("n", "violations", "good", "bad", "unknown"):
        for place in range(3):
            parts = [two["objectives"][place][key], two["objectives"][place + 3][key]]
            assert sum(parts) == one["objectives"][place][key], (key, place)
    for key in ("traffic", "latency", "daily", "breakdown", "coverage", "period", "evidence"):
        assert two[key] == one[key], key


def test_a_later_version_supersedes_the_earlier_one_for_good():
    short = a_contract(term=term("2026-03-01", "2026-03-31"))
    found = versions_of([short, OLD])
    assert [(each.contract, each.in_force.start, each.in_force.end) for each in found] == [
        (OLD, datetime(2025, 12, 31, 16, tzinfo=UTC), datetime(2026, 2, 28, 16, tzinfo=UTC)),
        (short, datetime(2026, 2, 28, 16, tzinfo=UTC), datetime(2026, 3, 31, 16, tzinfo=UTC)),
    ]


def test_a_month_in_which_no_version_was_in_force_is_not_judged(given_store):
    short = a_contract(term=term("2026-03-01", "2026-03-31"))
    with pytest.raises(NotEvaluable, match="no version of the contract was in force"):
        judged(given_store, [OLD, short], [], month="2026-05")


def test_a_version_that_has_not_begun_is_not_judged_yet(given_store):
    report = evaluate(
        given_store.given([]), [OLD, NEW], month="2026-10", as_of=MIDDLE, software_version="test"
    )
    assert [each["version_sha256"] for each in report["contract"]["versions"]] == [OLD.version_sha256]


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (a_contract(id="another", term=term("2026-05-01")), "are two contracts"),
        (a_contract(term=term("2026-01-01"), quota=None, clock={"start": "connected"}), "both begin on"),
        (a_contract(term=term("2026-05-01", zone="UTC")), "count months differently"),
        (a_contract(term=term("2026-01-01"), objectives=[latency(), availability()]), "one version twice"),
    ],
    ids=["another id", "the same first day", "another zone", "the same bytes"],
)
def test_files_that_are_no_versions_of_one_contract_are_refused(other, problem):
    base = a_contract(term=term("2026-01-01"), objectives=[latency(), availability()])
    with pytest.raises(ContractError, match=problem):
        versions_of([base, other])


def test_a_folder_holds_the_versions_of_a_contract(tmp_path):
    for name, first in (("old.yaml", "2026-01-01"), ("new.yml", "2026-07-01")):
        clauses = {
            "apiVersion": "fairclock/v1",
            "kind": "Contract",
            "id": "acme-2026",
            "title": "Agreement",
            "provider": {"name": "Example Cloud"},
            "customer": {"name": "Acme", "tenants": ["acme"]},
            "term": term(first),
            "clock": {"start": "received"},
            "objectives": [availability()],
            "insufficient": {"below": 1, "verdict": "void"},
            "unmeasured": {"coverage_floor": "99%", "below_floor": "violated"},
        }
        (tmp_path / name).write_text(yaml.safe_dump(clauses), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not a contract")
    found = load_versions(tmp_path)
    assert [str(each.term.first_day) for each in found] == ["2026-01-01", "2026-07-01"]
    assert load_versions(tmp_path / "old.yaml")[0] == found[0]
    with pytest.raises(ContractError, match="holds no contract"):
        load_versions(tmp_path.parent / tmp_path.name / ".." / _empty(tmp_path))


def _empty(folder) -> str:
    (folder / "nothing").mkdir()
    return f"{folder.name}/nothing"
