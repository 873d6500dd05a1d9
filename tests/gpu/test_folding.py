"""Laws of a second: what is folded in parts is folded as a whole, and energy is neither lost nor taken twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gpu.energy import Energy, EnergyMeter
from collectors.gpu.fields import FIELDS, Folding
from collectors.gpu.folding import Fold
from collectors.gpu.readings import Readings, Reason

SECOND = 1_000_000
RANGES = [field for field in FIELDS.values() if field.folding is Folding.RANGE]


@st.composite
def some_readings(draw):
    readings = Readings()
    for field in draw(st.lists(st.sampled_from(list(FIELDS.values())), max_size=6)):
        low, high = int(field.least), int(min(field.most, 1 << 50))
        if field.most <= 1:
            readings.take(field.name, draw(st.integers(0, 100)), scale=0.01 if field.decimals else 0)
        else:
            readings.take(field.name, draw(st.integers(low, high)))
    for name in draw(st.lists(st.sampled_from(list(FIELDS)), max_size=3)):
        if name not in readings.values:
            readings.lack(draw(st.sampled_from(list(Reason))), name)
    return readings


def folded(parts):
    fold = Fold()
    for part in parts:
        fold.add(part)
    return fold


@given(st.lists(some_readings(), max_size=6), st.lists(some_readings(), max_size=6))
def test_folding_two_parts_is_folding_the_whole(earlier, later):
    parts = folded(earlier)
    parts.merge(folded(later))
    whole = folded([*earlier, *later])
    assert parts.samples == whole.samples
    assert parts.reasons() == whole.reasons()
    columns = whole.columns()
    assert parts.columns() == pytest.approx(columns, rel=1e-9, abs=1e-4)
    exact = {name for name in columns if not name.endswith("_mean")}
    assert {name: parts.columns()[name] for name in exact} == {name: columns[name] for name in exact}


@given(st.lists(some_readings(), min_size=1, max_size=8))
def test_min_mean_and_max_are_in_order_and_within_what_was_read(parts):
    columns = folded(parts).columns()
    for field in RANGES:
        read = [part.values[field.name] for part in parts if field.name in part.values]
        if not read:
            assert f"{field.name}_mean" not in columns
            continue
        mean, least, greatest = (columns[name] for name in field.columns)
        assert (least, greatest) == (min(read), max(read))
        assert least <= mean <= greatest
        assert mean == pytest.approx(sum(read) / len(read), abs=10**-field.decimals)


@given(st.lists(some_readings(), min_size=1, max_size=8))
def test_a_field_has_a_value_or_a_reason_and_never_both(parts):
    fold = folded(parts)
    columns, reasons = fold.columns(), fold.reasons()
    for name, field in FIELDS.items():
        assert not (name in reasons and field.columns[0] in columns)
        if any(name in part.missing for part in parts):
            assert name in reasons or field.columns[0] in columns


def test_bits_are_all_that_were_set_in_any_reading():
    fold = folded([Readings(values={"throttle_reasons": 4}), Readings(values={"throttle_reasons": 65})])
    assert fold.columns() == {"throttle_reasons": 69}


def metered(*rows):
    meter = EnergyMeter()
    return [meter.read(at * SECOND, columns) for at, columns in rows]


def counter(millijoules, power=None):
    columns = {"energy_total_millijoules": millijoules}
    return columns if power is None else {**columns, "power_milliwatts_mean": power}


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 10**9)), min_size=1, max_size=20))
def test_sums_over_rows_are_what_the_counter_grew_by_whatever_rows_are_missing(steps):
    at, total, rows = 1, 1_000, [(1, counter(1_000))]
    for seconds, millijoules in steps:
        at, total = at + seconds, total + millijoules
        rows.append((at, counter(total)))
    first, *rest = metered(*rows)
    assert first is Reason.FIRST_READING
    assert sum(each.millijoules for each in rest) == total - 1_000
    assert sum(each.seconds for each in rest) == at - 1
    assert not any(each.is_integrated for each in rest)


@given(st.integers(1, 10**6), st.lists(st.integers(1, 100), min_size=1, max_size=20))
def test_constant_power_integrates_to_power_times_time(power, gaps):
    at, rows = 1, [(1, {"power_milliwatts_mean": power})]
    for gap in gaps:
        at += gap
        rows.append((at, {"power_milliwatts_mean": power}))
    _, *rest = metered(*rows)
    assert sum(each.millijoules for each in rest) == power * (at - 1)
    assert all(each.is_integrated for each in rest)


@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(0, 10**6)), st.one_of(st.none(), st.integers(0, 10**6))),
        min_size=1, max_size=20,
    )
)  # fmt: skip
def test_no_time_is_counted_twice_however_counter_and_power_come_and_go(rows):
    read = metered(
        *(
            (at, {
                **({} if total is None else {"energy_total_millijoules": total}),
                **({} if power is None else {"power_milliwatts_mean": power}),
            })
            for at, (total, power) in enumerate(rows, start=1)
        )
    )  # fmt: skip
    taken = [each for each in read if isinstance(each, Energy)]
    assert sum(each.seconds for each in taken) <= len(rows) - 1
    assert all(each.millijoules >= 0 for each in taken)


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        pytest.param(
            [(1, counter(900, 2000)), (2, counter(10, 4000))],
            Energy(millijoules=3000, seconds=1.0, is_integrated=True),
            id="a counter that began anew is bridged by power",
        ),
        pytest.param([(1, counter(900)), (2, counter(10))], Reason.GAP, id="or not at all, without power"),
        pytest.param([(1, counter(1)), (1, counter(5))], Reason.GAP, id="no time, no energy"),
        pytest.param(
            [(1, {"power_milliwatts_mean": 5}), (200, {"power_milliwatts_mean": 5})],
            Reason.GAP,
            id="power is not integrated over minutes that nobody looked",
        ),
        pytest.param([(1, {})], Reason.NOT_AVAILABLE, id="neither counter nor power"),
        pytest.param(
            [(5, counter(100)), (3, counter(90)), (6, counter(130))],
            Energy(millijoules=40, seconds=3.0, is_integrated=False),
            id="a clock that was set back before anything was counted",
        ),
        pytest.param(
            [(1, counter(0)), (5, counter(100)), (3, counter(120)), (6, counter(150))],
            Reason.GAP,
            id="a clock that was set back into time that was counted",
        ),
    ],
)
def test_energy_of_the_last_row(rows, last):
    assert metered(*rows)[-1] == last


SENTINELS = {
    "2^64 - 1": (1 << 64) - 1,
    "2^63 - 1": (1 << 63) - 1,
    "2^63": 1 << 63,
    "DCGM's blank of 64 bits": (1 << 63) - 16,
    "as a fraction in text": float("1.8446744073709552e+19"),
    "NaN": float("nan"),
    "infinity": float("inf"),
}


@pytest.mark.parametrize("raw", SENTINELS.values(), ids=SENTINELS.keys())
@pytest.mark.parametrize("name", FIELDS)
def test_a_sentinel_is_no_reading_of_any_field(name, raw):
    readings = Readings()
    readings.take(name, raw)
    assert (readings.values, readings.missing) == ({}, {name: "not_available"})


@pytest.mark.parametrize("raw", [(1 << 32) - 1, (1 << 31) - 1, (1 << 31) - 16, (1 << 31) - 14])
@pytest.mark.parametrize("name", FIELDS)
def test_a_sentinel_of_32_bits_is_no_reading_of_a_number_of_32_bits(name, raw):
    readings = Readings()
    readings.take(name, raw, is_32_bits=True)
    assert (readings.values, readings.missing) == ({}, {name: "not_available"})


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("utilization_ratio", 1.5),
        ("temperature_celsius", -273),
        ("power_milliwatts", -1),
        ("pcie_width", 400),
    ],
)
def test_what_cannot_be_is_no_reading(name, raw):
    readings = Readings()
    readings.take(name, raw)
    assert readings.missing == {name: "implausible"}


def test_a_large_counter_is_a_reading():
    readings = Readings()
    readings.take("energy_total_millijoules", (1 << 32) - 1)
    assert readings.values == {"energy_total_millijoules": (1 << 32) - 1}
