"""Every figure of the console is the report's for the same range."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from billing.cost_book.configuration import GpuTimeSection
from fairclock.cli.ledger_costs import month_costs
from fairclock.console.readings.cost import cost_page
from fairclock.console.readings.models.base import Lack, RangeName
from fairclock.console.readings.models.overview import State
from fairclock.console.readings.overview import overview
from fairclock.console.readings.protocol import Wanted
from fairclock.console.readings.ranged import ranged
from fairclock.console.readings.ranges import latest_of, month_of_all
from fairclock.console.readings.reports import document, report_page
from fairclock.console.readings.sources import source_page
from fairclock.console.readings.tenant import tenant_page
from fairclock.documents.numbers import rounded
from fairclock.model import Interval
from fairclock.store import LineBatch
from fairclock.store.issued_reports import IssuedRow, keep_issued
from sla.evaluation import evaluate
from sla.reports import report_json
from sla.revisions import with_revision
from sla.slices import evaluate_slices, in_force
from tests.console.looking import TENANT, a_view
from tests.console.scene import BOOK, MINE, gateway_line


@pytest.fixture(scope="module")
def view(two_tenants):
    return a_view(two_tenants)


@pytest.fixture(scope="module")
def report(two_tenants, view):
    found = evaluate(
        two_tenants.store,
        two_tenants.contracts[0],
        month=two_tenants.month,
        as_of=view.as_of,
        software_version="0.0.0",
    )
    return with_revision(two_tenants.store, found)


@pytest.fixture(scope="module")
def page(two_tenants, view):
    return tenant_page(view, MINE, Wanted(name=RangeName.MONTH, month=two_tenants.month))


def test_the_scene_says_something_of_everything(report):
    assert report["traffic"]["admitted"] == 720
    assert report["traffic"]["outcomes"]["server_error"] == 40
    assert {each["verdict"] for each in report["objectives"]} == {"met", "violated"}
    assert report["latency"][2]["n"]
    assert report["exclusions"] == [] or report["exclusions"][0]["state"] == "proposed"
    assert report["incidents"]


def test_a_month_of_clocks_is_the_reports(page, report):
    shown = [
        {
            "clock": each.clock,
            "n": each.n,
            "p50": each.p50_seconds,
            "p95": each.p95_seconds,
            "p99": each.p99_seconds,
            "p99_interval": None if each.p99_interval_seconds is None else list(each.p99_interval_seconds),
            "max": each.max_seconds,
        }
        for each in page.clocks
    ]
    assert shown == report["latency"]


def test_a_month_of_phases_is_the_reports(page, report):
    shown = {each.phase: {"seconds": each.mean_seconds, "share": each.share_ratio} for each in page.phases}
    assert shown == report["breakdown"]


def test_a_month_of_traffic_and_coverage_is_the_reports(page, report):
    assert page.traffic.admitted == report["traffic"]["admitted"]
    assert {each.outcome: each.count for each in page.traffic.outcomes} == report["traffic"]["outcomes"]
    for name in ("unconfirmed", "quarantined", "ambiguous", "retried"):
        assert getattr(page.traffic, name) == report["traffic"][name]
    assert page.traffic.is_simulated == report["simulated"]
    for side in ("gateway", "engine", "joined"):
        assert getattr(page.coverage, f"{side}_ratio") == report["coverage"][side]


def test_a_month_of_promises_is_the_reports(page, report):
    names = {
        "objective": "name", "over": "violations", "n": "n", "allowed": "allowed", "unknown": "unknown", "value": "value",
        "verdict": "verdict", "verdict_without_exclusions": "verdict_without_exclusions", "threshold": "threshold",
        "clock": "clock", "percentile": "percentile", "clause": "clause", "version_sha256": "version_sha256",
    }  # fmt: skip
    for shown, said in zip(page.promises, report["objectives"], strict=True):
        assert {key: getattr(shown, key) for key in names} == {key: said[name] for key, name in names.items()}


def test_a_month_of_budgets_is_the_reports(page, report):
    names = ("objective", "kind", "allowed", "spent", "remaining", "remaining_ratio", "is_exhausted")
    for shown, said in zip(page.budgets, report["error_budgets"], strict=True):
        assert {key: getattr(shown, key) for key in names} == {key: said[key] for key in names}
        assert (shown.exhausted_at is None) == (said["exhausted_at"] is None)


def test_a_month_of_days_is_the_reports(page, report):
    shown = [(each.n, each.p99_with_queue_seconds, each.p99_without_queue_seconds) for each in page.latency]
    said = [(each["n"], each["p99_with_queue"], each["p99_without_queue"]) for each in report["daily"]]
    assert shown == said


def test_a_range_as_long_as_the_month_says_what_the_month_says(two_tenants, view, report):
    versions = two_tenants.contracts[0]
    period = month_of_all(versions, two_tenants.month)
    found = ranged(two_tenants.store, versions, period, view.as_of)
    assert found is not None
    for key in ("traffic", "latency", "breakdown", "coverage", "simulated"):
        assert found.sections[key] == report[key]
    compared = ("name", "n", "violations", "allowed", "value", "verdict", "interval")
    assert [{key: each[key] for key in compared} for each in found.sections["objectives"]] == [
        {key: each[key] for key in compared} for each in report["objectives"]
    ]
    assert found.sections["error_budgets"] == report["error_budgets"]


def test_two_ranges_that_touch_add_up_to_the_one_that_holds_both(two_tenants, view):
    versions = two_tenants.contracts[0]
    middle = two_tenants.began + timedelta(minutes=47, seconds=3)
    start, end = two_tenants.began, two_tenants.began + timedelta(hours=2)
    parts = [
        ranged(two_tenants.store, versions, Interval(start=one, end=other), view.as_of).sections["traffic"][
            "outcomes"
        ]
        for one, other in ((start, middle), (middle, end), (start, end))
    ]
    assert {key: parts[0][key] + parts[1][key] for key in parts[2]} == parts[2]


def test_the_overview_counts_what_the_report_counts(two_tenants, view, report):
    (card,) = [each for each in overview(view).contracts if each.contract == report["contract"]["id"]]
    assert card.month == two_tenants.month
    assert card.requests == report["traffic"]["admitted"]
    for shown, said in zip(card.standings, report["objectives"], strict=True):
        assert (shown.objective, shown.n, shown.over, shown.allowed, shown.unknown, shown.verdict) == (
            said["name"], said["n"], said["violations"], said["allowed"], said["unknown"], said["verdict"],
        )  # fmt: skip
    ratios = {each["objective"]: each["remaining_ratio"] for each in report["error_budgets"]}
    assert {each.objective: each.remaining_ratio for each in card.standings} == ratios
    # slices say how much of each minute was read through
    assert card.coverage.gateway_ratio == pytest.approx(report["coverage"]["gateway"], abs=1e-6)


def test_the_overview_says_the_same_from_memory_and_anew(two_tenants, view):
    first, again = overview(view), overview(view)
    fresh = overview(a_view(two_tenants, as_of=view.as_of))
    assert first == again == fresh


def test_sources_cover_what_the_report_says(two_tenants, view, report):
    period = month_of_all(two_tenants.contracts[0], two_tenants.month)
    found = source_page(
        view, Wanted(name=RangeName.CUSTOM, starts_at=period.start, ends_at=min(period.end, view.as_of))
    )
    assert (found.gateway_ratio, found.engine_ratio) == (
        report["coverage"]["gateway"],
        report["coverage"]["engine"],
    )


def test_charges_are_the_reports(two_tenants, view, report):
    found = cost_page(view, Wanted(name=RangeName.MONTH, month=two_tenants.month))
    (shown,) = [each for each in found.charges if each.contract == report["contract"]["id"]]
    assert (shown.currency, shown.net) == (report["cost"]["currency"], report["cost"]["net"])
    for key in ("net", "tax", "gross", "credits_granted", "credits_claimed", "credits_claimable"):
        assert getattr(shown, key) == report["amounts"][key]
    assert [each.net for each in shown.lines] == [each["net"] for each in report["cost"]["lines"]]


def test_the_file_is_what_the_command_writes(two_tenants, view, report):
    from fairclock.documents.fonts import describe

    contract = two_tenants.contracts[0][0].id
    found = document(view, contract, two_tenants.month, form="json", language="en")
    fonts = {**report["evidence"], "fonts": [dict(each) for each in describe()]}
    assert found.content == report_json({**report, "evidence": fonts})
    assert found.name == f"{contract}-{two_tenants.month}.json"


def test_a_report_that_is_asked_for_again_at_once_is_not_evaluated_again(two_tenants, view):
    before = view.memory.reports.report(
        two_tenants.store, two_tenants.contracts[1], two_tenants.month, view.as_of
    )
    later = replace(view, as_of=view.as_of)
    assert (
        later.memory.reports.report(
            two_tenants.store, two_tenants.contracts[1], two_tenants.month, later.as_of
        )
        is before
    )


def test_the_cost_book_is_worked_out_aside_and_is_what_the_ledger_shows(two_tenants, view):
    """With a memory of its own: in the second half of a month another test has asked for this month before."""
    machines = GpuTimeSection(
        engines=[{"engine": name, "machine": "NVIDIA H200", "gpus": 4} for name in ("engine-a", "engine-z")]
    )
    asked = a_view(two_tenants, as_of=view.as_of, cost_book=machines.settings())
    books = asked.memory.cost_books
    wanted = Wanted(name=RangeName.MONTH, month=f"{two_tenants.began.astimezone(BOOK.book.zone):%Y-%m}")
    key = (BOOK.book.id, tuple(each.sha256 for each in BOOK.book.versions), wanted.month)
    first = cost_page(asked, wanted)
    assert first.cost_book is None
    assert Lack.NOT_COUNTED_YET in first.lacking
    until = time.monotonic() + 120
    while books.get(key, asked.as_of, lambda: pytest.fail("it is under way")) is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    found = cost_page(asked, wanted)
    books.close()
    said = month_costs(
        two_tenants.store, BOOK, wanted.month, found.cost_book.measured.as_of, machines.settings()
    )
    assert [each.engine for each in found.cost_book.engines] == ["engine-a", "engine-z"]
    assert [(each.engine, each.cost) for each in found.cost_book.engines] == [
        (each.engine, f"{rounded(each.amount, 6):f}") for each in said
    ]
    assert Lack.NOT_COUNTED_YET not in found.lacking


def test_costs_are_those_of_the_month_in_which_the_range_ends(view, monkeypatch):
    labels = []
    monkeypatch.setattr(
        "fairclock.console.readings.cost._prepared_cost_book",
        lambda _, label: (None, bool(labels.append(label)) or True),
    )
    first = datetime(view.as_of.year - 1, 3, 1, tzinfo=BOOK.book.zone)
    before = Wanted(name=RangeName.CUSTOM, starts_at=first - timedelta(days=20), ends_at=first)
    assert cost_page(view, before).charges == (), "no contract had begun"
    assert {each.month for each in cost_page(view, Wanted(name=RangeName.HOUR)).charges} == {
        latest_of(view.contracts[0], view.as_of)
    }
    assert labels == [f"{view.as_of.year - 1}-02", f"{view.as_of.astimezone(BOOK.book.zone):%Y-%m}"]


def test_costs_of_the_latest_month_are_those_of_each_contracts_own(two_tenants, view, monkeypatch):
    """A month from one day to the same day of the next lies in two of the calendar's; no hour of it is without its charges."""
    labels = []
    monkeypatch.setattr(
        "fairclock.console.readings.cost._prepared_cost_book",
        lambda _, label: (None, bool(labels.append(label)) or True),
    )
    whole = month_of_all(two_tenants.contracts[0], two_tenants.month)
    instants = [whole.start + timedelta(hours=1), whole.end - timedelta(hours=1)]
    for as_of in instants:
        found = cost_page(replace(view, as_of=as_of), Wanted(name=RangeName.MONTH))
        assert [each.month for each in found.charges] == [two_tenants.month] * 2
    assert labels == [f"{each.astimezone(BOOK.book.zone):%Y-%m}" for each in instants]


