"""``up`` rates ended hours by itself, every so often, a day at a time, by the price book as its file is; what fails is said and tried again."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from billing.bookkeeping.limits import KnownLimits
from fairclock.cli import ledger_rating
from fairclock.cli.pipeline.passes import Passes
from fairclock.cli.pipeline.rating import FollowedPrices, RatingStep
from fairclock.errors import PriceBookError, StoreError
from fairclock.store.ledger_ratings import whole_ratings
from tests.cost_book.traffic import feed, gateway
from tests.ledger.factories import START
from tests.ledger.test_bookkeeping import owed

BOOK = Path(__file__).parent / "prices.yaml"
EVERY = timedelta(minutes=10)


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text(BOOK.read_text())
    return FollowedPrices.reading(path)


def rewritten(prices, text):
    """Write the book anew, at another instant however coarse the file system's clock is."""
    before = prices.path.stat().st_mtime_ns
    prices.path.write_text(text)
    os.utime(prices.path, ns=(before + 10**9, before + 10**9))
    prices.step(START)


def a_step(store, prices):
    from billing.configuration import BillingSection

    return RatingStep(store=lambda: store, prices=prices, settings=BillingSection().cost_book(), every=EVERY)


def finish(step, now):
    """Step until nothing is left of what is due at `now`, and return how many steps it took."""
    for number in range(1, 100):
        step.step(now)
        if step._rest is None:
            return number
    raise AssertionError("it goes on and on")


def test_ended_hours_are_rated_once_an_interval_and_late_rows_with_the_next(store, prices):
    step = a_step(store, prices)
    feed(store, [gateway(10, 5, 1)])
    feed(store, [gateway(2 * 86400, 5, 2)])
    assert finish(step, START) > 2
    once = owed(store, "acme")
    assert once > 0
    assert len(whole_ratings(store, store.watermark())) == 1
    feed(store, [gateway(20, 5, 3)])
    step.step(START + EVERY - timedelta(seconds=1))
    assert owed(store, "acme") == once
    finish(step, START + EVERY)
    assert owed(store, "acme") > once


def test_a_rating_that_fails_is_said_stops_no_other_step_and_is_tried_again(store, prices, monkeypatch):
    step, others = a_step(store, prices), []

    class Other:
        def step(self, now):
            others.append(now)

    class Going:
        def is_set(self):
            return False

    passes = Passes()
    passes.add("rating", step)
    passes.add("other", Other())

    def failing():
        (found,) = [
            each.value for each in passes.figures()
            if each.name == "fairclock_evaluator_failing" and each.labels == {"step": "rating"}
        ]  # fmt: skip
        return bool(found)

    def fails(*_, **__):
        raise StoreError("here", "broke", remedy="look")

    feed(store, [gateway(30, 5, 4)])
    with monkeypatch.context() as patch:
        patch.setattr(ledger_rating, "usages_of", fails)
        for number in range(3):
            passes.run(START + timedelta(seconds=5 * number), Going())
            assert failing()
    assert len(others) == 3
    passes.run(START + EVERY, Going())
    assert not failing()


def test_the_book_is_read_again_when_its_file_changes_and_stays_in_force_when_it_breaks(prices):
    limits = KnownLimits(prices.book)
    prices.tell(limits.go_by)
    first = prices.book
    rewritten(prices, BOOK.read_text().replace("base_fee: 0.0002", "base_fee: 0.0003"))
    second = prices.book
    assert second.file_sha256 != first.file_sha256
    assert limits.book is second
    rewritten(prices, "no: book\n")
    assert prices.book is second
    assert [each.value for each in prices.figures()] == [True]
    prices.path.unlink()
    prices.step(START)
    assert prices.book is second
    prices.path.write_text(BOOK.read_text())
    prices.step(START)
    assert prices.book.file_sha256 == first.file_sha256
    assert [each.value for each in prices.figures()] == [False]


def test_a_wrong_book_keeps_it_from_starting(tmp_path):
    with pytest.raises(PriceBookError, match="no such file"):
        FollowedPrices.reading(tmp_path / "none.yaml")
