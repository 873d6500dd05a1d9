"""Rows that the server will never take: they become dead letters, and cost no neighbour."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.clickhouse import DirectDelivery, lines_of
from exporters.clickhouse.batches import Gathering
from exporters.clickhouse.delivery import Delivery
from exporters.clickhouse.verdicts import Verdict, code_of, verdict_of
from fairclock.errors import StoreError, StoreUnreachable
from tests.writer.conftest import ADAPTERS, frame
from tests.writer.stores import Store, server_error

POISON = b"poison"


def poisonous(error):
    return lambda line: error if line.startswith(POISON) else None


def good(count, kind=b"good"):
    return [kind + b" %d" % number for number in range(count)]


@pytest.mark.parametrize("at", [0, 1, 517, 999])
def test_one_bad_row_becomes_a_dead_letter_at_once_and_costs_few_inserts(bench, at):
    bench.store._refuses = poisonous(server_error(27, "Cannot parse: 'poison and a secret'"))
    lines = good(1_000)
    lines[at] = POISON
    bench.append(*lines, covered=(1, 9))
    bench.run_for(5.1)
    assert bench.store.lines == set(lines) - {POISON}
    assert bench.store.dead == [(POISON, "refused by the store: error 27")]
    assert bench.waiting() == 0
    assert bench.store.covered == [(1, 9)]
    assert len(bench.store.batches) <= 2 * math.ceil(math.log2(1_000)) + 2


@pytest.mark.parametrize("code", [27, 777])
def test_what_the_server_says_about_a_row_is_neither_kept_nor_logged(bench, caplog, code):
    bench.store._refuses = poisonous(server_error(code, "Cannot parse: 'poison and a secret'"))
    bench.append(POISON)
    bench.run_for(60)
    assert caplog.text
    assert "secret" not in caplog.text
    assert "secret" not in repr((bench.store.dead, bench.writer.statistics()))


@pytest.mark.parametrize(
    "error", [server_error(777), ValueError("a client's bug")], ids=["a code nobody knows", "a bug"]
)
def test_where_it_is_unclear_the_row_is_found_when_others_are_taken(bench, error):
    bench.store._refuses = poisonous(error)
    lines = [*good(100), POISON, *good(100, b"fine")]
    bench.append(*lines)
    bench.run_for(5.1)
    assert bench.store.dead == []
    bench.run_for(120)
    assert bench.store.lines == set(lines) - {POISON}
    assert [line for line, _ in bench.store.dead] == [POISON]
    assert bench.waiting() == 0


def test_where_it_is_unclear_a_lone_row_waits_for_others_to_compare_it_with(bench):
    bench.store._refuses = poisonous(server_error(777))
    bench.append(POISON)
    bench.run_for(3_600)
    assert (bench.store.dead, bench.waiting()) == ([], 1)
    bench.append(b"good")
    bench.run_for(60)
    assert (bench.store.lines, [line for line, _ in bench.store.dead]) == ({b"good"}, [POISON])


def test_where_it_is_unclear_rows_of_another_kind_prove_nothing(bench):
    bench.store._refuses = poisonous(server_error(777))
    bench.append(POISON)
    bench.append(b"good", kind="engine")
    bench.run_for(3_600)
    assert bench.store.lines == {b"good"}
    assert (bench.store.dead, bench.waiting()) == ([], 2)


def test_a_server_that_takes_nothing_for_an_unclear_reason_loses_nothing(bench):
    lines = good(500)
    bench.append(*lines)
    bench.store._refuses = lambda _: server_error(777)
    bench.run_for(3_600)
    assert bench.store.dead == []
    assert len(bench.store.batches) < 40 * bench.writer.statistics().failures_in_a_row
    bench.store._refuses = lambda _: None
    bench.run_for(60)
    assert (bench.store.lines, bench.store.dead, bench.waiting()) == (set(lines), [], 0)


def test_a_single_hiccup_of_the_parser_buries_no_row(bench):
    bench.append(b"row")
    bench.store.failures = [server_error(27, "the insert was cut")]
    bench.run_for(5.1)
    assert (bench.store.lines, bench.store.dead) == ({b"row"}, [])


def test_a_dead_letter_that_cannot_be_kept_is_kept_later(bench):
    bench.store._refuses = poisonous(server_error(27))
    bench.append(POISON)
    bench.store.failures = [None, None, StoreUnreachable("store", "nobody answers")]
    bench.run_for(5.1)
    assert (bench.store.dead, bench.waiting()) == ([], 1)
    bench.run_for(5)
    assert (len(bench.store.dead), bench.waiting()) == (1, 0)


def delivered(store, lines):
    """Deliver `lines` with as many tries as it takes, 40 at most."""
    gathering = Gathering(ADAPTERS)
    gathering.add([frame(*lines)])
    delivery = Delivery()
    delivery.add(gathering, size_bytes=0)
    for _ in range(40):
        try:
            delivery.run(store)
        except StoreError:
            continue
        return
    raise AssertionError("it was not delivered")


def good_and_bad(is_bad):
    return [(POISON if bad else b"good") + b" %d" % number for number, bad in enumerate(is_bad)]


def check(store, lines):
    assert store.lines == {line for line in lines if not line.startswith(POISON)}
    assert sorted(line for line, _ in store.dead) == sorted(line for line in lines if line.startswith(POISON))


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_exactly_the_bad_rows_become_dead_letters(is_bad):
    store = Store(refuses=poisonous(server_error(27)))
    delivered(store, good_and_bad(is_bad))
    check(store, good_and_bad(is_bad))


@given(st.integers(1, 300), st.sets(st.integers(0, 299), max_size=7))
def test_where_it_is_unclear_exactly_the_bad_rows_become_dead_letters_too(count, bad):
    lines = [*good_and_bad(number in bad for number in range(count)), b"good at last"]
    store = Store(refuses=poisonous(server_error(777)))
    delivered(store, lines)
    check(store, lines)


@pytest.mark.parametrize(
    ("error", "code", "verdict"),
    [
        (server_error(27), 27, Verdict.NEVER),
        (StoreError("chdb:///x", "Code: 407. DB::Exception: Decimal overflow"), 407, Verdict.NEVER),
        (server_error(252), 252, Verdict.LATER),
        (server_error(777), 777, Verdict.UNCLEAR),
        (StoreError("s", "returned response code 500"), None, Verdict.LATER),
        (StoreUnreachable("s", "Code: 27. of all things"), 27, Verdict.LATER),
        (ValueError("x"), None, Verdict.UNCLEAR),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_verdicts(error, code, verdict):
    assert (code_of(error), verdict_of(error)) == (code, verdict)


def test_no_code_has_two_meanings():
    from exporters.clickhouse.verdicts import _OF_ROWS, _OF_THE_SERVER

    assert not _OF_ROWS & _OF_THE_SERVER


def test_straight_into_a_store_each_frame_hears_of_its_own_dead_letters():
    class Normalising(Store):
        def ingest(self, batch):
            counts = super().ingest(batch)
            dead = sum(line.startswith(b"bad") for line in batch.lines)
            return type(counts)(read=counts.read, stored=counts.read - dead, dead_letters=dead)

    store = Normalising()
    deliver = DirectDelivery(store, adapters={"lines": lines_of})
    assert deliver([frame(b"a"), frame(b"b")]) == [0, 0]
    assert len(store.batches) == 1
    assert deliver([frame(b"a", b"bad 1"), frame(b"b"), frame(covered=(1, 2)), frame(b"bad 2")]) == [
        1,
        0,
        0,
        1,
    ]
    assert store.covered == [(1, 2)]


def test_straight_into_a_store_that_is_away_is_an_error_for_the_sender():
    store = Store()
    store.failures = [StoreUnreachable("store", "nobody answers")]
    deliver = DirectDelivery(store, adapters={"lines": lines_of})
    with pytest.raises(StoreUnreachable):
        deliver([frame(b"a")])
    assert deliver([frame(b"a")]) == [0]
