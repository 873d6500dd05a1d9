"""Months evaluated again on a real store: when that is a revision, what a report says of it, and what stays as it was."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fairclock.cli.pipeline.evaluator import Counted
from fairclock.cli.pipeline.revising import RevisionsStep
from fairclock.model import Interval, from_us, to_us, utc_text
from fairclock.store import Query
from fairclock.store.evaluations import arrivals, evaluations_as_of, keep_evaluation
from sla.contracts import load_contract
from sla.evaluation import evaluate
from sla.revisions import keep_revision, with_revision
from sla.slices import in_force
from tests.revisions.conftest import a_file, evaluations, keep

OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)
NOON = datetime(2026, 10, 7, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
RANGE = ("--from", "2026-10-01T00:00:00Z", "--to", "2026-11-01T00:00:00Z")


def revisions(said) -> list[tuple[str, int, bool]]:
    return [(each["month"], each["revision"], each["new"]) for each in said.json["revisions"]]


def run(fairclock, config, *words):
    return fairclock("evaluate", "-c", config, "--json", *words)


def report(fairclock, contract, *words, code=0):
    return fairclock("report", contract, "--month", "2026-10", "--json", *words, code=code)


def now(fairclock) -> str:
    return utc_text(fairclock.store.watermark())


@pytest.mark.parametrize("words", [(), RANGE], ids=["what is due", "a range that holds the month"])
def test_late_rows_make_a_revision_that_says_what_changed(fairclock, config, contract, words):
    keep(fairclock, NOON, "........xx")
    assert revisions(run(fairclock, config, *words)) == [("2026-10", 1, True)]
    first = now(fairclock)
    before = report(fairclock, contract, "--as-of", first)
    assert (before.json["revision"], before.json["previous_revision"], before.json["changes"]) == (
        1,
        None,
        [],
    )

    keep(fairclock, NOON + HOUR, ".x", number=500)
    assert revisions(run(fairclock, config, *words)) == [("2026-10", 2, True)]
    after = report(fairclock, contract).json
    assert after["revision"] == 2
    assert after["previous_revision"]["revision"] == 1
    said = {(each["objective"], each["what"]): each for each in after["changes"]}
    values = {key: (each["before"], each["after"]) for key, each in said.items() if key[1] != "rows_sha256"}
    assert values == {
        (None, "admitted"): (10, 12),
        ("availability", "n"): (10, 12),
        ("availability", "violations"): (2, 3),
        ("availability", "value"): (0.8, 0.75),
        ("p50-end_to_end", "n"): (10, 12),
        ("p50-end_to_end", "violations"): (2, 3),
    }
    (why,) = said["availability", "n"]["why"]
    assert (why["reason"], why["gateway_rows"], why["engine_rows"]) == ("late_rows", 2, 0)

    assert report(fairclock, contract, "--as-of", first).out == before.out


def test_what_comes_to_the_same_is_no_revision(fairclock, config):
    keep(fairclock, NOON, "....")
    run(fairclock, config)
    assert revisions(run(fairclock, config)) == []
    assert revisions(run(fairclock, config, *RANGE)) == [("2026-10", 1, False)]
    keep(fairclock, NOON, "..", tenant="other", number=900)
    assert revisions(run(fairclock, config)) == [("2026-10", 1, False)]
    assert len(evaluations(fairclock)) == 1


@pytest.mark.parametrize(
    ("words", "months"),
    [
        (("--from", "2026-09-01T00:00:00Z", "--to", "2026-11-01T00:00:00Z"), ["2026-09", "2026-10"]),
        (("--from", "2026-10-02T00:00:00Z", "--to", "2026-11-01T00:00:00Z"), []),
        ((), ["2026-10"]),
    ],
    ids=["each whole month of the range", "no month that is cut", "of itself only a month with traffic"],
)
def test_which_months_are_kept(fairclock, config, words, months):
    keep(fairclock, NOON, "....")
    assert [month for month, _, _ in revisions(run(fairclock, config, *words))] == months


def test_an_exclusion_that_is_accepted_and_revoked_is_named(fairclock, config, contract):
    keep(fairclock, NOON, "....xxxx....")
    run(fairclock, config)
    words = ("--contract", contract, "--clause", "force_majeure", "--reason", "flood", "--author", "Ops")
    window = ("--from", "2026-10-07T12:04:00Z", "--to", "2026-10-07T12:08:00Z")
    id_ = fairclock("exclusions", "add", *words, *window).out.split()[0]
    assert revisions(run(fairclock, config)) == []
    fairclock("exclusions", "accept", id_, "--author", "Zhang", "--evidence", "mail")
    assert revisions(run(fairclock, config)) == [("2026-10", 2, True)]
    found = report(fairclock, contract).json
    by_what = {(each["objective"], each["what"]): each for each in found["changes"]}
    granted = by_what[None, "exclusion"]
    assert (granted["before"], granted["after"]["granted_seconds"]) == (None, 240.0)
    assert by_what["availability", "violations"]["after"] == 0
    assert (None, "admitted") not in by_what
    for each in (granted, by_what["availability", "violations"]):
        (why,) = each["why"]
        assert (why["reason"], why["id"], why["state"]) == ("exclusion", id_, "accepted")

    fairclock("exclusions", "revoke", id_, "--author", "Ops", "--comment", "wrong week")
    assert revisions(run(fairclock, config)) == [("2026-10", 3, True)]
    (why,) = next(
        each for each in report(fairclock, contract).json["changes"] if each["what"] == "exclusion"
    )["why"]
    assert why["state"] == "revoked"


def test_another_version_of_the_contract_is_named(fairclock, config, contract):
    keep(fairclock, NOON, "........xx")
    run(fairclock, config)
    old = load_contract(contract).version_sha256
    a_file(contract.parent, title="Inference, second edition")
    assert revisions(run(fairclock, config)) == [("2026-10", 2, True)]
    (change,) = report(fairclock, contract).json["changes"]
    assert (change["what"], change["before"][0]["version_sha256"]) == ("versions", old)
    assert change["why"] == [
        {"reason": "contract_version", "before": [old], "after": [load_contract(contract).version_sha256]}
    ]


def test_figures_that_nobody_kept_are_the_next_revision(fairclock, config, contract):
    keep(fairclock, NOON, "....")
    assert report(fairclock, contract).json["revision"] == 1
    run(fairclock, config)
    assert report(fairclock, contract).json["revision"] == 1
    keep(fairclock, NOON + HOUR, "x", number=700)
    found = report(fairclock, contract).json
    assert (found["revision"], bool(found["changes"])) == (2, True)
    assert len(evaluations(fairclock)) == 1


def test_two_evaluators_at_once_leave_one_row(fairclock, contract):
    keep(fairclock, NOON, "........xx")
    store, version = fairclock.store, load_contract(contract)
    for revision in (1, 2, 3):
        keep(fairclock, NOON + revision * HOUR, "x", number=100 * revision)
        as_of = store.watermark()
        found = evaluate(store, version, month="2026-10", as_of=as_of, software_version="1")
        with ThreadPoolExecutor(4) as pool:
            kept = list(pool.map(lambda _, found=found: keep_revision(store, found, inputs=""), range(4)))
        assert {each.revision for each in kept} == {revision}
    assert [row[1] for row in evaluations(fairclock)] == [1, 2, 3]


def test_a_slower_evaluator_undoes_nothing(fairclock, contract):
    keep(fairclock, NOON, "........xx")
    store, version = fairclock.store, load_contract(contract)

    def evaluated():
        return evaluate(store, version, month="2026-10", as_of=store.watermark(), software_version="1")

    slow = evaluated()
    keep(fairclock, NOON + HOUR, "x", number=100)
    assert keep_revision(store, evaluated(), inputs="").revision == 1
    found = keep_revision(store, slow, inputs="")
    assert (found.revision, found.is_new) == (1, False)
    assert len(evaluations(fairclock)) == 1


def test_of_two_rows_of_one_revision_the_first_holds(fairclock, contract):
    keep(fairclock, NOON, "........xx")
    store = fairclock.store
    found = evaluate(
        store, load_contract(contract), month="2026-10", as_of=store.watermark(), software_version="1"
    )
    keep_revision(store, found, inputs="")
    (first,) = evaluations_as_of(store, "acme-2026", "2026-10")
    columns = "contract, month, revision, as_of, inputs, figures, program"
    store.execute(
        Query(
            sql=f"INSERT INTO evaluations ({columns}, digest, stored_at)"
            f" SELECT {columns}, 'another', stored_at + toIntervalMillisecond(1) FROM evaluations"
        )
    )
    assert evaluations_as_of(store, "acme-2026", "2026-10") == [first]
    keep_evaluation(store, replace(first, digest="a third"))
    assert evaluations_as_of(store, "acme-2026", "2026-10") == [first]
    assert evaluations_as_of(store, "acme-2026", "2026-10", from_us(to_us(first.stored_at) - 1)) == []


def test_a_name_that_was_noted_without_its_row_keeps_no_revision_away(fairclock, contract):
    keep(fairclock, NOON, "........xx")
    store = fairclock.store
    found = evaluate(
        store, load_contract(contract), month="2026-10", as_of=store.watermark(), software_version="1"
    )
    keep_revision(store, found, inputs="")
    store.execute(Query(sql="ALTER TABLE evaluations DELETE WHERE 1 SETTINGS mutations_sync = 1"))
    assert keep_revision(store, found, inputs="").is_new
    assert len(evaluations(fairclock)) == 1


def test_copies_of_what_was_there_are_no_arrivals(fairclock):
    keep(fairclock, NOON, "....")
    since = fairclock.store.watermark()
    keep(fairclock, NOON, "....")
    keep(fairclock, NOON + HOUR, "..", number=300)
    keep(fairclock, NOON + HOUR, "..", number=400, tenant="other")
    keep(fairclock, OCTOBER - HOUR, "..", number=600)
    until = fairclock.store.watermark()
    keep(fairclock, NOON + 2 * HOUR, ".", number=800)
    month = Interval(start=OCTOBER, end=datetime(2026, 11, 1, tzinfo=UTC))
    found = arrivals(fairclock.store, month, ["acme"], after=since, until=until)
    assert (found.gateway_rows, found.engine_rows, found.coverage_notes) == (2, 0, 0)


def test_a_report_with_a_revision_reads_only_what_was_there(fairclock, config, contract):
    keep(fairclock, NOON, "....")
    store, version = fairclock.store, load_contract(contract)
    as_of = store.watermark()
    first = with_revision(store, evaluate(store, version, month="2026-10", as_of=as_of, software_version="1"))
    run(fairclock, config)
    again = with_revision(store, evaluate(store, version, month="2026-10", as_of=as_of, software_version="1"))
    assert first == again


class Slices:
    """Stands in for the step that counts slices."""

    def __init__(self, store, contract):
        as_of = store.watermark()
        self.counted = Counted(as_of=as_of, versions=tuple(in_force(store, [load_contract(contract)], as_of)))


def test_up_keeps_a_month_an_hour_after_its_end_and_again_when_late_rows_have_settled(fairclock, contract):
    store, end = fairclock.store, datetime(2026, 11, 1, tzinfo=UTC)
    keep(fairclock, NOON, "........xx")
    slices = Slices(store, contract)
    step = RevisionsStep(lambda: store, slices)

    def revisions_at(after: timedelta) -> int:
        step.step(end + after)
        return len(evaluations(fairclock))

    assert revisions_at(timedelta(minutes=59)) == 0
    assert revisions_at(HOUR) == 1
    keep(fairclock, NOON + HOUR, "x", number=100)
    slices.counted = Slices(store, contract).counted
    assert revisions_at(HOUR + timedelta(minutes=5)) == 1
    assert revisions_at(HOUR + timedelta(minutes=11)) == 2
    assert revisions_at(HOUR + timedelta(minutes=30)) == 2
    assert [(each.value, dict(each.labels)["month"]) for each in step.figures()] == [(2, "2026-10")]

    again = RevisionsStep(lambda: store, slices)
    again.step(end + timedelta(hours=2))
    assert list(again.figures()) == [], "a program that starts anew knows what was kept"


def test_up_waits_for_slices(fairclock, contract):
    keep(fairclock, NOON, ".")
    slices = Slices(fairclock.store, contract)
    slices.counted = None
    RevisionsStep(lambda: fairclock.store, slices).step(datetime(2026, 12, 1, tzinfo=UTC))
    assert evaluations(fairclock) == []
