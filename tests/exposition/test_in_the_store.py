"""What is told of the store: each request counted and sent once, and contracts, machines and money as they stand."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from random import Random

import httpx
import pytest

from billing.cost_book.settings import CostBookSettings
from billing.prices.loading import load_price_book
from exporters.prometheus.bounds import OTHER, Admitted
from exporters.prometheus.configuration import MetricsSection
from fairclock.cli.pipeline.metrics.agreements import Agreements
from fairclock.cli.pipeline.metrics.layout import layout_of
from fairclock.cli.pipeline.metrics.machines import GpuEvents, engine_figures, gpu_gauges
from fairclock.cli.pipeline.metrics.money import Charges, Money, costs_within
from fairclock.model import Interval, Outcome, to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.request_sums import CLOCKS
from fairclock.store.stamping import insert_stamped
from sla.evaluation import evaluate
from sla.evaluation.clocks import clock_columns, column_of
from sla.slices import evaluate_slices, in_force, latest_month
from tests.cost_book.traffic import engine, gateway, good_machine, good_settings
from tests.evaluation.factories import a_contract, availability, latency
from tests.exposition.conftest import Heard, Process, Recorder, Sending, feed, flat
from tests.store.conftest import HOUR, engine_line, gateway_line, traced

FEW = ("end_to_end", "queue", "excluding_queue")
NAME, REQUESTS = "fairclock_request_duration_seconds", "fairclock_requests"


def pair(number, at_seconds=None, **changes):
    """Both sides of one request."""
    at = float(number) if at_seconds is None else at_seconds
    trace = f"{number:032x}"
    gateway = gateway_line(at, request_id=f"r{number}", model="m", **traced(number), **changes)
    return gateway, engine_line(
        at + 0.01, request_id=f"chatcmpl-r{number}", trace_id=trace, span_id=f"{number:016x}"
    )


def counted(text, name, **labels):
    wanted = set(labels.items())
    return [value for (found, said), value in text.items() if found == name and wanted <= set(said)]


def test_clocks_are_those_that_contracts_are_judged_by():
    judged = {each.sql for each in clock_columns("received")}
    assert {f"{sql} AS {column_of(clock)}" for clock, sql in CLOCKS.items()} <= judged


def test_every_threshold_is_an_edge_for_all_while_they_are_few_and_for_its_own_tenants_where_they_are_many():
    contracts = [
        [a_contract(id=f"c{at}", customer={"name": "C", "tenants": [f"t{at}"]},
                    objectives=[latency("queue", at_most=f"{at}33ms")])]
        for at in (1, 2, 3)
    ]  # fmt: skip
    few = {each.clock: each for each in layout_of(MetricsSection(), contracts)}
    assert {133_000, 233_000, 333_000} <= set(few["queue"].edges)
    assert not few["queue"].tenant_edges
    assert 133_000 not in few["prefill"].edges
    many = {each.clock: each for each in layout_of(MetricsSection(max_thresholds=2), contracts)}["queue"]
    assert set(many.edges_of("t2")) == {*many.edges, 233_000}
    assert many.edges_of("somebody else") == many.edges == few["prefill"].edges


def test_a_series_begins_at_0_and_a_request_is_counted_once_whatever_comes_again(store):
    process, heard = Process(store, store.watermark(), clocks=("queue", "prefill")), Heard()
    lines = [pair(number) for number in range(1, 6)]
    feed(store, gateway=[each for each, _ in lines], engine=[each for _, each in lines])
    first = process.scrape(heard)
    assert set(counted(first, REQUESTS, tenant="acme")) == {0}
    for again in (False, True, True):
        if again:
            feed(store, gateway=[each for each, _ in lines], engine=[each for _, each in lines])
            store.seal()
        text = process.scrape(heard)
        assert counted(text, REQUESTS, outcome="ok") == [5]
        assert counted(text, NAME, clock="queue", le=0.5) == [5]
        assert counted(text, NAME, clock="queue", le=0.25) == [0]
        assert counted(text, NAME + "_sum", clock="prefill") == [pytest.approx(1.5)]
        assert counted(text, "fairclock_queue_duration_seconds", le=0.5) == [5]
        assert counted(text, "fairclock_tokens", **{"class": "prompt"}) == [500]
        assert counted(text, "fairclock_tokens", **{"class": "cached"}) == [0]
        assert counted(text, "fairclock_tokens", **{"class": "completion"}) == [250]
    assert heard.total(REQUESTS) == 5


def test_a_late_engine_row_adds_its_clocks_and_no_request_and_nothing_falls(store):
    process, heard = Process(store, store.watermark(), clocks=FEW), Heard()
    gateway, engine = pair(1)
    feed(store, gateway=[gateway])
    store.seal()
    process.scrape(heard)
    before = process.scrape(heard)
    assert counted(before, NAME, clock="excluding_queue", le=2.5) == [1]
    assert counted(before, NAME, clock="excluding_queue", le=1.0) == [0]
    assert not counted(before, NAME, clock="queue")
    feed(store, engine=[engine])
    store.seal()
    process.scrape(heard)
    after = process.scrape(heard)
    assert all(after[key] >= value for key, value in before.items())
    assert counted(after, REQUESTS, outcome="ok") == [1]
    assert counted(after, NAME, clock="queue", le="+Inf") == [1]
    assert counted(after, NAME, clock="excluding_queue", le="+Inf") == [1]
    assert (heard.total(REQUESTS), heard.total(NAME, clock="queue", le="+Inf")) == (1, 1)


def test_a_row_that_makes_a_request_worse_lets_nothing_fall(store):
    process = Process(store, store.watermark(), clocks=FEW)
    gateway, engine = pair(1)
    feed(store, gateway=[gateway], engine=[engine])
    process.scrape()
    before = process.scrape()
    # a second request of the same trace: which of them the engine's row belongs to cannot be told any more
    feed(store, gateway=[gateway_line(1.0, request_id="r1", model="m", request_time="2.001", **traced(1))])
    after = process.scrape()
    assert counted(after, REQUESTS, outcome="ok") == [2]
    assert all(after[key] >= value for key, value in before.items())


def test_only_answered_requests_are_timed_and_all_are_counted(store):
    process = Process(store, store.watermark(), clocks=FEW)
    feed(
        store,
        gateway=[
            gateway_line(1, request_id="a", status="200"),
            gateway_line(2, request_id="b", status="504", request_time="60.000"),
            gateway_line(3, request_id="c", status="429", request_time="0.001"),
            gateway_line(4, request_id="d", tenant="prober", simulated="1"),
        ],
    )
    process.scrape()
    text = process.scrape()
    assert counted(text, NAME, tenant="acme", clock="end_to_end", le="+Inf") == [1]
    outcomes = {str(each): counted(text, REQUESTS, tenant="acme", outcome=str(each)) for each in Outcome}
    assert (outcomes["ok"], outcomes["timeout"], outcomes["quota_rejected"]) == ([1], [1], [1])
    assert counted(text, "fairclock_simulated_requests", tenant="prober") == [1]
    assert counted(text, "fairclock_simulated_requests", tenant="acme") == [0]


def test_what_was_there_before_is_not_counted_and_its_series_are_told_as_0(store):
    gateway, engine = pair(1)
    feed(store, gateway=[gateway], engine=[engine])
    store.seal()
    process = Process(store, HOUR + timedelta(days=1))
    process.counters._begin(store)
    process.counters._as_of = HOUR + timedelta(days=1)
    text = flat(process.counters.figures(told=None))
    assert set(counted(text, REQUESTS)) == {0}
    assert counted(text, NAME, clock="queue", le="+Inf") == [0]


def test_the_slowest_request_of_late_is_shown_by_its_trace(store):
    process = Process(store, store.watermark(), clocks=FEW)
    now = store.watermark()
    at = (now - HOUR).total_seconds() - 30
    slow = gateway_line(at, request_id="s", request_time="7.000", **traced(7))
    feed(store, gateway=[gateway_line(at, request_id="f", request_time="0.100", **traced(8)), slow])
    process.scrape()
    _, figures = process.figures()
    (found,) = [each for each in figures if each.labels.get("clock") == "end_to_end"]
    assert (found.exemplar.trace_id, found.exemplar.value) == (f"{7:032x}", 7.0)


def test_what_has_no_room_shares_a_series_and_nothing_is_lost(store):
    contracts = [
        [a_contract(customer={"name": "C", "tenants": ["acme", "late"]},
                    objectives=[latency("end_to_end", at_most="133ms")])]
    ]  # fmt: skip
    section = MetricsSection(max_tenants=1, max_thresholds=1)
    process, heard = Process(store, store.watermark(), contracts=contracts, section=section), Heard()
    process.counters.pairs.tenants.admit(["acme"])
    for tenant, number in (("acme", 1), ("late", 2), ("late", 3), ("else", 4)):
        feed(
            store,
            gateway=[gateway_line(number, tenant=tenant, request_id=f"r{number}", request_time="0.120")],
        )
    process.scrape(heard)
    text = process.scrape(heard)
    assert counted(text, REQUESTS, tenant="acme", outcome="ok") == [1]
    assert counted(text, REQUESTS, tenant=OTHER, outcome="ok") == [3]
    assert counted(text, NAME, tenant=OTHER, clock="end_to_end", le=0.25) == [3]
    assert heard.total(REQUESTS) == 4


def test_nothing_is_lost_and_nothing_counted_twice_over_restarts_late_rows_and_seals(store):
    random, heard = Random(20261007), Heard()
    told = store.watermark()
    process = Process(store, told, clocks=FEW)
    numbers = iter(range(1, 1000))
    requests, waiting, last = 0, [], {}
    for _ in range(5):
        batch = [
            pair(next(numbers), at_seconds=random.uniform(0, 2 * 3600)) for _ in range(random.randint(1, 4))
        ]
        requests += len(batch)
        feed(store, gateway=[gateway for gateway, _ in batch])
        waiting += [engine for _, engine in batch]
        random.shuffle(waiting)
        feed(store, engine=waiting[:2])
        del waiting[:2]
        if random.random() < 0.4:
            store.seal()
        text = process.scrape(heard)
        assert all(text[key] >= value for key, value in last.items()), "a counter fell"
        last = text
        was_begun = process.counters._as_of is not None and any(text.values())
        told = process.told if was_begun else told
        if random.random() < 0.2:
            # the next process goes on from what was told last
            process, last = Process(store, told, clocks=FEW), {}
    feed(store, engine=waiting)
    store.seal()
    for _ in range(2):
        process.scrape(heard)
    assert heard.total(REQUESTS, outcome="ok") == requests
    window = Interval(start=HOUR, end=HOUR + timedelta(hours=4))
    query = store.requests_as_of(window, store.watermark())
    joined = sum(
        row[0] == "joined"
        for row in store.rows(
            type(query)(sql=f"SELECT engine FROM ({query.sql})", parameters=query.parameters)
        )
    )
    assert heard.total(NAME, clock="queue", le="+Inf") == joined == requests


def test_each_request_is_sent_once_through_replays_batches_and_restarts(store, tmp_path, monkeypatch):
    monkeypatch.setattr("fairclock.cli.pipeline.spans.MOST", 2)
    recorder = Recorder()
    sending = Sending(store, tmp_path, recorder)
    pairs = [pair(number, number) for number in range(1, 6)]
    for _ in range(2):
        feed(store, gateway=[each for each, _ in pairs[:4]], engine=[each for _, each in pairs])
        sending.drain()
    again = Sending(store, tmp_path, recorder)
    feed(store, gateway=[each for each, _ in pairs])
    assert again.drain().sent == 1
    names = [span.name for span in recorder.spans()]
    assert {name: names.count(name) for name in names} == {"chat m": 5, "queue": 5, "prefill": 5, "decode": 5}
    assert len({span.span_id for span in recorder.spans()}) == 20


def test_what_nobody_takes_is_sent_again_and_what_is_refused_is_counted(store, tmp_path):
    recorder = Recorder(httpx.Response(503), httpx.Response(400))
    sending = Sending(store, tmp_path, recorder)
    sending.sender._stop.wait = lambda seconds: None  # type: ignore[method-assign]
    feed(store, gateway=[pair(1)[0]])
    found = sending.drain()
    assert (found.failures, found.refused, found.sent) == (1, 1, 0)
    feed(store, gateway=[pair(2, 3)[0]])
    assert (sending.drain().sent, sending.sender.statistics.problem) == (1, "")


def test_a_request_is_waited_with_and_an_old_one_is_not_sent(store, tmp_path):
    recorder = Recorder()
    sending = Sending(store, tmp_path, recorder, settle=3600.0)
    feed(store, gateway=[pair(1)[0]])
    assert sending.drain().sent == 0
    assert recorder.requests == []
    old = Sending(store, tmp_path, recorder, reach=60.0)
    assert old.begun > HOUR + timedelta(hours=1)
    old.sender.path.write_text('{"sent": [0, 0, -1]}')
    assert (old.drain().sent, old.sender.statistics.passed_over) == (0, 1)


def test_contracts_stand_as_their_report_says(store):
    now = store.watermark()
    at = (now - HOUR).total_seconds() - 120
    contract = a_contract(
        # where it is midday: the month did not begin within these two minutes
        term={"from": "2026-01-01", "to": "2099-12-31", "time_zone": f"Etc/GMT{now.hour - 12:+d}"},
        objectives=[availability("50%"), latency("queue", at_most="300ms", percentile="90")],
        insufficient={"below": 1, "verdict": "void"},
    )
    for number in range(1, 5):
        gateway, engine = pair(number, at_seconds=at + number, status="500" if number < 2 else "200")
        feed(store, gateway=[gateway], engine=[engine])
    as_of = store.watermark()
    evaluate_slices(store, in_force(store, [contract], as_of), as_of=as_of)
    as_of = store.watermark()
    text = flat(Agreements(CostBookSettings()).figures(store, as_of, [[contract]]))
    report = evaluate(
        store, [contract], month=latest_month(contract, as_of), as_of=as_of, software_version="1"
    )
    for each in report["error_budgets"]:
        found = counted(text, "fairclock_error_budget_remaining_ratio", objective=each["objective"])
        assert found == ([] if each["remaining_ratio"] is None else [pytest.approx(each["remaining_ratio"])])
    for each in report["objectives"]:
        held = [
            dict(said)["verdict"]
            for (name, said), value in text.items()
            if name == "fairclock_objective_verdict" and value and dict(said)["objective"] == each["name"]
        ]
        assert held == [each["verdict"]]
    for window in ("5m", "1h", "6h"):
        assert counted(text, "fairclock_error_budget_burn_rate", objective="availability", window=window) == [
            0.5
        ]
    assert counted(text, "fairclock_objective_threshold_seconds", clock="queue") == [0.3]
    assert counted(text, "fairclock_contract_info", tenant="acme", version=contract.version_sha256[:12]) == [
        1
    ]
    assert not counted(text, "fairclock_coverage_ratio", kind="joined")
    assert counted(text, "fairclock_incidents_open") == [0]

    ended, coming = (
        a_contract(id=name, term={"from": first, "to": last, "time_zone": "Asia/Shanghai"})
        for name, first, last in (
            ("ended", "2025-01-01", "2025-12-31"),
            ("coming", "2100-01-01", "2100-12-31"),
        )
    )
    text = flat(Agreements(CostBookSettings()).figures(store, as_of, [[ended], [coming]]))
    assert {name for name, _ in text} == {"fairclock_alerts_firing"}


def put(store, table, **values):
    store.insert(table, tuple(values), [tuple(values.values())])


def test_machines_are_what_they_said_last_and_nothing_once_that_is_old(store):
    now = store.watermark()
    wins = FIRST_WINS_BASE - to_us(now) + 1_000_000

    def sample(name, value, seconds, target="http://a/metrics"):
        put(store, "engine_samples", scraped_at=now - timedelta(seconds=seconds), k=0, target=target, kind="gauge",
            name=name, engine="0", model="m", labels="", fraction=value, source="vllm", first_wins=wins)  # fmt: skip

    for seconds, value in ((50, 0.2), (5, 0.4)):
        sample("vllm:kv_cache_usage_perc", value, seconds)
    sample("vllm:num_requests_waiting", 3.0, 5)
    sample("vllm:num_preemptions", 7.0, 5)
    sample("vllm:kv_cache_usage_perc", 0.9, 500, target="http://gone/metrics")
    for gpu, parent, instance, power in (("GPU-1", "", None, 400_000), ("MIG-1", "GPU-1", 2, None)):
        put(store, "gpu_samples", sampled_at=now - timedelta(seconds=3), k=0, gpu=gpu, parent=parent, host="h", collector="nvml",
            gpu_instance=instance, compute_instance=None if instance is None else 0, state="ok", utilization_ratio_mean=0.5,
            power_milliwatts_mean=power, throttle_reasons=1 << 6, first_wins=wins)  # fmt: skip
    minute = timedelta(seconds=60)
    text = flat(
        [*engine_figures(store, now, stale_after=minute), *gpu_gauges(store, now, stale_after=minute)]
    )
    assert counted(text, "fairclock_kv_cache_utilization_ratio") == [0.4]
    assert counted(text, "fairclock_engine_requests", state="waiting") == [3]
    assert not counted(text, "fairclock_engine_requests", state="running")
    assert counted(text, "fairclock_engine_preemptions", engine="http://a/metrics/0") == [7]
    assert counted(text, "fairclock_gpu_utilization_ratio", gpu="GPU-1", instance="2/0") == [0.5]
    assert counted(text, "fairclock_gpu_power_watts") == [400]
    assert counted(text, "fairclock_gpu_throttled", instance="", reason="hardware thermal slowdown") == [1]
    later = now + timedelta(seconds=90)
    assert not flat(
        [*engine_figures(store, later, stale_after=minute), *gpu_gauges(store, later, stale_after=minute)]
    )


@pytest.mark.parametrize(
    ("scraped", "told"),
    [
        pytest.param("", ["inside/0"], id="nobody is scraped"),
        pytest.param("other", ["http://a/metrics", "inside/0"], id="an engine with another model is"),
        pytest.param("m", ["http://a/metrics"], id="an engine with its model is, which may be the same"),
    ],
)
def test_what_a_plugin_tells_stands_beside_what_is_scraped_of_other_models(store, scraped, told):
    now = store.watermark()
    wins = FIRST_WINS_BASE - to_us(now) + 1_000_000
    put(store, "engine_states", at=now - timedelta(seconds=3), k=0, content_hash=1, event="state", instance="inside",
        engine_rank=0, model="m", running=2, first_wins=wins)  # fmt: skip
    if scraped:
        put(store, "engine_samples", scraped_at=now - timedelta(seconds=5), k=0, target="http://a/metrics", kind="gauge",
            name="vllm:num_requests_running", engine="", model=scraped, labels="", fraction=5.0, source="vllm", first_wins=wins)  # fmt: skip
    found = engine_figures(store, now, stale_after=timedelta(seconds=60))
    assert sorted(each.labels["engine"] for each in found) == told


def test_events_of_gpus_are_counted_once_from_where_counting_began(store):
    now = store.watermark()
    stored = to_us(now)

    def event(number, offset_us, kind="xid"):
        put(store, "gpu_events", happened_at=now - timedelta(hours=1), content_hash=number, k=0, event=kind, gpu="GPU-1",
            host="h", collector="nvml", detail="", sequence=0, simulated=0, source="gpu", first_wins=FIRST_WINS_BASE - stored - offset_us)  # fmt: skip

    events = GpuEvents(now)
    for number, offset_us in ((1, -5), (2, 5), (3, 6)):
        event(number, offset_us)
    heard = Heard()
    events.read(store, now + timedelta(seconds=1))
    heard.hear(events.figures(told=None))
    heard.hear(events.figures(told=now + timedelta(seconds=1)))
    event(2, 2_000_000)  # again
    event(4, 2_000_000, kind="lost")
    events.read(store, now + timedelta(seconds=3))
    for told in (1, 3):
        heard.hear(events.figures(told=now + timedelta(seconds=told)))
    text = flat(events.figures(told=now + timedelta(seconds=3)))
    assert counted(text, "fairclock_gpu_events", kind="xid") == [2]
    assert counted(text, "fairclock_gpu_events", kind="lost") == [1]
    # and that is the increase that Prometheus sees, the first of a kind with it
    assert {kind: heard.total("fairclock_gpu_events", kind=kind) for kind in ("xid", "lost")} == {
        "xid": 2,
        "lost": 1,
    }


def test_charges_are_the_ledgers_and_brought_up_by_what_was_added(store):
    def entry(sequence, amount, kind="usage", about="2026-10", again=False):
        del again
        insert_stamped(
            store, "ledger_entries",
            ("tenant", "sequence", "kind", "starts_at", "ends_at", "period", "about", "price_version", "currency", "amount",
             "content", "reverses", "previous", "hash", "body"),
            [("acme", sequence, kind, HOUR, HOUR, about, about, "p", "CNY", amount, "", 0, "", f"h{sequence}", b"")],
        )  # fmt: skip

    charges = Charges()
    entry(1, "1/3")
    assert charges.read(store, store.watermark(), "2026-10") == {("acme", "CNY"): Fraction(1, 3)}
    entry(1, "1/3")
    entry(2, "2/3")
    entry(3, "-5", kind="credit")
    entry(4, "7", about="2026-11")
    for _ in range(2):
        assert charges.read(store, store.watermark(), "2026-10") == {("acme", "CNY"): Fraction(1)}
    assert charges.read(store, store.watermark(), "2026-11") == {("acme", "CNY"): Fraction(7)}


def test_the_two_books_are_told_beside_each_other_and_the_cost_book_adds_up(store):
    prices = load_price_book(Path(__file__).parents[2] / "examples" / "prices.yaml")
    settings = good_settings(machines=(good_machine(machine="NVIDIA H200"),))
    traffic = [(at, 30.0, number) for number, at in enumerate((0, 60, 600), start=1)]
    feed(store, gateway=[gateway(*each) for each in traffic], engine=[engine(*each) for each in traffic])
    as_of = store.watermark()
    money = Money(settings, Admitted(10))
    try:
        hours = Interval(start=HOUR, end=HOUR + timedelta(hours=2))
        found = costs_within(store, hours, hours, as_of=as_of, prices=prices, settings=settings)
        money._costs.get = lambda key, at, make: (found, at)  # type: ignore[method-assign]
        text = flat(money.figures(store, as_of, prices))
    finally:
        money.close()
    assert not flat(money.figures(store, as_of, None))
    spent = counted(text, "fairclock_cost", tenant="acme", book="cost", currency=prices.currency.code)
    rest = counted(text, "fairclock_cost_of_nobody")
    assert (len(spent), len(rest)) == (1, 3)
    assert spent[0] > 0
    # two GPUs for two hours, at what a GPU-second of this machine costs
    assert sum(spent) + sum(rest) == pytest.approx(2 * 2 * 3600 * 0.0061)
