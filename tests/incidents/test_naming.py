"""Names of incidents: told once, kept when rows come late, never given to two."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import from_us
from sla.incidents import incident_id
from sla.incidents.grouping import MINUTE_US, Minute, groups_of
from sla.incidents.naming import Known, named

AT = datetime(2026, 10, 7, 1, tzinfo=UTC)


def group(*numbers: int):
    minutes = [Minute(number * MINUTE_US, 10, 10, Fraction(1, 100)) for number in numbers]
    return groups_of(minutes, read_us=[], known_to_us=10**12)


def known(id_: str, first: int, last: int, *, told: int = 0, is_withdrawn: bool = False) -> Known:
    return Known(
        id=id_, start_us=first * MINUTE_US, end_us=(last + 1) * MINUTE_US, first_told_us=told,
        is_withdrawn=is_withdrawn,
    )  # fmt: skip


def names(groups, told=()):
    return [name for name, _ in named("acme", "p99", groups, told)]


def test_a_name_follows_from_contract_objective_and_first_minute():
    assert incident_id("acme", "p99", AT) == incident_id("acme", "p99", AT)
    assert (
        len({incident_id("acme", "p99", AT), incident_id("acme", "p95", AT), incident_id("b", "p99", AT)})
        == 3
    )
    assert names(group(3, 4)) == [incident_id("acme", "p99", from_us(3 * MINUTE_US))]


def test_a_late_row_that_moves_the_start_moves_no_name():
    assert names(group(1, 2, 3, 4), [known("told", 3, 4)]) == ["told"]


def test_of_two_that_grow_together_the_one_told_first_stays():
    assert names(group(1, 2, 3), [known("later", 1, 1, told=9), known("first", 3, 3, told=5)]) == ["first"]


def test_where_one_falls_apart_the_earliest_part_keeps_the_name():
    parts = [*group(1), *group(900)]
    kept, new = names(parts, [known("told", 1, 900)])
    assert kept == "told"
    assert new == incident_id("acme", "p99", from_us(900 * MINUTE_US))


def test_one_that_was_withdrawn_comes_back_under_its_name():
    assert names(group(5), [known("gone", 5, 5, is_withdrawn=True)]) == ["gone"]


def test_a_minute_that_lent_its_name_to_another_lends_it_to_no_second_one():
    lent = incident_id("acme", "p99", from_us(900 * MINUTE_US))
    first, second = names([*group(1, 2), *group(900, 901)], [known(lent, 1, 2)])
    assert first == lent
    assert second not in {lent, ""}


@given(
    st.sets(st.integers(0, 3000), min_size=1, max_size=12),
    st.lists(
        st.tuples(st.integers(0, 3000), st.integers(0, 500), st.integers(0, 9), st.booleans()), max_size=5
    ),
)
def test_no_two_incidents_have_one_name_whatever_was_told(numbers, told):
    entries = [
        known(f"told-{place}", first, first + length, told=at, is_withdrawn=gone)
        for place, (first, length, at, gone) in enumerate(told)
    ]
    found = names(group(*numbers), entries)
    assert len(set(found)) == len(found)
    again = names(group(*numbers), reversed(entries))
    assert again == found
