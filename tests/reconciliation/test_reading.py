"""What the store counts of many probes is what the same probes come to one by one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.model import Interval
from fairclock.model.probes import FAILED, ProbeOutcome
from fairclock.model.sightings import Reconciled, Source
from fairclock.store import open_store
from fairclock.store.probe_sightings import keep_reconciled
from fairclock.store.probes import keep_probes
from sla.measurement import measured
from sla.measurement.reading import measured_as_of
from sla.probing import concerning
from tests.evaluation.factories import a_contract
from tests.laws import examples
from tests.reconciliation.factories import SECOND, START, reconciled, sightings

DAY = timedelta(days=1)
_runs = iter(range(100_000))

SOURCES = st.sets(st.sampled_from(Source), max_size=4).map(tuple)
NUMBERS = st.one_of(st.none(), st.integers(-(10**7), 10**7))
TOLD = st.fixed_dictionaries(
    {
        "ahead_us": st.dictionaries(st.sampled_from(Source), st.integers(-(10**9), 10**9), max_size=3),
        "without": SOURCES,
    }
)
PROBES = st.fixed_dictionaries(
    {
        "outcome": st.sampled_from([ProbeOutcome.OK] * 4 + [*FAILED, ProbeOutcome.NOT_SENT]),
        "status": st.sampled_from([0, 200, 500]),
        "tenant": st.sampled_from(["", "acme", "somebody else"]),
        "model": st.sampled_from(["", "qwen3"]),
    }
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('reading')}") as store:
        yield store


@settings(max_examples=examples(5, soak=200), deadline=None)
@given(
    told=st.lists(
        st.tuples(PROBES, TOLD, NUMBERS, st.integers(-1_000, 10**6), st.booleans()), min_size=1, max_size=12
    )
)
def test_what_the_store_counts_is_what_each_probe_comes_to(store, told):
    begun = START + next(_runs) * DAY
    window = Interval(start=begun, end=begun + DAY / 2)
    probes, found = [], []
    for number, (changes, seen, queue_us, late_us, is_reconciled) in enumerate(told):
        # ids differ from run to run; two probes may be meant for the same instant
        at = begun + number // 2 * SECOND
        each = reconciled(number, probe=changes)
        probe = replace(
            each.probe,
            id=f"{begun:%j-%Y}-{number}",
            intended_at=at,
            sent_at=None
            if changes["outcome"] is ProbeOutcome.NOT_SENT
            else at + timedelta(microseconds=late_us),
        )
        probes.append(probe)
        if is_reconciled and probe.sent_at is not None:  # what was never sent is never reconciled
            moved = tuple(
                replace(one, queue_us=queue_us) if one.source in {Source.SPAN, Source.GATEWAY} else one
                for one in sightings(number, **seen)
            )
            found.append(Reconciled(probe=probe, at=begun, sightings=moved))
    keep_probes(store, probes)
    # what is reconciled again holds, and what was said of the probe at first
    keep_reconciled(store, [replace(each, sightings=()) for each in found])
    keep_reconciled(store, [replace(each, probe=replace(each.probe, status=201)) for each in found])
    as_of = store.watermark()
    assert measured_as_of(store, window, as_of) == measured(probes, found)
    contracts = [a_contract(), a_contract(scope={"models": ["qwen3"]})]
    concerned = {each.id for contract in contracts for each in concerning(contract, probes)}
    assert measured_as_of(store, window, as_of, contracts=contracts) == measured(
        [each for each in probes if each.id in concerned],
        [each for each in found if each.probe.id in concerned],
    )


def test_where_there_is_no_probe_nothing_is_said(store):
    window = Interval(start=START - 2 * DAY, end=START - DAY)
    nothing = measured_as_of(store, window, store.watermark())
    assert nothing == measured([], [])
    assert (nothing.sent, nothing.lateness_us, nothing.sources) == (0, None, ())
