"""Slices against a count by hand, minute by minute: live, sealed, late, again, thrown away, as of the past."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from fairclock.model import Interval
from fairclock.store import LineBatch, Query
from fairclock.store.migrations import migrations
from fairclock.store.slices import forget_slices
from sla.evaluation.excluded import Excluded
from sla.slices import InForce, evaluate_slices, slices_as_of, sums_as_of
from sla.tallies import Tally, total_of
from tests.evaluation.factories import a_contract, availability, latency

START = datetime(2026, 10, 7, 1, tzinfo=UTC)
ALL = Interval(start=START - timedelta(days=1), end=START + timedelta(days=1))
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Sent:
    """One request: when it was received after START, how it ended, and what its engine said (None: nothing)."""

    number: int
    at_ms: int
    status: str
    took_ms: int
    queue_ms: int | None
    tenant: str = "acme"

    @property
    def received(self) -> datetime:
        return START + timedelta(milliseconds=self.at_ms)


def gateway(sent: Sent) -> bytes:
    end = (sent.received + timedelta(milliseconds=sent.took_ms)).timestamp()
    keys = {
        "time": f"{end:.3f}",
        "request_id": f"{sent.number:032x}",
        "traceparent": f"00-{sent.number:032x}-{sent.number:016x}-01",
        "tenant": sent.tenant,
        "method": "POST",
        "uri": "/v1/chat/completions",
        "status": sent.status,
        "request_time": f"{sent.took_ms / 1000:.3f}",
        "request_completion": "OK",
        "upstream_addr": "10.0.0.1:8000",
        "upstream_status": sent.status,
    }
    return json.dumps(keys).encode()


def engine(sent: Sent) -> bytes:
    start_ns = int(sent.received.timestamp() * 1000) * 10**6
    inside = sent.took_ms - 10
    keys = {
        "trace_id": f"{sent.number:032x}",
        "span_id": f"{sent.number:016x}",
        "start_ns": str(start_ns),
        "end_ns": str(start_ns + inside * 10**6),
        "instance": "engine-1",
        "request_id": f"cmpl-{sent.number:032x}-0",
        "e2e": str(inside / 1000),
        "queue": str(sent.queue_ms / 1000),
        "prefill": "0.01",
        "decode": "0.02",
        "inference": "0.03",
        "ttft": "0.05",
        "prompt_tokens": 7,
        "completion_tokens": 11,
    }
    return json.dumps(keys).encode()


def some_traffic(seed: int, count: int = 120, minutes: int = 90) -> list[Sent]:
    source = random.Random(seed)
    found = []
    for number in range(1, count + 1):
        took = source.randrange(100, 3000)
        found.append(
            Sent(
                number=number + 1000 * seed,
                at_ms=source.randrange(minutes * 60_000),
                status=source.choice(["200"] * 6 + ["504", "500", "429", "404"]),
                took_ms=took,
                queue_ms=source.choice([None, source.randrange(0, took - 50)]),
            )
        )
    return found


def keep(store, traffic, *, late_engine: bool = False) -> None:
    store.ingest(LineBatch(kind="gateway", source="g", lines=[gateway(each) for each in traffic]))
    if not late_engine:
        keep_engine(store, traffic)


def keep_engine(store, traffic) -> None:
    lines = [engine(each) for each in traffic if each.queue_ms is not None]
    store.ingest(LineBatch(kind="engine", source="e", lines=lines))


CONTRACT = a_contract(
    objectives=[
        latency(at_most="1s"),
        availability("99%"),
        latency("queue", at_most="500ms"),
        latency("end_to_end", percentile="95", at_most="2s", during="peak"),
        {
            "name": "cost",
            "cost": {"at_most": "0.01", "per": "call", "currency": "USD"},
        },
    ],
    calendar={"peak": [{"days": "mon-sun", "from": "09:30", "to": "10:00"}]},
)
VERSION = InForce(contract=CONTRACT)


def by_hand(traffic, excluded=()) -> dict[datetime, tuple[Tally, ...]]:
    """Count each minute from the words of the contract: `queue` needs an engine row, 504 is over on end_to_end."""
    counted: dict[datetime, list[Counter]] = {}
    for sent in traffic:
        minute = sent.received.replace(second=0, microsecond=0)
        row = counted.setdefault(minute, [Counter() for _ in range(5)])
        ok, timed_out = sent.status == "200", sent.status == "504"

        def say(place, name, row=row, sent=sent):
            inside = any(start <= sent.received < end for start, end in excluded)
            row[place]["excluded" if inside else name] += 1

        local = (sent.received + timedelta(hours=8)).time()
        is_peak = "09:30" <= local.isoformat()[:5] < "10:00"
        if ok or timed_out:
            say(0, "bad" if timed_out or sent.took_ms > 1000 else "good")
            if is_peak:
                say(3, "bad" if timed_out or sent.took_ms > 2000 else "good")
            if sent.queue_ms is None:
                say(2, "unknown")
            else:
                say(2, "bad" if sent.queue_ms > 500 else "good")
        if ok or timed_out or sent.status == "500":
            say(1, "good" if ok else "bad")
    return {
        minute: tuple(
            Tally(good=c["good"], bad=c["bad"], excluded=c["excluded"], unknown=c["unknown"]) for c in row
        )
        for minute, row in counted.items()
    }


def read(store, version=VERSION, as_of=None, window=ALL):
    found = slices_as_of(store, version.key, window, as_of or store.watermark())
    return {each.window.start: each.tallies for each in found if each.requests}


def versions_kept(store) -> int:
    return store.rows(Query(sql="SELECT count() FROM sli_slices"))[0][0]


@pytest.mark.parametrize("seed", range(4))
def test_slices_are_what_a_count_by_hand_says_live_and_sealed(store, seed):
    traffic = some_traffic(seed)
    keep(store, traffic)
    evaluate_slices(store, [VERSION])
    assert read(store) == by_hand(traffic)
    store.seal()
    evaluate_slices(store, [VERSION])
    assert read(store) == by_hand(traffic)
    seals = {each.seal for each in slices_as_of(store, VERSION.key, ALL, store.watermark()) if each.requests}
    assert 0 not in seals
    assert seals == {seal for _, seal in store.seals_as_of(ALL, store.watermark())}


def test_late_rows_change_their_minutes_and_an_old_as_of_does_not_see_it(store):
    traffic = some_traffic(7)
    keep(store, traffic[:80], late_engine=True)
    store.seal()
    evaluate_slices(store, [VERSION])
    early = store.watermark()
    before = read(store)
    keep_engine(store, traffic[:80])
    keep(store, traffic[80:])
    evaluate_slices(store, [VERSION])
    assert read(store) == by_hand(traffic)
    assert (
        read(store, as_of=early) == before == by_hand([replace(each, queue_ms=None) for each in traffic[:80]])
    )


def test_counting_again_writes_nothing(store):
    traffic = some_traffic(8)
    keep(store, traffic)
    store.seal()
    evaluate_slices(store, [VERSION])
    kept = versions_kept(store)
    keep(store, traffic)  # the same lines again
    for window in (None, ALL, None):
        assert evaluate_slices(store, [VERSION], window=window).written == 0
    store.execute(Query(sql="TRUNCATE TABLE slice_progress"))
    assert evaluate_slices(store, [VERSION]).written == 0
    assert versions_kept(store) == kept


def test_two_evaluators_and_a_crash_leave_what_one_pass_leaves(store, monkeypatch):
    traffic = some_traffic(9)
    keep(store, traffic)
    as_of = store.watermark()
    half = Interval(start=START, end=START + timedelta(hours=1))
    evaluate_slices(store, [VERSION], window=half, as_of=as_of)  # as if killed before the second hour
    evaluate_slices(store, [VERSION], as_of=as_of)
    # what two at once would both write
    store.execute(Query(sql="INSERT INTO sli_slices SELECT * FROM sli_slices"))
    assert read(store) == by_hand(traffic)
    sums = sums_as_of(store, [VERSION.key], [ALL], store.watermark())[VERSION.key][0]
    assert sums.tallies[0] == total_of(tallies[0] for tallies in by_hand(traffic).values())


def test_a_slow_evaluator_does_not_undo_what_a_newer_one_wrote(store):
    traffic = some_traffic(10)
    keep(store, traffic[:60])
    old = store.watermark()
    keep(store, traffic[60:])
    evaluate_slices(store, [VERSION])
    evaluate_slices(store, [VERSION], window=ALL, as_of=old)
    assert read(store) == by_hand(traffic)


def test_slices_thrown_away_are_built_anew(store):
    traffic = some_traffic(11)
    keep(store, traffic)
    evaluate_slices(store, [VERSION])
    forget_slices(store, VERSION.key)
    assert read(store) == {}
    evaluate_slices(store, [VERSION])
    assert read(store) == by_hand(traffic)


def test_an_older_store_keeps_its_slices_under_the_finer_index_however_often_that_is_begun(store):
    traffic = some_traffic(12)
    keep(store, traffic)
    evaluate_slices(store, [VERSION])
    kept = versions_kept(store)
    (coarse,) = next(each.statements for each in migrations() if each.name == "slices")[:1]
    (finer,) = next(each.statements for each in migrations() if each.name == "finer_slices")
    store.execute(Query(sql="RENAME TABLE sli_slices TO before"))
    store.execute(Query(sql=coarse))
    store.execute(Query(sql="INSERT INTO sli_slices SELECT * FROM before"))
    store.execute(Query(sql="DROP TABLE before"))
    assert _index_rows(store) == 8192
    for _ in range(2):  # the second as after a process that died before it had noted the first
        store.execute(Query(sql=finer))
        assert (_index_rows(store), versions_kept(store), read(store)) == (256, kept, by_hand(traffic))


def _index_rows(store):
    ((engine,),) = store.rows(Query(sql="SELECT engine_full FROM system.tables WHERE name = 'sli_slices'"))
    return int(re.search(r"index_granularity = (\d+)", engine)[1])


def test_what_is_excluded_leaves_good_and_bad_alike(store):
    traffic = some_traffic(12)
    span = (START + timedelta(minutes=20, seconds=30), START + timedelta(minutes=50))
    keep(store, traffic)
    evaluate_slices(store, [VERSION])
    with_all = read(store)
    without = InForce(contract=CONTRACT, excluded=Excluded(instants=(Interval(start=span[0], end=span[1]),)))
    evaluate_slices(store, [without])
    assert read(store) == by_hand(traffic, excluded=[span])
    assert [t.total for t in total_by_objective(read(store))] == [
        t.total for t in total_by_objective(with_all)
    ]
    evaluate_slices(store, [VERSION], window=ALL)
    assert read(store) == with_all


def total_by_objective(slices):
    return [total_of(column) for column in zip(*slices.values(), strict=True)]


def test_refusals_below_the_quota_are_bad_in_their_minute(store):
    contract = a_contract(
        objectives=[availability("99%"), latency(at_most="1s")],
        quota={"requests_per_minute": 3, "rejected_below": "bad"},
    )
    within = Interval(start=START + timedelta(minutes=30, seconds=7), end=ALL.end)
    version = InForce(contract=contract, within=within)
    sent = [
        Sent(number=5000 + place, at_ms=at_ms, status=status, took_ms=100, queue_ms=None)
        for place, (at_ms, status) in enumerate(
            # two let through at the end of an hour's last minute, then one refused while two count, one while three do
            [
                (3_599_000, "200"),
                (3_599_500, "200"),
                (3_600_000, "429"),
                (3_601_000, "200"),
                (3_602_000, "429"),
            ]
        )
    ]
    keep(store, sent)
    evaluate_slices(store, [version])
    found = {at: tallies[0] for at, tallies in read(store, version).items()}
    assert found == {
        START + timedelta(minutes=59): Tally(good=2),
        START + timedelta(minutes=60): Tally(good=1, bad=1),
    }


def test_coverage_is_noted_minute_by_minute_and_where_nobody_asked(store):
    store.cover(
        kind="gateway", source="g", intervals=[Interval(start=START + MINUTE / 2, end=START + 3 * MINUTE)]
    )
    store.cover(kind="engine", source="e", intervals=[Interval(start=START + MINUTE, end=START + 2 * MINUTE)])
    evaluate_slices(store, [VERSION])
    found = slices_as_of(store, VERSION.key, ALL, store.watermark())
    assert [(each.window.start - START, each.gateway_us, each.engine_us) for each in found] == [
        (0 * MINUTE, 30_000_000, 0),
        (1 * MINUTE, 60_000_000, 60_000_000),
        (2 * MINUTE, 60_000_000, 0),
    ]
    assert sum(each.requests for each in found) == 0


def test_versions_and_contracts_keep_their_own_slices(store):
    traffic = [
        *some_traffic(13, count=30),
        *(replace(each, tenant="bolt") for each in some_traffic(14, count=30)),
    ]
    keep(store, traffic)
    bolt = a_contract(
        id="bolt", customer={"name": "Bolt", "tenants": ["bolt"]},
        objectives=json.loads(json.dumps([latency(at_most="1s"), availability("99%")])),
    )  # fmt: skip
    cut = START + timedelta(minutes=45)
    first = InForce(contract=CONTRACT, within=Interval(start=START, end=cut))
    then = InForce(
        contract=a_contract(objectives=[latency(at_most="2s")]), within=Interval(start=cut, end=ALL.end)
    )
    evaluate_slices(store, [first, then, InForce(contract=bolt)])
    mine = [each for each in traffic if each.tenant == "acme"]
    assert read(store, first) == by_hand([each for each in mine if each.received < cut])
    later = by_hand([each for each in mine if each.received >= cut])
    assert {at: t[0].total for at, t in read(store, then).items()} == {
        at: t[0].total for at, t in later.items()
    }
    theirs = by_hand([each for each in traffic if each.tenant == "bolt"])
    assert read(store, InForce(contract=bolt)) == {at: tallies[:2] for at, tallies in theirs.items()}


def test_contracts_that_count_alike_are_counted_together_and_kept_apart(store):
    tenants = [f"tenant-{number}" for number in range(5)]
    traffic = [
        replace(each, tenant=tenants[each.number % 5], number=each.number + 7000) for each in some_traffic(15)
    ]
    keep(store, traffic)
    versions = [
        InForce(
            contract=a_contract(
                id=tenant, customer={"name": tenant, "tenants": [tenant]},
                objectives=[latency(at_most="1s"), availability("99%")],
            )
        )
        for tenant in tenants
    ]  # fmt: skip
    evaluate_slices(store, versions)
    for tenant, version in zip(tenants, versions, strict=True):
        expected = by_hand([each for each in traffic if each.tenant == tenant])
        assert read(store, version) == {at: tallies[:2] for at, tallies in expected.items()}


def test_sums_over_windows_are_the_sums_of_their_minutes_wherever_they_are_split(store):
    traffic = some_traffic(16)
    keep(store, traffic)
    evaluate_slices(store, [VERSION])
    minutes = slices_as_of(store, VERSION.key, ALL, store.watermark())
    for split in (1, 17, 60, 89):
        cut = START + split * MINUTE
        parts = [Interval(start=ALL.start, end=cut), Interval(start=cut, end=ALL.end), ALL]
        early, late, whole = sums_as_of(store, [VERSION.key], parts, store.watermark())[VERSION.key]
        assert early.requests + late.requests == whole.requests == len(traffic)
        for number in range(5):
            total = total_of(each.tallies[number] for each in minutes if each.requests)
            assert whole.tallies[number] == total
            both = [part.tallies[number] for part in (early, late) if part.tallies]
            assert total_of(both) == total
        assert whole.queue_us == sum(each.queue_us for each in minutes)
