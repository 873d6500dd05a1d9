"""A month's open hours are joined once for an evaluation, and what it says is what it said without that."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fairclock.errors import StoreError, StoreReadOnly
from fairclock.model import Interval
from fairclock.store import LineBatch, Query, joining_once
from sla.evaluation import asked_together, evaluate
from tests.evaluation.test_stored_requests import OCTOBER, contract_for, engine_line, gateway_line

_KEPT = "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'staged_rows_%'"
TENANT = "acme"


@pytest.fixture(scope="module")
def store(given_store):
    store = given_store.store
    gateway = [gateway_line(number, seconds=1.5, tenant=TENANT) for number in range(1, 21)]
    gateway += [gateway_line(400 + number, seconds=2.5, tenant=TENANT) for number in range(5)]
    store.ingest(LineBatch(kind="gateway", source="one", lines=gateway))
    engine = [engine_line(number, seconds="1.4", queue="0.6") for number in range(1, 21)]
    store.ingest(LineBatch(kind="engine", source="one", lines=engine))
    store.seal(Interval(start=OCTOBER.start, end=OCTOBER.start + timedelta(days=13, hours=13)))
    store.cover(kind="gateway", source="one", intervals=[OCTOBER])
    return store


def kept_tables(store) -> list[str]:
    return [name for (name,) in store.rows(Query(sql=_KEPT))]


def report(store, as_of) -> dict[str, object]:
    return evaluate(store, contract_for(TENANT), month="2024-10", as_of=as_of, software_version="test")


def without_keeping(store, as_of, monkeypatch) -> dict[str, object]:
    with monkeypatch.context() as patch:
        patch.setattr(joining_once, "_MOST_ROWS", 0)
        return report(store, as_of)


def sorted_rows(store, query: Query) -> list[tuple[object, ...]]:
    return sorted(store.rows(query), key=repr)


@pytest.mark.parametrize(
    "window",
    [
        pytest.param(OCTOBER, id="the whole window"),
        pytest.param(
            Interval(start=OCTOBER.start, end=OCTOBER.start + timedelta(days=13, hours=12, seconds=90)),
            id="an end inside an hour",
        ),
        pytest.param(
            Interval(start=OCTOBER.start, end=OCTOBER.start + timedelta(hours=1)), id="a silent hour"
        ),
    ],
)
def test_what_is_kept_gives_the_rows_that_the_join_gives(store, window):
    as_of = store.watermark()
    expected = sorted_rows(store, store.requests_as_of(window, as_of))
    with store.joined_once(OCTOBER, as_of) as joined:
        assert joined.table is not None
        assert sorted_rows(store, store.requests_as_of(window, as_of)) == expected
    assert kept_tables(store) == []


def test_a_window_or_an_instant_that_is_not_kept_is_joined_for_itself(store):
    as_of = store.watermark()
    day_before = Interval(start=OCTOBER.start - timedelta(days=1), end=OCTOBER.end)
    with store.joined_once(OCTOBER, as_of) as joined:
        for query in (
            store.requests_as_of(day_before, as_of),
            store.requests_as_of(OCTOBER, as_of - timedelta(seconds=1)),
        ):
            assert joined.table not in query.sql


def test_a_report_is_the_same_where_nothing_is_kept(store, monkeypatch):
    as_of = store.watermark()
    assert report(store, as_of) == without_keeping(store, as_of, monkeypatch)
    assert kept_tables(store) == []


@pytest.mark.parametrize("forgets", ["TRUNCATE TABLE", "DROP TABLE"])
def test_a_report_whose_rows_were_forgotten_meanwhile_is_made_again(store, monkeypatch, forgets):
    as_of = store.watermark()
    expected = without_keeping(store, as_of, monkeypatch)
    plain, forgotten = store.requests_as_of, []

    def forgetting(window, instant):
        if tables := kept_tables(store):
            forgotten.extend(tables)
            store.execute(Query(sql=f"{forgets} {tables[0]}"))
        return plain(window, instant)

    monkeypatch.setattr(store, "requests_as_of", forgetting)
    assert report(store, as_of) == expected
    assert forgotten


def test_an_error_that_no_forgotten_row_explains_is_told(store, monkeypatch):
    def fails(window, instant):
        raise StoreError("store", "it is full")

    monkeypatch.setattr(store, "requests_as_of", fails)
    with pytest.raises(StoreError, match="it is full"):
        report(store, store.watermark())
    assert kept_tables(store) == []


def test_a_store_that_takes_no_writes_is_joined_for_each_question(store, monkeypatch):
    as_of = store.watermark()
    expected = without_keeping(store, as_of, monkeypatch)

    def refuse(query):
        raise StoreReadOnly("store", "it takes no writes")

    monkeypatch.setattr(store, "execute", refuse)
    assert report(store, as_of) == expected


def counting(store, monkeypatch) -> list[str]:
    """Note which tables of kept rows are made, and the questions about the time that was read through."""
    asked: list[str] = []
    plain, rows = store.execute, store.rows

    def execute(query):
        if query.sql.startswith("CREATE TABLE staged_rows_"):
            asked.append("joined")
        plain(query)

    def reads(query):
        if "covered_from" in query.sql and "kind" in query.parameters:
            asked.append(f"covered {query.parameters}")
        return rows(query)

    monkeypatch.setattr(store, "execute", execute)
    monkeypatch.setattr(store, "rows", reads)
    return asked


def test_many_reports_of_one_instant_join_once_and_say_what_each_says_alone(store, monkeypatch):
    as_of = store.watermark()
    expected = without_keeping(store, as_of, monkeypatch)
    asked = counting(store, monkeypatch)
    with asked_together(store, "2024-10", as_of):
        assert [report(store, as_of) for _ in range(3)] == [expected] * 3
    assert asked.count("joined") == 1
    covered = [each for each in asked if each != "joined"]
    assert covered
    assert len(covered) == len(set(covered))
    assert kept_tables(store) == []


def test_many_reports_whose_rows_were_forgotten_meanwhile_are_made_without_them(store, monkeypatch):
    as_of = store.watermark()
    expected = without_keeping(store, as_of, monkeypatch)
    with asked_together(store, "2024-10", as_of):
        assert report(store, as_of) == expected
        (table,) = kept_tables(store)
        store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
        assert [report(store, as_of) for _ in range(2)] == [expected] * 2
    assert kept_tables(store) == []


def test_what_was_read_through_is_kept_for_one_instant_alone_and_nobody_changes_it(store):
    as_of = store.watermark()
    with asked_together(store, "2024-10", as_of):
        first = store.covered("gateway", OCTOBER, as_of)
        first.clear()
        assert store.covered("gateway", OCTOBER, as_of) == [OCTOBER]
        earlier = OCTOBER.start - timedelta(days=1)
        assert store.covered("gateway", OCTOBER, earlier) == []
