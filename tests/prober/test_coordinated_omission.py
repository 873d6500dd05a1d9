"""A service that stalls shows it in an open loop's percentiles exactly as arithmetic says, and hides it from a closed one."""

from __future__ import annotations

import asyncio
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_probe.prober.latencies import latencies
from inference_probe.prober.lateness import measured
from inference_probe.prober.running import run_closed, run_open
from inference_probe.prober.schedules import Arrival, constant
from sla.percentiles import rank
from tests.prober.factories import Stalling, a_question, an_observation
from tests.prober.loops import run_timeless

BASE = 0.05


async def opened(service, arrivals):
    started = asyncio.get_running_loop().time()
    return await run_open(service, arrivals, [a_question(k) for k in range(len(arrivals))], started=started)


def expected(service, arrivals):
    """What each probe must have waited: until the stall's end, if it was meant to begin in it, and the service's time."""
    end = service.stall_from + service.stall
    return sorted(
        (end - each.at_seconds if service.stall_from <= each.at_seconds < end else 0.0) + service.base
        for each in arrivals
    )


def test_ten_seconds_of_standstill_are_in_the_p99_of_an_open_loop_as_arithmetic_says():
    service = Stalling(base=BASE, stall_from=39.995, stall=10.0)
    arrivals = constant(rate=100, duration_seconds=100)
    ran = run_timeless(opened(service, arrivals))
    found = latencies(ran.seen, "end_to_end")
    # of 10,000 probes 1,000 fell into the stall, the first 5 ms after its begin, each waiting 10 ms less than the one before it;
    # 100 of all may lie above P99, so it is the 101st; 500 above P95
    assert found.n == 10_000
    assert found.at("99") == pytest.approx(9.995 - 100 / 100 + BASE, abs=1e-6)
    assert found.at("95") == pytest.approx(9.995 - 500 / 100 + BASE, abs=1e-6)
    assert found.at("50") == pytest.approx(BASE, abs=1e-6)
    assert found.values[-1] == pytest.approx(9.995 + BASE, abs=1e-6)
    assert measured(ran.seen, ran.lags, bound_seconds=0.001).void_reason() == ""


def test_a_closed_loop_asks_once_while_all_stands_still_and_its_p99_knows_nothing_of_it():
    service = Stalling(base=BASE, stall_from=39.995, stall=10.0)

    async def closed():
        started = asyncio.get_running_loop().time()
        questions = (a_question(k) for k in range(100_000))
        return await run_closed(service, questions, concurrency=1, started=started, begin=0.0, end=100.0)

    ran = run_timeless(closed())
    found = latencies(ran.seen, "end_to_end")
    assert found.over(1.0) == 1
    assert found.at("99") == pytest.approx(BASE, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 6_000), min_size=1, max_size=60),
    st.integers(0, 6),
    st.integers(0, 10),
    st.sampled_from([50, 95, 99]),
)
def test_every_percentile_of_every_schedule_and_stall_is_the_one_counted_by_hand(
    at_ms, begin, stall, percentile
):
    arrivals = [Arrival(at_seconds=each / 1000) for each in sorted(at_ms)]
    service = Stalling(base=BASE, stall_from=begin + 0.0005, stall=float(stall))
    found = latencies(run_timeless(opened(service, arrivals)).seen, "end_to_end")
    by_hand = expected(service, arrivals)
    assert found.values == pytest.approx(by_hand, abs=1e-6)
    assert found.at(Fraction(percentile)) == pytest.approx(
        by_hand[rank(len(by_hand), Fraction(percentile)) - 1], abs=1e-6
    )


def test_what_was_sent_late_is_late_from_the_instant_it_was_meant_for():
    seen = [an_observation(0, intended=1.0, sent=4.0, done=4.5)]
    assert latencies(seen, "end_to_end").values == (3.5,)
    assert (
        measured(seen, [], bound_seconds=2.999).void_reason()
        == "probes were sent late: P99 by 3000.0 ms, bound 2999 ms"
    )
    assert measured(seen, [], bound_seconds=3.0).void_reason() == ""
