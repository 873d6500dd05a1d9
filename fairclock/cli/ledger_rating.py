"""Own what `fairclock ledger` rates: the hours that are asked for, else those that changed since they were rated."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.price_books import keep_versions
from billing.bookkeeping.rating import rate
from billing.ledger import write_exact
from fairclock.cli.options import instant
from fairclock.errors import UsageError
from fairclock.model import EPOCH, Interval, from_us, merge, to_us
from fairclock.store.ledger_ratings import (
    RatingState,
    keep_rating,
    rated_otherwise,
    unfinished_ratings,
    whole_ratings,
)
from fairclock.store.slices import changed_hours

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from billing.bookkeeping.price_books import BookPrices
    from billing.cost_book.settings import CostBookSettings
    from billing.ledger import Months
    from billing.usage import Usage
    from fairclock.store import Store

_HOUR = timedelta(hours=1)
_HOUR_US = 3_600_000_000
_DAYS_AT_ONCE = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What was rated, and what that added."""

    hours: int
    entries: int
    reversals: int
    net: Mapping[str, Fraction]

    def tree(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "hours": self.hours,
            "entries": self.entries,
            "reversals": self.reversals,
            "net": {currency: write_exact(amount) for currency, amount in self.net.items()},
        }

    def sentence(self) -> str:
        """Return it as a person reads it."""
        net = ", ".join(f"{write_exact(amount)} {currency}" for currency, amount in self.net.items())
        return f"{self.hours} hours rated, {self.entries} entries added, {self.reversals} of them take others back; net {net or '0'}"


def window_of(months: Months, month: str | None, start: str | None, end: str | None) -> Interval | None:
    """Return the window that the options name; None where they name none."""
    if month is not None:
        if start is not None or end is not None:
            raise UsageError("--month", "goes without --from and --to", remedy="leave one or the other out")
        return months.interval(month)
    if start is None and end is None:
        return None
    if start is None or end is None:
        missing = "--to" if end is None else "--from"
        raise UsageError(missing, "is missing", remedy="a range needs both ends")
    first, last = instant(start, where="--from"), instant(end, where="--to")
    if to_us(first) % _HOUR_US or to_us(last) % _HOUR_US or last <= first:
        raise UsageError(
            "--from",
            "no range of whole hours",
            found=f"{start} to {end}",
            remedy="name the hours' starts, the later one as --to",
        )
    return Interval(start=first, end=last)


def rate_windows(
    store: Store, book: BookPrices, asked: Interval | None, *, settings: CostBookSettings
) -> Done:
    """Rate what is `asked` for, else every ended hour that changed since it was rated, and return what that added in all."""
    hours = entries = reversals = 0
    net: dict[str, Fraction] = {}
    for done in rated_pieces(store, book, asked, settings=settings):
        hours += done.hours
        entries += done.entries
        reversals += done.reversals
        for currency, amount in done.net.items():
            net[currency] = net.get(currency, Fraction(0)) + amount
    return Done(hours=hours, entries=entries, reversals=reversals, net=net)


def rated_pieces(
    store: Store,
    book: BookPrices,
    asked: Interval | None,
    *,
    settings: CostBookSettings,
    days: int = _DAYS_AT_ONCE,
) -> Iterator[Done]:
    """Rate what is `asked` for, else every ended hour that changed since it was rated, all of them under other prices; yield each `days`.

    What a rating that was killed may have left half done is rated, too, where nothing is asked for. That everything was rated is noted at the end.
    """
    as_of = store.watermark()
    unfinished = {} if asked is not None else unfinished_ratings(store, as_of)
    windows = _ended(asked, as_of) if asked is not None else _changed(store, book, as_of, unfinished.values())
    for window in (piece for each in windows for piece in _pieces(each, days)):

        def read(known: datetime, window: Interval = window) -> Sequence[Usage]:
            keep_versions(store, book.book, until=window.end)
            return usages_of(store, book, window, as_of=known, settings=settings)

        done = rate(store, read, window, as_of=as_of, prices=book, months=book.months)
        hours = -(-window.length_us // _HOUR_US)
        yield Done(hours=hours, entries=done.entries, reversals=done.reversals, net=done.net)
    if asked is None and windows:
        said = partial(keep_rating, store, as_of=as_of, prices_sha256=book.sha256)
        for rating, window in unfinished.items():
            said(window, state=RatingState.DONE, rating=rating)
        whole = Interval(start=windows[0].start, end=windows[-1].end)
        said(whole, state=RatingState.ALL)


def usages_of(
    store: Store, book: BookPrices, window: Interval, *, as_of: datetime, settings: CostBookSettings
) -> Sequence[Usage]:
    """Return what was used in `window`, cut where prices or months change."""
    from billing.usage.reading import read_usage  # noqa: PLC0415

    # a month of a half-hour zone begins within an hour, and that hour belongs to two
    cuts = sorted({window.start, window.end, *book.book.changes(window), *book.months.bounds(window)})
    found = read_usage(store, window, as_of, settings, cuts=cuts)
    return [each for each in found if window.start <= each.start < window.end]


def _changed(
    store: Store, book: BookPrices, as_of: datetime, unfinished: Iterable[Interval]
) -> list[Interval]:
    """Return the ended hours that the ledger may not speak of as it should, in order.

    They are those of which something was stored, those whose shares of GPU time that may have shifted, those that somebody rated by other prices, and
    those of ratings that are `unfinished`.
    """
    from billing.usage.reading import touched_hours  # noqa: PLC0415

    ratings = whole_ratings(store, as_of)
    same = bool(ratings) and ratings[-1]["prices_sha256"] == book.sha256
    # an hour that had not ended then is looked at again
    since = from_us(to_us(ratings[-1]["as_of"]) // _HOUR_US * _HOUR_US) if same else EPOCH
    hours = [from_us(each) for each in changed_hours(store, to_us(since), as_of)]
    changed = merge(Interval(start=each, end=each + _HOUR) for each in hours if each + _HOUR <= as_of)
    # from when that rating began: others may have come after it to an hour while it was at the next ones
    begun_at = ratings[-1]["as_of"] if same else EPOCH
    otherwise = rated_otherwise(store, as_of, since=begun_at, prices_sha256=book.sha256)
    touched = merge([*(touched_hours(store, each, as_of) for each in changed), *otherwise, *unfinished])
    return [ended for each in touched for ended in _ended(each, as_of)]


def _ended(window: Interval, as_of: datetime) -> list[Interval]:
    last = from_us(to_us(as_of) // _HOUR_US * _HOUR_US)
    return [Interval(start=window.start, end=min(window.end, last))] if window.start < last else []


def _pieces(window: Interval, days: int) -> list[Interval]:
    """Return a window in parts of so many days, cut at whole hours: what is rated at once has to fit into memory."""
    pieces = []
    start = window.start
    while start < window.end:
        later = to_us(start + timedelta(days=days)) // _HOUR_US * _HOUR_US
        end = min(window.end, from_us(later))
        pieces.append(Interval(start=start, end=end))
        start = end
    return pieces
