"""Which months of a contract are over, and what makes one of them rest on something else."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import Interval
from sla.contracts.versions import versions_of
from sla.evaluation.excluded import Excluded
from sla.revisions import months_within
from sla.slices import InForce
from tests.evaluation.factories import a_contract

FIRST, LAST = date(2026, 3, 10), date(2027, 2, 20)


def a_version(**changes) -> InForce:
    term = {"from": str(FIRST), "to": str(LAST), "time_zone": "Europe/Berlin"}
    return InForce(contract=a_contract(term=term, **changes))


CALENDAR, ANNIVERSARY = a_version(), a_version(period={"month": "anniversary"})


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("version", "as_of", "months"),
    [
        (CALENDAR, "2026-03-31T21:59:59", []),
        (CALENDAR, "2026-03-31T22:00:00", ["2026-03"]),
        (CALENDAR, "2026-05-20T00:00:00", ["2026-03", "2026-04"]),
        (ANNIVERSARY, "2026-05-20T00:00:00", ["2026-03", "2026-04"]),
        (ANNIVERSARY, "2026-05-09T21:59:59", ["2026-03"]),
        (CALENDAR, "2026-01-01T00:00:00", []),
    ],
    ids=[
        "not before midnight there",
        "at midnight there",
        "each month that is over, the cut one too",
        "months that begin on the tenth",
        "one of them is not over",
        "none before the term",
    ],
)
def test_months_that_are_over(version, as_of, months):
    assert [each.month for each in months_within([version], None, instant(as_of))] == months


@pytest.mark.parametrize(
    ("start", "end", "months"),
    [
        ("2026-03-31T22:00:00", "2026-05-31T22:00:00", ["2026-04", "2026-05"]),
        ("2026-03-31T22:00:01", "2026-05-31T22:00:00", ["2026-05"]),
        ("2026-03-31T22:00:00", "2026-05-31T21:59:59", ["2026-04"]),
        ("2020-01-01T00:00:00", "2026-04-01T00:00:00", ["2026-03"]),
    ],
    ids=["whole months", "one begins too early", "one ends too late", "a month that the term cuts is whole"],
)
def test_a_range_keeps_what_lies_in_it_as_a_whole(start, end, months):
    window = Interval(start=instant(start), end=instant(end))
    found = months_within([CALENDAR], window, instant("2027-06-01T00:00:00"))
    assert [each.month for each in found] == months


@given(st.sampled_from([CALENDAR, ANNIVERSARY]), st.integers(0, 500 * 24))
def test_months_that_are_over_follow_each_other_without_a_gap(version, hours):
    as_of = instant("2026-01-01T00:00:00") + timedelta(hours=hours)
    found = months_within([version], None, as_of)
    term = version.interval
    edges = [each.period.start for each in found] + [each.period.end for each in found[-1:]]
    assert edges == sorted(set(edges))
    assert [each.period.end for each in found] == edges[1:]
    assert not found or edges[0] == term.start
    over = as_of >= term.end
    assert not over or edges[-1] == term.end


def test_a_month_of_two_versions_is_one_month():
    later = a_contract(term={"from": "2026-05-15", "to": str(LAST), "time_zone": "Europe/Berlin"})
    versions = [
        InForce(contract=each.contract, within=each.in_force)
        for each in versions_of([CALENDAR.contract, later])
    ]
    found = {each.month: each for each in months_within(versions, None, instant("2026-07-15T00:00:00"))}
    assert list(found) == ["2026-03", "2026-04", "2026-05", "2026-06"]
    assert found["2026-05"].period == Interval(
        start=instant("2026-04-30T22:00:00"), end=instant("2026-05-31T22:00:00")
    )


def inputs(version: InForce) -> dict[str, str]:
    return {
        each.month: each.inputs for each in months_within([version], None, instant("2026-07-15T00:00:00"))
    }


def test_what_is_left_out_of_one_month_is_no_matter_of_another():
    start = instant("2026-05-10T00:00:00")
    hour = Excluded(instants=(Interval(start=start, end=start + timedelta(hours=1)),))
    before, after = inputs(CALENDAR), inputs(InForce(contract=CALENDAR.contract, excluded=hour))
    assert {month for month in before if before[month] != after[month]} == {"2026-05"}


@pytest.mark.parametrize(
    ("verdict", "start"),
    [("void", "2026-04-30T21:00:00"), ("carry_over", "2026-03-09T22:00:00")],
    ids=[
        "its own time, and an hour for what is counted back",
        "all before it, where requests are carried over",
    ],
)
def test_in_which_time_rows_matter_to_a_month(verdict, start):
    version = a_version(insufficient={"below": 10, "verdict": verdict})
    found = next(
        each
        for each in months_within([version], None, instant("2026-07-15T00:00:00"))
        if each.month == "2026-05"
    )
    assert found.rests_on == Interval(start=instant(start), end=instant("2026-05-31T22:00:00"))
