"""What a tenant is shown of an engine, and what the GPUs' own memory says of its requests."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.cost_book.checking import Occupation, checked_shares
from billing.cost_book.opening import check_memory, timeline_for
from billing.cost_book.reading import read_cost_book
from fairclock.model import to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.engine_timelines import Lane
from tests.cost_book.brute_force import Ran, divide
from tests.cost_book.traffic import HOUR, engine, feed, gateway, good_machine, good_settings, hours

LANE = Lane(engine="a", numerator=3, denominator=7, slots=4)

ran = st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(1, 10**9))


@pytest.mark.parametrize("division", ["equal", "tokens", "per_slot"])
@given(sequences=st.lists(ran, min_size=1, max_size=12))
def test_the_check_in_plain_integers_equals_a_brute_force_one(division, sequences):
    timeline = [
        Ran(engine="a", owner=place, begun_us=begun, ended_us=begun + length, weight=weight)
        for place, (begun, length, weight) in enumerate(sequences)
    ]
    shown = [
        Occupation(piece_us=0, begun_us=each.begun_us, ended_us=each.ended_us, weight=each.weight, request=str(each.owner))
        for each in timeline
    ]  # fmt: skip
    (book,) = divide(timeline, (LANE,), (0, 1000), division).values()
    found = checked_shares(shown, gpus=Fraction(3, 7), division=division, slots=4)
    assert found == {str(place): int(share) for place, share in book.rounded.items()}


@pytest.mark.parametrize("division", ["equal", "tokens", "per_slot"])
def test_a_tenant_finds_its_share_from_a_timeline_that_names_nobody_else(store, division):
    lines = [
        (
            gateway(3500 + 17 * n, 90, n + 1, tenant=f"t{n % 3}"),
            engine(3500 + 17 * n, 80 + n / 7, n + 1, prompt_tokens=11 * n),
        )
        for n in range(12)
    ]
    feed(store, *zip(*lines, strict=True))
    settings = good_settings(machines=(good_machine(gpus=Fraction(2, 7)),), division=division)
    window, as_of = hours(0, 2), store.watermark()
    (shown,) = timeline_for(store, window, as_of, settings, engine="engine-a", tenant="t1")
    mine = checked_shares(shown.occupations, gpus=shown.machine.gpus, division=division, slots=4)
    book = read_cost_book(store, window, as_of, settings)
    assert len(mine) == 4
    assert sum(mine.values()) == sum(each.tenants["t1"].gpu_picoseconds for each in book.times)
    assert {each.request for each in shown.occupations} == {"", *mine}
    assert (division == "tokens") == any(each.weight > 1 for each in shown.occupations)


def test_memory_is_held_against_what_the_gpus_had_in_use(store):
    feed(
        store, [gateway(10, 30, 1), gateway(20, 30, 2, tenant="beta")], [engine(10, 30, 1), engine(20, 30, 2)]
    )
    stored = FIRST_WINS_BASE - to_us(HOUR)
    columns = ("sampled_at", "gpu", "host", "collector", "memory_used_bytes_max", "first_wins")
    store.insert(
        "gpu_samples",
        columns,
        [(HOUR, "g0", "h", "nvml", 20_000, stored), (HOUR, "g1", "h", "nvml", 15_000, stored)],
    )

    def checked(**changes):
        settings = good_settings(
            machines=(good_machine(**{"gpu_ids": ("g0", "g1"), "kv_bytes_a_token": 100} | changes),)
        )
        return [
            (to_us(each.hour) - to_us(HOUR), each.kv_bytes, each.used_bytes, each.is_possible)
            for each in check_memory(store, hours(0, 2), store.watermark(), settings)
        ]

    assert checked() == [(0, 30_000, 35_000, True), (3_600_000_000, 0, None, None)]
    assert checked(kv_bytes_a_token=200)[0] == (0, 60_000, 35_000, False)
    assert checked(gpu_ids=("g0", "g1", "unseen"))[0] == (0, 30_000, None, None)
    assert checked(kv_bytes_a_token=None)[0] == (0, None, 35_000, None)
    assert checked(gpu_ids=()) == []
