"""What an overview says of a month of two versions, what an old verdict is worth, whose evidence is whose. No engine."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from fairclock.cli.pipeline.metrics.agreements import _of_card
from fairclock.console.access.callers import Caller
from fairclock.console.readings.answering import _counted_as
from fairclock.console.readings.burning import WINDOWS, key_of
from fairclock.console.readings.incidents import _evidence
from fairclock.console.readings.kept_reports import KeptReports
from fairclock.console.readings.models.overview import State
from fairclock.console.readings.month_sums import Counted, MonthSum
from fairclock.console.readings.overview import _card, _month
from fairclock.console.readings.ranges import months_of
from fairclock.console.readings.view import Memory, View
from fairclock.store.tokens import Scope
from sla.tallies import Tally
from tests.evaluation.factories import a_contract, latency

NOW = datetime(2026, 10, 21, 12, tzinfo=UTC)
DAY_US = 86_400_000_000
ADMIN = Caller(name="root", scope=Scope.ADMIN)


def a_version(first: date, last: date, **changes: Any) -> Any:
    term = {"from": str(first), "to": str(last), "time_zone": "UTC"}
    return a_contract(id="acme-agreement", term=term, objectives=[latency(at_most="2s")], **changes)


FIRST = a_version(date(2026, 9, 1), date(2027, 8, 31))
SECOND = a_version(date(2026, 10, 11), date(2027, 8, 31))


@pytest.fixture
def view():
    memory = Memory(reports=KeptReports(software_version="0"))
    yield View(
        store=None, caller=ADMIN, as_of=NOW, now=NOW, contracts=(), prices=None, cost_book=None, memory=memory  # type: ignore[arg-type]
    )  # fmt: skip
    memory.cost_books.close()


def a_sum(*, days: float, bad: int, requests: int = 10_000) -> MonthSum:
    covered = round(days * DAY_US)
    tally = Tally(good=requests - bad, bad=bad, excluded=0, unknown=0)
    return MonthSum(
        tallies=(tally,), requests=requests, queue_us=requests, queue_of_us=requests * 10, gateway_us=covered,
        engine_us=covered,
    )  # fmt: skip


def card_of(view: View, sums: dict[Any, MonthSum], *, kept: dict[str, str] | None = None) -> Any:
    month = _month(view, [FIRST, SECOND])
    assert month is not None
    months = {key_of(version): each for version, each in sums.items()}
    counted = Counted(windows=WINDOWS, months=months, recent={})
    return _card(
        view, month, counted, alerts=[], ongoing=0, verdicts=kept or {}, evaluated=None, is_issued=False
    )  # fmt: skip


def test_what_an_earlier_version_of_the_month_broke_is_at_risk(view):
    good = a_sum(days=10.5, bad=0)
    assert card_of(view, {FIRST: a_sum(days=10, bad=0), SECOND: good}).state is State.MET
    broken = card_of(view, {FIRST: a_sum(days=10, bad=9_000), SECOND: good})
    assert broken.state is State.AT_RISK
    assert [each.over for each in broken.standings] == [0], "promises are those of the version in force"


def test_metrics_tell_of_a_budget_what_the_worst_version_of_the_month_left_of_it(view):
    card = card_of(view, {FIRST: a_sum(days=10, bad=9_000), SECOND: a_sum(days=10.5, bad=0)})
    told = {(each.name, each.labels.get("verdict")): each.value for each in _of_card(card, None)}
    [earlier] = card.earlier
    assert (earlier.verdict, earlier.remaining_ratio < 0) == ("violated", True)
    assert told["fairclock_error_budget_remaining_ratio", None] == earlier.remaining_ratio
    assert told["fairclock_error_budget_spent_ratio", None] == 1 - earlier.remaining_ratio
    assert (told["fairclock_objective_verdict", "violated"], told["fairclock_objective_verdict", "met"]) == (
        1,
        0,
    )
    # one series each, whatever the number of versions
    assert len(told) == len(list(_of_card(card, None))) - 1, "coverage is told by two kinds"


def test_of_an_earlier_version_that_nobody_counted_nothing_is_known(view):
    card = card_of(view, {SECOND: a_sum(days=10.5, bad=0)})
    assert card.state is State.UNKNOWN
    assert card.requests is None, "a part of a month's requests are not the month's"
    assert card.coverage.gateway_ratio == pytest.approx(10.5 / 20.5)


def test_the_requests_of_a_month_are_those_of_all_its_versions(view):
    card = card_of(view, {FIRST: a_sum(days=10, bad=0), SECOND: a_sum(days=10.5, bad=0, requests=5_000)})
    assert card.requests == 15_000
    assert card.queue_share_ratio == pytest.approx(0.1)
    assert card.coverage.gateway_ratio == 1.0


@pytest.mark.parametrize(
    ("kept", "bad", "shown"),
    [("met", 9_000, "violated"), ("violated", 0, "violated"), ("met", 0, "met"), ("not_measured", 0, "not_measured")],
    ids=["met a week ago, broken since", "violated in the report's own words", "met in both", "not measured"],
)  # fmt: skip
def test_an_evaluation_of_a_week_ago_makes_nothing_better(view, kept, bad, shown):
    name = SECOND.objectives[0].name
    sums = {FIRST: a_sum(days=10, bad=0), SECOND: a_sum(days=10.5, bad=bad)}
    (standing,) = card_of(view, sums, kept={name: kept}).standings
    assert standing.verdict == shown


def test_months_before_a_gap_between_versions_are_there():
    versions = [
        a_version(date(2026, 1, 1), date(2026, 3, 31)),
        a_version(date(2026, 8, 1), date(2026, 12, 31)),
    ]
    assert months_of(versions, NOW) == ["2026-10", "2026-09", "2026-08", "2026-03", "2026-02", "2026-01"]
    assert months_of(versions, versions[0].whole_month("2026-01").start) == []


FOUND = [
    {"kind": "burst", "numbers": {"busiest": 90, "own_ratio": 0.25}, "sources": ["gateway_requests"]},
    {"kind": "retry_storm", "numbers": {"repeated": 70}, "sources": ["gateway_requests"]},
    {"kind": "kv_cache", "numbers": {"engine": "10.0.0.1:8000", "engines": 1}, "sources": ["engine_samples"]},
    {"kind": "gpu_errors", "numbers": {"gpu": "GPU-42", "events": 3}, "sources": ["gpu_events"]},
    {"kind": "queue", "numbers": {"share_ratio": 0.8}, "sources": ["requests"]},
]


@pytest.mark.parametrize("scope", [Scope.ADMIN, Scope.OPERATOR, Scope.TENANT])
def test_a_tenants_evidence_counts_nobody_else_and_names_no_machine(scope):
    caller = Caller(name="x", scope=scope, tenant="acme" if scope is Scope.TENANT else None)
    shown = _evidence(SimpleNamespace(caller=caller), SimpleNamespace(evidence=json.dumps(FOUND)))  # type: ignore[arg-type]
    if scope is not Scope.TENANT:
        assert list(shown) == FOUND
        return
    assert [each["kind"] for each in shown] == ["kv_cache", "gpu_errors", "queue"]
    assert [each["numbers"] for each in shown] == [
        {"engine": "–", "engines": 1}, {"gpu": "–", "events": 3}, {"share_ratio": 0.8},
    ]  # fmt: skip


def test_all_tokens_of_a_tenant_are_one_caller_and_nobody_is_another_by_its_name():
    one, other = (Caller(name=name, scope=Scope.TENANT, tenant="acme") for name in ("a", "b"))
    names = [
        Caller(name="acme", scope=Scope.OPERATOR),
        Caller(name="a", scope=Scope.TENANT, tenant="zebra"),
        one,
    ]
    assert _counted_as(one) == _counted_as(other)
    assert len({_counted_as(each) for each in names}) == len(names)


def test_no_month_is_longer_than_what_has_passed_of_it(view):
    month = _month(view, [FIRST, SECOND])
    assert month is not None
    assert [each.contract.version_sha256 for each in month.parts] == [
        FIRST.version_sha256,
        SECOND.version_sha256,
    ]
    assert month.parts[0].part.end == month.parts[1].part.start
    assert sum((each.part.end - each.part.start for each in month.parts), timedelta()) == timedelta(days=31)
