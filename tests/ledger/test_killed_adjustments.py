"""Whoever dies between two blocks of entries leaves what the next makes whole: the adjustments of closed months, too."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from billing.bookkeeping import books
from fairclock.model import Interval
from tests.ledger.factories import HOUR, START, ByTokens, a_usage
from tests.ledger.test_bookkeeping import closed, faults, owed, rated

MINIMUM = ByTokens(minimum=Fraction(1))


def dies_after(blocks, monkeypatch, attempt):
    """Let `attempt` be killed once that many blocks of one entry are stored."""
    store_them, times = books.keep_entries, 0

    def keep(store, rows):
        nonlocal times
        times += 1
        if times > blocks:
            raise KeyboardInterrupt
        return store_them(store, rows)

    with monkeypatch.context() as patch:
        patch.setattr(books, "_BATCH", 1)
        patch.setattr(books, "keep_entries", keep)
        with pytest.raises(KeyboardInterrupt):
            attempt()


@pytest.mark.parametrize("state", ["draft", "final"])
@pytest.mark.parametrize(
    ("late", "blocks"),
    [
        pytest.param({"requests": 20}, 2, id="usage that grew is in the ledger and the minimum is not lowered yet"),
        pytest.param(None, 1, id="usage that is gone is taken back and the minimum is not raised yet"),
    ],
)  # fmt: skip
def test_the_minimum_of_a_closed_month_holds_after_the_next_rating(store, monkeypatch, late, blocks, state):
    tenant = f"killed-{state}-{blocks}"
    number = 2 * blocks + (state == "final")
    hour = Interval(start=START + timedelta(days=number), end=START + timedelta(days=number) + HOUR)
    usage = a_usage(tenant=tenant, start=hour.start, end=hour.end)
    rated(store, [usage], MINIMUM, hour)
    closed(store, "2026-10", state, tenant, MINIMUM)
    used = [] if late is None else [replace(usage, **late)]
    dies_after(blocks, monkeypatch, lambda: rated(store, used, MINIMUM, hour))
    assert owed(store, tenant) != 1
    rated(store, used, MINIMUM, hour)
    assert owed(store, tenant) == 1
    assert rated(store, used, MINIMUM, hour).entries == 0
    assert faults(store) == []
