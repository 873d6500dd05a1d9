"""The stored ledger: rated, closed, read as of an instant, added to by two at once, left by one who was killed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from billing.bookkeeping import books
from billing.bookkeeping.books import anchors, books_at, drafts_of, known_states, post, stored_rows
from billing.bookkeeping.closing import Closing, close_month
from billing.bookkeeping.rating import rate
from billing.ledger import PeriodState, columns_of, sealed, verify
from fairclock.errors import StoreError, UsageError
from fairclock.model import Interval
from fairclock.store import Query
from fairclock.store.ledger import EntryChoice, keep_entries
from tests.ledger.factories import HOUR, START, UTC_MONTHS, ByTokens, a_draft, a_usage

OCTOBER = UTC_MONTHS.interval("2026-10")
DECEMBER = datetime(2026, 12, 20, tzinfo=UTC)
WEEK = timedelta(days=7)


def rated(store, usages, prices=None, window=OCTOBER, as_of=None):
    """Rate usage that is the same whenever it is read; `usages` may be what returns it as it was known at an instant."""
    return rate(
        store,
        usages if callable(usages) else lambda _: usages,
        window,
        as_of=as_of or store.watermark(),
        prices=prices or ByTokens(),
        months=UTC_MONTHS,
    )


def closed(store, month, state, tenant, prices=None, *, now=DECEMBER):
    closing = Closing(month=month, state=PeriodState(state), grace=WEEK, tenants=(tenant,))
    return close_month(
        store, closing, prices=prices or ByTokens(), months=UTC_MONTHS, now=now, currency="USD"
    )


def owed(store, tenant, *, as_of=None, **choice):
    now = books_at(store, as_of or store.watermark())
    found = drafts_of(store, now, EntryChoice(tenants=(tenant,), **choice)).get(tenant, [])
    return sum((draft.amount for _, draft in found), start=Fraction(0))


def faults(store):
    now = store.watermark()
    return verify(stored_rows(store, now), anchors(store, now))


def test_rating_adds_what_is_missing_and_is_seen_from_then_on(store):
    mine = [
        a_usage(tenant="first", start=START + number * HOUR, end=START + (number + 1) * HOUR)
        for number in range(3)
    ]
    hour = Interval(start=START, end=START + HOUR)
    before = store.watermark()
    assert rated(store, mine).entries == 3
    assert rated(store, mine).entries == 0
    assert owed(store, "first", as_of=before) == 0
    between = store.watermark()
    late = rated(store, [replace(mine[0], requests=20)], window=hour)
    assert (late.entries, late.reversals, late.net) == (2, 1, {"USD": Fraction("0.001")})
    assert owed(store, "first") - owed(store, "first", as_of=between) == Fraction("0.001")
    assert faults(store) == []


def test_a_tenant_of_whom_nobody_has_heard_gets_no_chain_and_no_number_by_being_closed(store):
    rated(store, [a_usage(tenant="acme-typed-right")])
    with pytest.raises(UsageError, match="acme-typed-wrong: is not in the ledger"):
        closed(store, "2026-10", "final", "acme-typed-wrong")
    assert "acme-typed-wrong" not in books_at(store, store.watermark()).heads


def test_a_month_goes_from_open_to_draft_to_final_and_changes_no_more(store):
    prices = ByTokens(minimum=Fraction(1))
    tenant = "closing"
    october = Interval(start=OCTOBER.start, end=OCTOBER.end)
    usage = a_usage(tenant=tenant)

    def rerate(*usages):
        other = [each for each in everything if each.tenant != tenant]
        return rated(store, [*other, *usages], prices, october)

    now = books_at(store, store.watermark())
    everything = [
        item.usage
        for found in drafts_of(store, now, EntryChoice(kinds=("usage",))).values()
        for _, draft in found
        for item in draft.items
    ]
    rerate(usage)
    assert owed(store, tenant) < 1
    drafts = closed(store, "2026-10", "draft", tenant, prices)
    assert [str(each.draft.kind) for each in drafts] == ["adjustment", "close"]
    assert owed(store, tenant) == 1
    assert closed(store, "2026-10", "draft", tenant, prices) == []
    rerate(replace(usage, requests=20))
    assert owed(store, tenant) == 1
    final = closed(store, "2026-10", "final", tenant, prices)
    assert [each.draft.facts for each in final] == [
        {"state": "final", "final_from": "2026-11-08T00:00:00Z", "total_USD": "1", "number": "1"}
    ]
    assert closed(store, "2026-10", "final", tenant, prices) == []
    rerate(replace(usage, requests=20_000))
    assert owed(store, tenant, period=("2026-10",)) == 1
    assert owed(store, tenant, period=("2026-11",)) == owed(store, tenant) - 1 > 0
    assert owed(store, tenant, about=("2026-11",)) == 0
    now = books_at(store, store.watermark())
    assert known_states(store, now)[tenant] == {"2026-10": PeriodState.FINAL}
    assert faults(store) == []


@pytest.mark.parametrize(
    ("month", "state", "now", "says"),
    [
        pytest.param("2026-12", "draft", DECEMBER, "has not ended", id="a month that runs"),
        pytest.param(
            "2026-11",
            "final",
            datetime(2026, 12, 2, tzinfo=UTC),
            "late rows",
            id="a month whose late rows may still come",
        ),
        pytest.param("2026-11", "final", DECEMBER, "2026-10", id="a month after one that is not final"),
    ],
)
def test_what_cannot_be_closed(store, month, state, now, says):
    usages = [
        a_usage(tenant="early"),
        a_usage(tenant="early", start=START + 31 * 24 * HOUR, end=START + (31 * 24 + 1) * HOUR),
    ]
    post(
        store,
        lambda found: (
            []
            if "early" in found.heads
            else [
                a_draft(
                    tenant="early",
                    start=each.start,
                    end=each.end,
                    period=f"{each.start:%Y-%m}",
                    about=f"{each.start:%Y-%m}",
                )
                for each in usages
            ]
        ),
    )
    with pytest.raises(UsageError, match=says):
        closed(store, month, state, "early", now=now)


def test_two_raters_at_once_come_to_what_one_does(store):
    tenants = [f"raced-{number}" for number in range(3)]
    window = Interval(start=START + 1000 * HOUR, end=START + 1010 * HOUR)

    def usages(requests):
        return [
            a_usage(
                tenant=tenant,
                start=window.start + hour * HOUR,
                end=window.start + (hour + 1) * HOUR,
                requests=requests,
            )
            for tenant in tenants
            for hour in range(4)
        ]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda requests: rated(store, usages(requests), window=window), [1, 2, 3, 4]))
    rated(store, usages(5), window=window)
    alone = sum(ByTokens().rate(each).charges[0].amount for each in usages(5))
    now = books_at(store, store.watermark())
    found = drafts_of(store, now, EntryChoice(tenants=tuple(tenants)))
    assert (
        sum(item.charges[0].amount for each in found.values() for _, draft in each for item in draft.items)
        == alone
    )
    assert rated(store, usages(5), window=window).entries == 0
    assert faults(store) == []


def test_whoever_comes_second_adds_it_after_the_first(store):
    calls = []

    def plan(found):
        calls.append(found)
        if len(calls) == 1:
            post(store, lambda _: [a_draft(tenant="rival", start=START)])
        return [a_draft(tenant="rival", start=START + HOUR)]

    (added,) = post(store, plan)
    assert (len(calls), added.sequence) == (2, 2)
    now = books_at(store, store.watermark())
    assert len(now.beside) >= 1
    assert [sequence for sequence, _ in drafts_of(store, now, EntryChoice(tenants=("rival",)))["rival"]] == [
        1,
        2,
    ]
    assert faults(store) == []


def test_a_rater_killed_between_batches_leaves_what_the_next_completes(store, monkeypatch):
    monkeypatch.setattr(books, "_BATCH", 2)
    window = Interval(start=START + 2000 * HOUR, end=START + 2010 * HOUR)
    usages = [
        a_usage(tenant="killed", start=window.start + hour * HOUR, end=window.start + (hour + 1) * HOUR)
        for hour in range(5)
    ]
    real = books.keep_heads

    def die(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(books, "keep_heads", die)
    with pytest.raises(KeyboardInterrupt):
        rated(store, usages, window=window)
    monkeypatch.setattr(books, "keep_heads", real)
    assert 0 < owed(store, "killed") < sum(ByTokens().rate(each).charges[0].amount for each in usages) * 36
    assert rated(store, usages, window=window).entries == 3
    assert rated(store, usages, window=window).entries == 0
    assert faults(store) == []


def test_an_entry_that_is_written_twice_counts_once(store):
    entries = post(store, lambda found: [] if "twice" in found.heads else [a_draft(tenant="twice")])
    keep_entries(store, [columns_of(each) for each in entries])
    assert owed(store, "twice") == entries[0].draft.amount
    assert faults(store) == []


def test_rivals_without_end_are_an_error(store):
    def plan(found):
        post(
            store,
            lambda other: [
                a_draft(
                    tenant="endless",
                    start=START + other.heads["endless"].sequence * HOUR
                    if "endless" in other.heads
                    else START,
                )
            ],
        )
        return [a_draft(tenant="endless", start=START + 999 * HOUR)]

    with pytest.raises(StoreError, match="all the time"):
        post(store, plan)


def test_what_somebody_changes_in_the_store_is_found_at_its_place(store):
    post(
        store,
        lambda found: (
            []
            if "changed" in found.heads
            else [a_draft(tenant="changed", start=START + hour * HOUR) for hour in range(4)]
        ),
    )
    rows = [each for each in stored_rows(store, store.watermark()) if each.tenant == "changed"]
    store.execute(
        Query(
            sql="ALTER TABLE ledger_entries UPDATE body = replaceAll(body, '\"requests\":10', '\"requests\":9')"
            " WHERE tenant = 'changed' AND sequence = 3 SETTINGS mutations_sync = 1"
        )
    )
    store.execute(
        Query(
            sql="ALTER TABLE ledger_entries DELETE WHERE tenant = 'changed' AND sequence = 4 SETTINGS mutations_sync = 1"
        )
    )
    assert [(each.tenant, each.sequence) for each in faults(store)] == [("changed", 3), ("changed", 4)]
    with pytest.raises(StoreError, match="ledger verify"):
        owed(store, "changed")
    assert sealed([], {}) == []
    assert len(rows) == 4
