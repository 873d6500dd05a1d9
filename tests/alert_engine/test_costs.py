"""Ceilings per call and budgets of the price book: they fire by what was rated, resolve, and freeze where nothing is rated."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from billing.bookkeeping.limits import KnownLimits
from billing.bookkeeping.price_books import BookPrices, keep_versions
from billing.bookkeeping.rating import rate
from billing.prices import load_price_book
from fairclock.store import Query
from tests.alert_engine.scene import START, Scene
from tests.ledger.factories import a_usage

HOUR = timedelta(hours=1)
CEILING, BUDGET, FORECAST = ("cost-ceiling", None), ("cost-budget", None), ("cost-forecast", None)
LIMITS = """
ceilings:
  - {length_class: long, per_call: 0.0028}
budgets:
  - {tenants: [acme], per_month: 100}
versions:
"""


@pytest.fixture
def book(store, tmp_path):
    from pathlib import Path

    for table in ("ledger_entries", "ledger_heads", "ledger_ratings", "prices"):
        store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    text = (Path(__file__).parents[1] / "ledger" / "prices.yaml").read_text()
    path = tmp_path / "prices.yaml"
    path.write_text(text.replace("\nversions:\n", LIMITS, 1))
    return BookPrices(load_price_book(path))


class Billed:
    """A scene whose usage is given and rated; an hour's calls of long context with so many completion tokens in all."""

    def __init__(self, store, book, **section):
        self.store, self.book = store, book
        self.scene = Scene(store, gap={"enabled": False}, **section)
        self.scene.engine = self.scene.another_engine(costs=KnownLimits(book.book))

    def rate(self, hour, completion_tokens, requests=1000):
        start = START + hour * HOUR
        usage = a_usage(
            start=start, hour=start, end=start + HOUR, model="other", length_class="long_context", machine="",
            requests=requests, uncached_prompt_tokens=0, cached_prompt_tokens=0, completion_tokens=completion_tokens,
            gpu_picoseconds=0,
        )  # fmt: skip
        month = self.book.months.interval("2026-10")
        keep_versions(self.store, self.book.book, until=month.end)
        from fairclock.model import Interval

        rate(
            self.store,
            lambda _: [usage],
            Interval(start=start, end=start + HOUR),
            as_of=self.store.watermark(),
            prices=self.book,
            months=self.book.months,
        )

    def look(self, hour):
        return {key: state for key, state in self.scene.look(hour * 60).items() if key[0].startswith("cost-")}


def test_a_ceiling_fires_by_what_was_rated_and_resolves_once_calls_cost_less(store, book):
    billed = Billed(store, book)
    assert billed.look(0) == {}
    # 1,000 calls at 0.0002, and 8 for a million tokens: 0.0042 a call, of long context and so of long prompts
    billed.rate(0, 500_000)
    assert billed.look(1.01) == {CEILING: "firing"}
    event = billed.scene.latest()[CEILING]
    assert (event.value, event.threshold, event.contract_id) == ("0.004200 CNY", "0.002800 CNY", "*")
    assert "class long " in event.summary_en
    # equality is within: 6 for the other 2,000 calls is 0.0028 each of 3,000
    billed.rate(1, 475_000, requests=2_000)
    billed.look(2.01)
    assert billed.look(2.05) == {CEILING: "resolved"}


def test_few_calls_say_nothing_of_an_average(store, book):
    billed = Billed(store, book)
    billed.rate(0, 500_000, requests=19)
    assert CEILING not in billed.look(1.01)


def test_a_budget_fires_where_it_is_exceeded_and_before_where_it_is_headed_there(store, book):
    billed = Billed(store, book)
    billed.rate(0, 6_000_000)  # 48.2 by the 14th
    assert billed.look(1.01) == {CEILING: "firing", FORECAST: "firing"}
    event = billed.scene.latest()[FORECAST]
    assert (event.threshold, event.tenants) == ("100.00 CNY", ("acme",))
    billed.rate(1, 7_000_000)
    assert billed.look(2.01)[BUDGET] == "firing"
    assert billed.scene.latest()[BUDGET].value == "104.40 CNY"
    # late rows took most of it back
    billed.rate(1, 0)
    billed.rate(0, 0)
    billed.look(2.02)
    assert billed.look(2.06) == {CEILING: "resolved", FORECAST: "resolved", BUDGET: "resolved"}


def test_what_is_not_rated_any_more_freezes_and_is_not_taken_to_be_well(store, book):
    billed = Billed(store, book, cost={"stale_after": "6h"})
    billed.rate(0, 500_000)
    assert billed.look(1.01)[CEILING] == "firing"
    assert billed.look(20)[CEILING] == "firing", "what is too much stays too much"
    assert billed.look(18 * 24)[CEILING] == "frozen", "another month, of which nothing was rated"
    assert billed.scene.latest()[CEILING].frozen_reason == "nothing of this month was rated yet"


def test_where_nobody_watches_costs_nothing_is_told(store, book):
    billed = Billed(store, book, cost={"enabled": False})
    billed.rate(0, 60_000_000)
    assert billed.look(1.01) == {}
    assert datetime(2026, 10, 14, 3, tzinfo=UTC) == START
