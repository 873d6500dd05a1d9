"""Laws of lives and routes, without a store."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import from_us, to_us
from fairclock.model.engine_signs import Pair, ProcessSeen, Said
from sla.engines.lives import lives_said, lives_seen
from sla.engines.routing import route_of
from tests.engine_lives.conftest import START

ZERO = to_us(START)
SECOND = 1_000_000

processes = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 500), st.integers(0, 100), st.integers(0, 200)),
    max_size=8,
).map(
    lambda found: [
        ProcessSeen(
            target,
            "process_start_time_seconds",
            ZERO + began * SECOND,
            ZERO + (began + after) * SECOND,
            ZERO + (began + after + lasted) * SECOND,
        )
        for target, began, after, lasted in found
    ]
)
pairs = st.lists(
    st.builds(Pair, st.sampled_from("ijk"), st.sampled_from("uvw"), st.integers(1, 9)),
    max_size=6,
    unique_by=lambda each: (each.instance, each.upstream),
)


@given(processes, st.randoms())
def test_the_order_of_what_was_read_is_of_no_account(seen, source):
    shuffled = list(seen)
    source.shuffle(shuffled)
    assert lives_seen(shuffled) == lives_seen(seen)


@given(processes)
def test_a_life_follows_only_one_that_answered_no_more(seen):
    for life in lives_seen(seen):
        if life.before is not None:
            assert life.before.engine == life.engine
            assert life.before.began < life.began
            assert life.before.seen_to is not None
            assert life.before.seen_to <= life.began + timedelta(seconds=5)


@given(processes)
def test_what_happens_to_one_engine_says_nothing_of_another(seen):
    alone = lives_seen(each for each in seen if each.target == "a")
    assert [each for each in lives_seen(seen) if each.engine == "a"] == alone


@given(st.integers(1, 6), st.integers(0, 9))
def test_ranks_that_start_together_are_one_start_the_last_of_them(ranks, apart):
    said = [Said("i", "started", from_us(ZERO + rank * apart * SECOND // 6), rank) for rank in range(ranks)]
    (life,) = lives_said(said)
    assert (life.began, life.before) == (said[-1].at, None)


@given(pairs, st.sampled_from("ijk"), st.randoms())
def test_a_route_is_one_upstream_of_one_engine_or_none(found, instance, source):
    route = route_of(instance, found)
    shuffled = list(found)
    source.shuffle(shuffled)
    assert route_of(instance, shuffled) == route
    edges = {(each.instance, each.upstream) for each in found}
    mine = {upstream for one, upstream in edges if one == instance}
    alone = len(mine) == 1 and {one for one, upstream in edges if upstream in mine} == {instance}
    assert route.upstream == (next(iter(mine)) if alone else "")


@given(pairs, pairs)
def test_more_evidence_never_makes_another_route_of_one(found, more):
    """It may take one away, never turn it into another."""
    before = route_of("i", found)
    after = route_of("i", [*found, *more])
    assert before.upstream in ("", after.upstream) or after.upstream == ""
