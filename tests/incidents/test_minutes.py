"""Which minutes are looked at: all that decide, whatever is left out between."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from sla.incidents.grouping import MINUTE_US, Minute, groups_of
from sla.incidents.minutes import Minutes, allowed_share
from sla.slices import InForce
from tests.evaluation.factories import a_contract, availability, latency

VERSION = InForce(contract=a_contract(objectives=[latency(at_most="1s"), availability("99%")]))
SHARES = {each.name: allowed_share(each) for each in VERSION.contract.objectives}

COUNTS = st.tuples(st.integers(0, 120), st.sampled_from([0, 0, 0, 0, 1, 4]))
COUNTED = st.dictionaries(st.integers(0, 200), st.tuples(COUNTS, COUNTS), max_size=120)
GOOD, BAD = ((1, 0), (1, 0)), ((0, 1), (0, 1))


@given(st.lists(COUNTED, min_size=1, max_size=3), st.integers(0, 200), st.integers(150, 400), st.randoms())
@example([{0: BAD, **dict.fromkeys(range(1, 40), GOOD)}, {40: BAD}], 200, 400, None)
@example([{0: BAD}, {**dict.fromkeys(range(1, 40), GOOD), 40: BAD}], 200, 400, None)
@example([{0: BAD, 3: GOOD}, {3: BAD, 5: GOOD}], 200, 400, None)
def test_what_is_left_out_changes_no_group(versions, read_to, known_to, random):
    minutes = Minutes()
    for counted in versions:
        rows = [
            (place * MINUTE_US, [good for good, _ in counts], [bad for _, bad in counts])
            for place, counts in sorted(counted.items())
        ]
        if random is not None:
            random.shuffle(rows)
        minutes.add(VERSION, rows)
    read_us = [place * MINUTE_US for place in range(read_to)]
    looked_at = minutes.whole()
    for number, (name, share) in enumerate(SHARES.items()):
        everything = [
            Minute(
                place * MINUTE_US,
                sum(good + bad for good, bad in counts),
                sum(bad for _, bad in counts),
                share,
            )
            for place in sorted({each for counted in versions for each in counted})
            for counts in [[counted[place][number] for counted in versions if place in counted]]
        ]
        expected = groups_of(everything, read_us=read_us, known_to_us=known_to * MINUTE_US)
        found = groups_of(looked_at.get(name, []), read_us=read_us, known_to_us=known_to * MINUTE_US)
        assert found == expected
