"""A month too small to judge hands its requests on, once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sla.carry_over import carried_in
from sla.verdicts import Count

MINIMUM = 100


def carried(*before: int) -> int:
    """Return what months of these sizes, the latest last, hand to the next one."""
    own = {str(place): Count(valued=size) for place, size in enumerate(before)}
    labels = [str(place) for place in reversed(range(len(before)))]
    return carried_in(
        labels, own.__getitem__, lambda _, count: count.valued < MINIMUM, nothing=Count()
    ).valued


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param((), 0, id="a first month is handed nothing"),
        pytest.param((100,), 0, id="a month that was judged hands on nothing"),
        pytest.param((99,), 99, id="a month too small hands on all it has"),
        pytest.param((30, 40), 40, id="what was handed on once and still not judged is spent"),
        pytest.param((60, 40), 0, id="a month judged with what it was handed hands on nothing"),
        pytest.param((60, 40, 50), 50, id="and the one after it begins anew"),
        pytest.param((60, 39, 50), 50, id="a chain of small months hands on the last one's own"),
        pytest.param((50, 0, 50), 50, id="an empty month between hands on nothing of the one before it"),
    ],
)
def test_what_a_month_is_handed(before, expected):
    assert carried(*before) == expected


@given(st.lists(st.integers(0, 150), max_size=12))
def test_no_request_is_judged_twice_and_none_is_carried_twice(sizes):
    judged_in: dict[int, int] = {}
    for month in range(len(sizes)):
        handed = carried(*sizes[:month])
        assert handed in {0, sizes[month - 1] if month else 0}
        if sizes[month] + handed >= MINIMUM:
            for source in (month, *((month - 1,) if handed else ())):
                if sizes[source]:
                    judged_in[source] = judged_in.get(source, 0) + 1
    assert all(times == 1 for times in judged_in.values())


def test_only_as_many_months_are_read_as_the_answer_depends_on():
    read: list[str] = []

    def own(label: str) -> Count:
        read.append(label)
        return Count(valued={"c": 10, "b": 100, "a": 10}[label])

    carried_in(["c", "b", "a"], own, lambda _, count: count.valued < MINIMUM, nothing=Count())
    assert set(read) == {"c", "b"}
