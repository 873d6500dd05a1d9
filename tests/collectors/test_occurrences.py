"""How often the same line came before in one file."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.occurrences import LARGEST_K, Occurrences

A = b'{"time":"1.000","request_id":"a"}'
B = b'{"time":"1.000","request_id":"b"}'


def counted(batches: list[list[bytes]]) -> Counter[tuple[bytes, int]]:
    occurrences = Occurrences()
    found: Counter[tuple[bytes, int]] = Counter()
    for batch in batches:
        first, again = occurrences.split(list(batch))
        found.update((line, 0) for line in first)
        for k, lines in again.items():
            found.update((line, k) for line in lines)
    return found


def expected(lines: list[bytes]) -> Counter[tuple[bytes, int]]:
    counts: Counter[bytes] = Counter()
    found = []
    for line in lines:
        found.append((line, counts[line]))
        counts[line] += 1
    return Counter(found)


@given(st.lists(st.lists(st.sampled_from([A, B, A + B, b'{"time":""}']), max_size=8), max_size=6))
def test_each_line_gets_the_number_of_equal_lines_before_it_in_whatever_batches(batches):
    assert counted(batches) == expected([line for batch in batches for line in batch])


@given(st.lists(st.sampled_from([b"", b"   ", b"INFO ok", b'{"msg":"ok"}'])))
def test_lines_that_cannot_be_requests_are_never_the_second_of_anything(lines):
    assert counted([lines, lines]) == Counter((line, 0) for line in lines * 2)


def test_more_occurrences_than_the_store_can_tell_apart_are_marked_and_not_lost():
    found = counted([[A] * (LARGEST_K + 1), [A, A]])
    assert sum(found.values()) == LARGEST_K + 3
    assert found[A, LARGEST_K] == 1
    assert sum(count for (line, k), count in found.items() if line.startswith(b"[repeated")) == 2
