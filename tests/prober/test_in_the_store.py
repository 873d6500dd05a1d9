"""What probes leave in a store: real arrivals are repeated without their text, and no customer pays or is judged by a probe."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from billing.configuration import BillingSection
from billing.usage import Treatment
from billing.usage.reading import read_usage
from exporters.webhooks.outbox import Fate
from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.errors import NotEvaluable
from fairclock.model import Interval
from fairclock.store import Query, open_store
from fairclock.store.sampled_arrivals import SampledArrival, sampled_arrivals
from inference_probe.prober.canary.deciding import Side, decide
from inference_probe.prober.canary.policy import CanaryPolicy
from inference_probe.prober.canary.telling import decision_event, send_decision
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.loading import Loading
from inference_probe.prober.plans import Asking
from inference_probe.prober.shadowing import Shadow, all_periods, repeated, shadow
from sla.evaluation.dataset import in_scope
from tests.contracts.factories import good_contract
from tests.cost_book.traffic import HOUR, feed, gateway, hours
from tests.prober.factories import Stalling
from tests.prober.loops import run_timeless

PROBES = "fairclock-probe"
SETTINGS = BillingSection().gpu_time.settings()
ENDPOINT = endpoint("http://127.0.0.1:9")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('prober')}") as store:
        yield store


@pytest.fixture
def store(opened):
    for table in (
        "gateway_requests",
        "engine_requests",
        "covered",
        "seals",
        "seal_confirmations",
        "requests",
        "deliveries",
        "alerts",
    ):
        opened.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return opened


def test_probes_are_in_nobodys_figures_and_on_nobodys_bill(store):
    feed(store, [gateway(10 + n, 1, n + 1, tenant=("acme", PROBES)[n % 2]) for n in range(6)])
    groups = read_usage(store, hours(), store.watermark(), SETTINGS)
    assert {(each.tenant, each.treatment, each.requests) for each in groups} == {
        ("acme", Treatment.COMPLETED, 3),
        (PROBES, Treatment.PROBE, 3),
    }
    scope = in_scope(good_contract({"customer": {"name": "Acme", "tenants": ["acme"]}}))
    joined = store.requests_as_of(hours(), store.watermark())
    counted = store.rows(
        Query(
            sql=f"SELECT tenant, count() FROM ({joined.sql}) WHERE {scope.sql} GROUP BY tenant",
            parameters={**joined.parameters, **scope.parameters},
        )
    )
    assert counted == [("acme", 3)]


def sampled(store, share, window=None, without=(PROBES,)):
    return sampled_arrivals(store, window or hours(), as_of=store.watermark(), share=share, without=without)


def test_a_share_of_arrivals_is_the_same_each_time_grows_with_the_share_and_has_no_probes(store):
    lines = [
        gateway(n * 1.6, 1, n + 1, tenant=("acme", PROBES)[n % 4 == 0], prompt_tokens=str(10 + n))
        for n in range(2000)
    ]
    feed(store, lines)
    small, large = sampled(store, 0.01), sampled(store, 0.5)
    assert small == sampled(store, 0.01)
    assert {each.prompt_tokens for each in small} <= {each.prompt_tokens for each in large}
    # of 1,500: five standard deviations around the share
    assert abs(len(small) - 15) <= 5 * 3.9
    assert abs(len(large) - 750) <= 5 * 19.4
    assert [each.received_at for each in large] == sorted(each.received_at for each in large)
    assert len(sampled(store, 1)) == 1500
    assert sampled(store, 0) == []
    assert len(sampled(store, 1, without=())) == 2000


def test_a_probe_is_not_repeated_though_the_gateway_takes_it_for_a_customers(store):
    ids = ["probe-0123456789ab-7", "probe-0123456789ab-canary-7", "probe-mine", "my-probe-0123456789ab-1"]
    feed(store, [gateway(10 + n, 1, n + 1, request_id=id_, prompt_tokens="7") for n, id_ in enumerate(ids)])
    assert len(sampled(store, 1)) == 2


def an_arrival(at_seconds, prompt=7, completion=3):
    return SampledArrival(
        received_at=HOUR + timedelta(seconds=at_seconds), prompt_tokens=prompt, completion_tokens=completion
    )


def test_an_arrival_without_a_length_is_not_repeated_by_a_guess():
    window = Interval(start=HOUR, end=HOUR + timedelta(seconds=60))
    found = repeated([an_arrival(1.5), an_arrival(2, prompt=None), an_arrival(3, completion=None)], window)
    assert [(each.at_seconds, each.prompt_tokens, each.completion_tokens) for each in found] == [
        (1.5, 7, 3),
        (3.0, 7, None),
    ]


def test_a_shadow_repeats_arrivals_as_far_apart_as_they_came_and_no_slow_answer_delays_the_next_period():
    came = [1.0, 59.0, 61.0, 125.0]
    service = Stalling(base=0.5, stall_from=58.0, stall=100.0)

    async def run():
        plan = Shadow(
            read=lambda window: [
                an_arrival(each)
                for each in came
                if window.start <= HOUR + timedelta(seconds=each) < window.end
            ],
            share=0.01,
            begin=HOUR,
            period=timedelta(seconds=60),
            periods=3,
        )
        loading = Loading(
            endpoint=ENDPOINT,
            asking=Asking(run="r", model="m", tenant=PROBES),
            bound_seconds=0.01,
            wall=lambda: 1.7e9,
            asks=service,
        )
        return [each async for each in shadow(loading, plan)]

    results = run_timeless(run())
    assert [len(each.seen) for each in results] == [2, 1, 1]
    seen = [probe for each in results for probe in each.seen]
    assert [probe.intended for probe in seen] == pytest.approx(came)
    assert [probe.lateness for probe in seen] == pytest.approx([0] * 4, abs=1e-6)
    assert [each.header["schedule"]["arrivals"] for each in results] == [2, 1, 1]


def test_a_shadow_that_is_ended_before_a_period_began_has_no_void_one_and_all_of_it_is_one_run():
    def in_it(window, at_seconds):
        return window.start <= HOUR + timedelta(seconds=at_seconds) < window.end

    async def run():
        stop = asyncio.Event()
        plan = Shadow(
            read=lambda window: [an_arrival(each) for each in (1.0, 59.0, 125.0) if in_it(window, each)],
            share=0.01,
            begin=HOUR,
            period=timedelta(seconds=60),
            periods=9,
        )
        loading = Loading(
            endpoint=ENDPOINT,
            asking=Asking(run="r", model="m", tenant=PROBES),
            bound_seconds=0.01,
            wall=lambda: 1.7e9,
            asks=Stalling(base=0.5, stall_from=1e9, stall=0.0),
        )
        asyncio.get_running_loop().call_later(122, stop.set)
        return [each async for each in shadow(loading, plan, stop=stop)]

    results = run_timeless(run())
    assert not [each for each in results if isinstance(each, NotEvaluable)]
    whole = all_periods(results, void=0, was_stopped=True)
    assert (whole.header["was_stopped"], whole.header["schedule"]["arrivals"]) == (True, 3)
    assert whole.header["figures"]["outcomes"] == {"not_sent": 1, "ok": 2}
    assert whole.header["prober"]["lateness"]["n"] == 2
    with pytest.raises(NotEvaluable, match="nothing was repeated"):
        all_periods(results[1:2], void=3, was_stopped=False)


class Place:
    """A destination that says what it is told to."""

    name = "ops"

    def __init__(self, outcome):
        from types import SimpleNamespace

        self.rules = SimpleNamespace(wants=lambda event: event.severity.value == "critical")
        self._attempt = SimpleNamespace(outcome=outcome, status=200, problem="")
        self.sent = []

    def send(self, events, **ids):
        self.sent += events
        return self._attempt


def test_a_recommendation_to_go_back_is_sent_once_and_written_down(store):
    from exporters.webhooks.formats.format import Outcome

    good = Side(probes=1000, mean_seconds=1.0, error_ratio=0.0, memory_bytes=1.0)
    bad = Side(probes=1000, mean_seconds=2.0, error_ratio=0.0, memory_bytes=1.0)
    place, outbox = Place(Outcome.TAKEN), StoreOutbox(store)
    for step, side in enumerate((good, bad)):
        event = decision_event(decide(CanaryPolicy(), 5, good, side), run="r1", step=step, now=HOUR)
        assert send_decision(event, [place], outbox, now=lambda: HOUR, new_id=iter("ab").__next__) == []
    (sent,) = place.sent
    assert (sent.sequence, sent.value) == (2, "rollback")
    assert store.rows(Query(sql="SELECT destination, state FROM deliveries")) == [
        ("ops", Fate.DELIVERED.value)
    ]
