"""300 probes through nginx to a real vLLM with two places: what Fairclock measures is what the service knows."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest

from fairclock.model import Interval
from fairclock.model.probes import ProbeOutcome
from fairclock.model.sightings import Source
from fairclock.store import open_store
from fairclock.store.request_search import Wanted, find_requests
from inference_probe.reconciliation.reconciling import reconcile
from sla.measurement import measured
from sla.measurement.problems import Limits, problems
from sla.measurement.reading import measured_as_of
from tests.reconciliation.real import PROBES

pytestmark = pytest.mark.integration

ONE_MS_US = 1_000
FIVE_MS_US = 5_000
WAITED_US = 5_000
OF_ENGINE = ("queue_us", "prefill_us", "decode_us")


@pytest.fixture(scope="module")
def found(engine_life):
    now = engine_life.asked.at
    assert len(engine_life.asked.probes) == PROBES
    window = Interval(start=now - timedelta(hours=1), end=now + timedelta(seconds=1))
    with open_store(f"chdb://{engine_life.truth}") as store:
        as_of = store.watermark()
        found = reconcile(store, window, as_of=as_of, now=now)
        # the same counted where it is kept, and the rows that reports rest on
        assert measured_as_of(store, window, store.watermark()) == measured(found.probes, found.found)
        wanted = Wanted(window=window, tenants=("",), most=10 * PROBES)
        rows = {each.request_id: each for each in find_requests(store, wanted, as_of)}
    return SimpleNamespace(probes=found.probes, found=found.found, repeated=found.repeated, rows=rows)


def durations(found, source, name):
    return [getattr(each.by(source), name) for each in found.found]


def test_every_probe_was_answered_and_every_source_saw_it(found):
    assert {each.outcome for each in found.probes} == {ProbeOutcome.OK}
    assert {tuple(seen.source for seen in each.sightings) for each in found.found} == {tuple(Source)}
    assert (len(found.found), found.repeated) == (PROBES, {})


def test_they_really_queued(found):
    waited = durations(found, Source.TRUTH, "queue_us")
    assert sum(us > WAITED_US for us in waited) > PROBES // 3


@pytest.mark.parametrize("source", [Source.PLUGIN, Source.SPAN], ids=str)
@pytest.mark.parametrize("name", OF_ENGINE)
def test_what_the_engine_reports_is_the_truth_to_a_millisecond_for_every_request(found, source, name):
    pairs = zip(durations(found, source, name), durations(found, Source.TRUTH, name), strict=True)
    assert max(abs(mine - truth) for mine, truth in pairs) <= ONE_MS_US


@pytest.mark.parametrize("name", OF_ENGINE)
def test_what_a_report_rests_on_is_the_truth_to_a_millisecond_for_every_request(found, name):
    for each in found.found:
        row = found.rows[each.probe.id]
        assert row.engine == "joined"
        assert abs(getattr(row, name) - getattr(each.by(Source.TRUTH), name)) <= ONE_MS_US


def test_end_to_end_of_the_log_is_the_clients_to_five_milliseconds_at_the_median(found):
    (whole,) = (
        each
        for each in measured(found.probes, found.found).differences
        if (each.comparison.source, each.comparison.clock) == (Source.GATEWAY, "end_to_end")
    )
    assert whole.count == PROBES
    assert whole.size_p50_us <= FIVE_MS_US


def test_nothing_is_wrong_and_all_clocks_are_one(found):
    measurement = measured(found.probes, found.found)
    assert problems(measurement, Limits(apart_us=50_000)) == []
    assert {(each.source, each.against) for each in measurement.clocks} >= {
        (Source.GATEWAY, Source.CLIENT),
        (Source.SPAN, Source.GATEWAY),
        (Source.PLUGIN, Source.GATEWAY),
        (Source.TRUTH, Source.GATEWAY),
    }