def test_sums_are_kept_for_every_caller_and_not_for_the_last_one(view, monkeypatch):
    tenants = replace(view, caller=TENANT)
    first, mine = overview(view), overview(tenants)
    assert len(mine.contracts) < len(first.contracts)
    monkeypatch.setattr(
        "fairclock.console.readings.month_sums.bucket_sums", lambda *_, **__: pytest.fail("again")
    )
    assert overview(view) == first
    assert overview(tenants) == mine


def test_a_broken_promise_is_at_risk_until_a_report_is_issued(two_tenants, view):
    (before,) = [each for each in overview(view).contracts if each.contract.startswith(MINE)]
    assert before.state is State.AT_RISK
    instant = view.as_of
    keep_issued(
        two_tenants.store,
        IssuedRow(
            contract=before.contract, sequence=1, number="R-1", month=before.month, starts_at=instant, ends_at=instant,
            revision=1, as_of=instant, status="final", issued_at=instant, program="0", previous="", sha256="0" * 64,
        ),
        b"{}",
    )  # fmt: skip
    after = a_view(two_tenants)
    (card,) = [each for each in overview(after).contracts if each.contract == before.contract]
    assert card.state is State.VIOLATED
    shown = tenant_page(after, MINE, Wanted(name=RangeName.MONTH, month=before.month))
    assert all(each.is_issued for each in shown.promises)
    assert not any(each.is_issued for each in tenant_page(after, MINE, Wanted(name=RangeName.DAY)).promises)
    (month,) = [
        each
        for each in report_page(after).months
        if (each.contract, each.month) == (before.contract, before.month)
    ]
    assert [each.number for each in month.issued] == ["R-1"]


def test_what_arrives_late_is_in_the_overview_though_its_day_was_added_up(two_tenants):
    view = a_view(two_tenants)
    (before,) = [each for each in overview(view).contracts if each.contract.startswith(MINE)]
    lines = [
        gateway_line(
            MINE, 900_000 + place, two_tenants.began + timedelta(seconds=place), took=9.0, status="200"
        )
        for place in range(5)
    ]
    two_tenants.store.ingest(LineBatch(kind="gateway", source="late", lines=lines))
    known = two_tenants.store.watermark()
    versions = [each for found in two_tenants.contracts for each in in_force(two_tenants.store, found, known)]
    evaluate_slices(two_tenants.store, versions, as_of=known)
    later = a_view(two_tenants, memory=view.memory)
    fresh = a_view(two_tenants, as_of=later.as_of)
    (after,) = [each for each in overview(later).contracts if each.contract.startswith(MINE)]
    assert after.requests == before.requests + 5
    assert after.standings[0].over == before.standings[0].over + 5
    assert overview(later).contracts == overview(fresh).contracts
