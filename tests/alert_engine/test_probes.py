"""Probes: kept and read back, when they say that a service failed, and what availability by time makes of that."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import Interval, total_us
from fairclock.model.probes import FAILED, SAYS_NOTHING, Probe, ProbeOutcome
from fairclock.store.probes import keep_probes, probes_as_of
from sla.evaluation import evaluate
from sla.probing import REACH, concerning, failed_times, failing_now
from tests.alert_engine.factories import a_probe
from tests.evaluation.factories import a_contract, a_request

START = datetime(2026, 10, 14, 3, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = Interval(start=START, end=START + timedelta(hours=1))


def probes(words: str, *, target: str = "https://gateway.example") -> list[Probe]:
    """A probe a minute: ``+`` answered, ``-`` not, ``?`` says nothing, a blank was not sent at all."""
    outcomes = {"+": ProbeOutcome.OK, "-": ProbeOutcome.TIMEOUT, "?": ProbeOutcome.CLIENT_ERROR}
    return [
        a_probe(at=START + place * MINUTE, outcome=outcomes[word], target=target)
        for place, word in enumerate(words)
        if word != " "
    ]


def minutes(found: list[Interval]) -> list[tuple[int, int]]:
    return [((each.start - START) // MINUTE, (each.end - START) // MINUTE) for each in found]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("+++", []),
        ("+-+", [(1, 2)]),
        ("+---+-+", [(1, 4), (5, 6)]),
        ("+-   +", [(1, 5)]),
        ("+-?+", [(1, 3)]),
        ("-", [(0, 60)]),
    ],
    ids=[
        "all answered",
        "one failed",
        "an outage lasts from its first failed probe to the next answer",
        "time between probes belongs to the one before",
        "a probe that was refused for its own sake ends no outage",
        "the last failed probe speaks for an hour at most",
    ],
)
def test_when_probes_failed(words, expected):
    window = Interval(start=START - REACH, end=START + 2 * REACH)
    assert minutes(failed_times(concerning(a_contract(), probes(words)), window)) == expected


def test_the_answer_of_one_target_ends_no_outage_of_another():
    both = probes("---+") + probes("++++", target="https://other.example")
    assert minutes(failed_times(both, HOUR)) == [(0, 3)]
    assert failing_now(both) is None
    found = failing_now(probes("+--") + probes("++++", target="https://other.example"))
    assert found is not None
    assert (found.since, found.sent) == (START + MINUTE, 2)


@pytest.mark.parametrize(
    ("changes", "concerns"),
    [
        ({}, True),
        ({"tenant": "acme"}, True),
        ({"tenant": "somebody-else"}, False),
        ({"model": "deepseek-v4"}, True),
        ({"model": "another"}, False),
        ({"region": "eu"}, False),
        ({"outcome": ProbeOutcome.NOT_SENT}, False),
    ],
    ids=[
        "a probe of everything", "one in the customer's place", "one in another customer's", "one of the model",
        "one of another model", "one of another region", "one that was never sent",
    ],
)  # fmt: skip
def test_which_probes_concern_a_contract(changes, concerns):
    contract = a_contract(scope={"models": ["deepseek-v4"], "regions": ["cn-north"]})
    assert bool(concerning(contract, [a_probe(at=START, **changes)])) is concerns


@given(st.lists(st.sampled_from("+- "), max_size=40), st.integers(0, 39))
def test_one_more_failed_probe_never_shortens_an_outage(words, place):
    said = "".join(words).ljust(40)
    worse = said[:place] + "-" + said[place + 1 :]
    before, after = (failed_times(probes(each), HOUR) for each in (said, worse))
    assert total_us([*before, *after]) == total_us(after)


@given(st.lists(st.sampled_from("+-? "), max_size=30), st.randoms())
def test_the_order_of_probes_does_not_matter(words, chance):
    there = probes("".join(words)) + probes("".join(reversed(words)), target="b")
    mixed = list(there)
    chance.shuffle(mixed)
    assert failed_times(mixed, HOUR) == failed_times(there, HOUR)
    assert failing_now(mixed) == failing_now(there)


def test_every_outcome_is_an_answer_a_failure_or_says_nothing():
    assert {ProbeOutcome.OK} | FAILED | SAYS_NOTHING == set(ProbeOutcome)


def test_probes_are_read_back_as_they_were_kept_and_the_first_copy_holds(store):
    whole = Probe(
        id="p1", target="https://gateway.example", outcome=ProbeOutcome.OK, intended_at=START,
        sent_at=START + timedelta(milliseconds=3), probe="short", prober="host-a", tenant="acme", model="m", region="r",
        stream=True, status=200, error="", first_token_us=120_000, done_us=900_000, prompt_tokens=12,
        completion_tokens=34, engine="engine-1", engine_request_id="cmpl-p1", engine_end_to_end_us=800_000,
        engine_queue_us=1, engine_prefill_us=2, engine_decode_us=3, engine_first_token_us=110_000, run="r1", number=7, mode="quality", trace_id="0a" * 16,
        inference_mode="degraded", connected_us=40, secured_us=90, first_byte_us=100_000, first_reasoning_token_us=110_000,
        cached_tokens=0, finish_reason="stop", engine_arrived_at=START + timedelta(milliseconds=5), repetition_ratio=0.25,
        numbers_copied_ratio=0.0, invalid_output=False,
    )  # fmt: skip
    unsent = Probe(
        id="p0", target="t", outcome=ProbeOutcome.NOT_SENT, intended_at=START - MINUTE, sent_at=None
    )
    before = store.watermark()
    keep_probes(store, [whole, unsent])
    keep_probes(store, [replace(whole, outcome=ProbeOutcome.TIMEOUT)])
    everything = Interval(start=START - REACH, end=START + REACH)
    assert probes_as_of(store, everything, store.watermark()) == [unsent, whole]
    assert probes_as_of(store, HOUR, store.watermark()) == [whole]
    assert probes_as_of(store, everything, before) == []


def by_time(formula: str, **clauses: str):
    return {
        "name": "uptime",
        "availability": {"formula": formula, "interval": "1h", "target": "99%"} | clauses,
    }


@pytest.mark.parametrize(
    ("objective", "words", "covered_hours", "bad_with_probes"),
    [
        (by_time("downtime", empty="good"), "--", 0, 1),
        (by_time("mean_interval_error", empty="zero_error"), "--", 0, 1),
        (by_time("downtime", empty="good"), "--", 2, 1),
        (by_time("downtime", empty="good"), "++", 0, 0),
        (by_time("downtime", empty="good"), "??", 0, 0),
    ],
    ids=[
        "an unmeasured interval in which probes failed is bad by any clause",
        "so it is in a mean of intervals",
        "one without a request is no quiet time",
        "answered probes change nothing",
        "probes that say nothing change nothing",
    ],
)
def test_intervals_in_which_probes_failed(given_store, objective, words, covered_hours, bad_with_probes):
    contract = a_contract(
        objectives=[objective],
        unmeasured={
            "time": "void", "coverage_floor": "0%", "below_floor": "void", "unknown_clock": "void",
        },
    )  # fmt: skip
    covered = [Interval(start=START - timedelta(hours=2), end=START)]
    if covered_hours:
        covered.append(Interval(start=START, end=START + timedelta(hours=covered_hours)))
    store = given_store.given([a_request(received_at=START - timedelta(minutes=90))], gateway=covered)

    def bad():
        as_of = store.store.watermark()
        report = evaluate(store, contract, month="2026-10", as_of=as_of, software_version="0")
        return report["objectives"][0]["violations"]

    assert bad() == 0
    keep_probes(store.store, [*probes(words), a_probe(at=START + 59 * MINUTE)])
    assert bad() == bad_with_probes
