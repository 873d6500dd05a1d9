"""``up`` rates ended hours by itself, every so often, a day at a time, by the price book as its file is; what fails is said and tried again."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from billing.bookkeeping.limits import KnownLimits
from billing.bookkeeping.price_books import BookPrices
from fairclock.cli import ledger_rating
from fairclock.cli.ledger_rating import Progress, what_is_due
from fairclock.cli.pipeline.passes import Passes
from fairclock.cli.pipeline.prices import FollowedPrices
from fairclock.cli.pipeline.rating import RatingStep
from fairclock.errors import PriceBookError, StoreError
from fairclock.model import Interval
from fairclock.store.ledger_ratings import RatingState, keep_rating, unfinished_ratings, whole_ratings
from tests.cost_book.traffic import HOUR, feed, gateway
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
        with suppress(StoreError):
            step.step(now)
        if step._run is None:
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
    for _ in range(3):
        passes.run(START + EVERY, Going())
    assert not failing()


def test_a_day_that_cannot_be_rated_stops_no_other_and_is_tried_less_and_less_often(
    store, prices, monkeypatch
):
    step, tried = a_step(store, prices), []
    usages_of = ledger_rating.usages_of
    feed(store, [gateway(4 * 86400, 5, 50), gateway(5 * 86400, 5, 51), gateway(6 * 86400, 5, 52)])
    bad = f"{HOUR + timedelta(days=5):%Y-%m-%d}"

    def fails_of_one(store, book, window, **others):
        if f"{window.start:%Y-%m-%d}" == bad:
            tried.append(window)
            raise StoreError("here", "broke", remedy="look")
        return usages_of(store, book, window, **others)

    before, noted = owed(store, "acme"), len(whole_ratings(store, store.watermark()))
    with monkeypatch.context() as patch:
        patch.setattr(ledger_rating, "usages_of", fails_of_one)
        finish(step, START)
        others = owed(store, "acme")
        assert others > before
        counts = []
        for number in range(1, 8):
            finish(step, START + number * EVERY)
            counts.append(len(tried))
        # after 10, 20 and 40 minutes
        assert counts == [2, 2, 3, 3, 3, 3, 4]
        with pytest.raises(StoreError, match=rf"one day cannot be rated .{bad} .UTC., tries: 4, .*broke"):
            step.step(START + 7 * EVERY)
        # another day has its late rows rated meanwhile
        feed(store, [gateway(6 * 86400 + 7200, 5, 53)])
        finish(step, START + 8 * EVERY)
        assert owed(store, "acme") > others
        others = owed(store, "acme")
        assert len(whole_ratings(store, store.watermark())) == noted
        # what was rated is not rated again for the sake of the day that was not
        book, later = BookPrices(prices.book), store.watermark() + timedelta(hours=2)
        so_far = Progress(as_of=later, prices_sha256=step._progress.prices_sha256)
        assert what_is_due(store, book, None).pieces
        assert not what_is_due(store, book, None, progress=so_far, leaves_others_alone=True).pieces
    finish(step, START + 15 * EVERY)
    step.step(START + 15 * EVERY)
    assert owed(store, "acme") > others
    assert len(whole_ratings(store, store.watermark())) == noted + 1


def test_what_others_began_is_left_to_them_for_an_hour_and_then_made_up_for(store, prices, monkeypatch):
    step = a_step(store, prices)
    finish(step, START)
    window = Interval(start=START, end=START + timedelta(hours=1))
    begun = keep_rating(
        store, window, state=RatingState.BEGUN, as_of=store.watermark(), prices_sha256="", rating="alive"
    )

    def at_an_instant(after):
        with monkeypatch.context() as patch:
            patch.setattr(ledger_rating, "OTHERS_LIVE", store.watermark() - begun - after)
            finish(a_step(store, prices), START)
        return "alive" in unfinished_ratings(store, store.watermark())

    assert at_an_instant(-timedelta(hours=1))
    assert not at_an_instant(timedelta())


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
