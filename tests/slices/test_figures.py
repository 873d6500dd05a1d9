"""What Prometheus is told of contracts: counters that never fall, over months and corrections."""

from __future__ import annotations

import pytest

from fairclock.cli.slice_figures import SliceCounters
from fairclock.model import Interval
from sla.slices import InForce, Slice
from sla.tallies import Tally
from tests.evaluation.factories import a_contract, availability

VERSION = InForce(contract=a_contract(objectives=[availability("99%")]))


def a_slice(covered_us: int = 0, **counts: int) -> Slice:
    term = VERSION.interval
    return Slice(
        window=Interval(start=term.start, end=term.end), tallies=(Tally(**counts),), gateway_us=covered_us
    )


def read(counters: SliceCounters) -> dict[str, float]:
    return {
        labels.get("counted") or labels["side"]: each.value
        for each in counters.figures()
        if (labels := dict(each.labels))
    }


@pytest.mark.parametrize(
    ("taken", "good", "bad"),
    [
        ([("a", 5, 1), ("a", 9, 2)], 9, 2),
        ([("a", 5, 2), ("a", 6, 1)], 6, 2),
        ([("a", 5, 1), ("b", 0, 0), ("b", 3, 1)], 8, 2),
        ([("a", 5, 1), ("b", 3, 0), ("c", 1, 1)], 9, 2),
    ],
    ids=["it grows", "what was taken back does not fall", "a month goes on from the last", "three months"],
)
def test_counters_never_fall(taken, good, bad):
    counters, last = SliceCounters(), {"good": 0.0, "bad": 0.0}
    for month, one, other in taken:
        counters._take(VERSION, month, a_slice(good=one, bad=other))
        now = read(counters)
        assert now["good"] >= last["good"]
        assert now["bad"] >= last["bad"]
        last = now
    assert (last["good"], last["bad"]) == (good, bad)


def test_time_that_was_read_through_is_in_seconds():
    counters = SliceCounters()
    counters._take(VERSION, "a", a_slice(covered_us=90_500_000))
    assert read(counters)["gateway"] == 90.5
    assert read(counters)["engine"] == 0


def test_what_is_counted_meanwhile_keeps_nobody_from_being_told():
    counters = SliceCounters()
    counters._take(VERSION, "a", a_slice(good=1))
    told = counters.figures()
    first = next(told)
    other = InForce(contract=a_contract(id="later", objectives=[availability("99%")]))
    counters._take(other, "a", a_slice(good=1))
    assert {dict(each.labels)["contract"] for each in (first, *told)} == {VERSION.contract.id}
