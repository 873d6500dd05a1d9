"""Own what `fairclock ledger` rates: the hours that are asked for, else those that changed since they were rated."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
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
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from billing.bookkeeping.price_books import BookPrices
    from billing.cost_book.settings import CostBookSettings
    from billing.ledger import Months
    from billing.usage import Usage
    from fairclock.store import Store

_HOUR = timedelta(hours=1)
_HOUR_US = 3_600_000_000
_DAY_US = 24 * _HOUR_US
_DAYS_AT_ONCE = 7
OTHERS_LIVE = timedelta(hours=1)
"""A rater whose last word is older than this is taken for killed; one that lives after all says that it begins again, and is rated again."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Up to when all that had changed is rated by prices of this hash, but for what whoever says so still has to rate."""

    as_of: datetime
    prices_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What has to be rated, in pieces, as known at `as_of`; `abandoned` are ratings that it makes up for, by their id."""

    as_of: datetime
    pieces: tuple[Interval, ...]
    abandoned: Mapping[str, Interval]


def rate_windows(
    store: Store, book: BookPrices, asked: Interval | None, *, settings: CostBookSettings
) -> Done:
    """Rate what is `asked` for, else every ended hour that changed since it was rated, and return what that added in all.

    What a rating that was killed may have left half done is rated, too, where nothing is asked for. That everything was rated is noted at the end.
    """
    hours = entries = reversals = 0
    net: dict[str, Fraction] = {}
    due = what_is_due(store, book, asked)
    for piece in due.pieces:
        done = rate_piece(store, book, piece, as_of=due.as_of, settings=settings)
        hours += done.hours
        entries += done.entries
        reversals += done.reversals
        for currency, amount in done.net.items():
            net[currency] = net.get(currency, Fraction(0)) + amount
    if asked is None and due.pieces:
        call_done(store, book, due.abandoned, as_of=due.as_of)
        note_whole(store, book, hull(due.pieces), as_of=due.as_of)
    return Done(hours=hours, entries=entries, reversals=reversals, net=net)


def what_is_due(
    store: Store,
    book: BookPrices,
    asked: Interval | None,
    *,
    days: int = _DAYS_AT_ONCE,
    progress: Progress | None = None,
    leaves_others_alone: bool = False,
) -> Due:
    """Return what is `asked` for, else every ended hour that changed since it was rated, all of them under other prices, in pieces of so many `days`.

    progress: how far the caller came itself, where that is later than what is noted. What others began less than `OTHERS_LIVE` ago is not called abandoned,
    since they may be at it still; it is rated all the same, unless the caller `leaves_others_alone`.
    """
    as_of = store.watermark()
    if asked is not None:
        windows = _ended(asked, as_of)
        abandoned: Mapping[str, Interval] = {}
    else:
        abandoned = unfinished_ratings(store, as_of, begun_before=as_of - OTHERS_LIVE)
        unfinished = abandoned if leaves_others_alone else unfinished_ratings(store, as_of)
        windows = _changed(store, book, as_of, unfinished.values(), progress)
    pieces = tuple(piece for each in windows for piece in _pieces(each, days))
    return Due(as_of=as_of, pieces=pieces, abandoned=abandoned)


def rate_piece(
    store: Store, book: BookPrices, window: Interval, *, as_of: datetime, settings: CostBookSettings
) -> Done:
    """Rate the hours of `window` as they were known at `as_of`."""

    def read(known: datetime) -> Sequence[Usage]:
        keep_versions(store, book.book, until=window.end)
        return usages_of(store, book, window, as_of=known, settings=settings)

    done = rate(store, read, window, as_of=as_of, prices=book, months=book.months)
    hours = -(-window.length_us // _HOUR_US)
    return Done(hours=hours, entries=done.entries, reversals=done.reversals, net=done.net)


def call_done(store: Store, book: BookPrices, abandoned: Mapping[str, Interval], *, as_of: datetime) -> None:
    """Say that what others left half done was rated for them."""
    for rating, window in abandoned.items():
        keep_rating(
            store, window, state=RatingState.DONE, as_of=as_of, prices_sha256=book.sha256, rating=rating
        )


def note_whole(store: Store, book: BookPrices, window: Interval, *, as_of: datetime) -> None:
    """Say that every hour which had changed by `as_of` was rated."""
    keep_rating(store, window, state=RatingState.ALL, as_of=as_of, prices_sha256=book.sha256)


def hull(pieces: Sequence[Interval]) -> Interval:
    """Return the interval from the first piece to the last."""
    return Interval(start=min(each.start for each in pieces), end=max(each.end for each in pieces))


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
    store: Store,
    book: BookPrices,
    as_of: datetime,
    unfinished: Iterable[Interval],
    progress: Progress | None,
) -> list[Interval]:
    """Return the ended hours that the ledger may not speak of as it should, in order.

    They are those of which something was stored, those whose shares of GPU time that may have shifted, those that somebody rated by other prices, and
    those of ratings that are `unfinished`.
    """
    from billing.usage.reading import touched_hours  # noqa: PLC0415

    # from when that rating began: others may have come after it to an hour while it was at the next ones
    begun_at = _rated_to(store, book, as_of, progress)
    # an hour that had not ended then is looked at again
    since = from_us(to_us(begun_at) // _HOUR_US * _HOUR_US)
    hours = [from_us(each) for each in changed_hours(store, to_us(since), as_of)]
    changed = merge(Interval(start=each, end=each + _HOUR) for each in hours if each + _HOUR <= as_of)
    otherwise = rated_otherwise(store, as_of, since=begun_at, prices_sha256=book.sha256)
    touched = merge([*(touched_hours(store, each, as_of) for each in changed), *otherwise, *unfinished])
    return [ended for each in touched for ended in _ended(each, as_of)]


def _rated_to(store: Store, book: BookPrices, as_of: datetime, progress: Progress | None) -> datetime:
    """Return the instant up to which everything was rated by these prices; 1970 where nothing was, or others came after them."""
    ratings = whole_ratings(store, as_of)
    same = bool(ratings) and ratings[-1]["prices_sha256"] == book.sha256
    noted: datetime = ratings[-1]["as_of"] if same else EPOCH
    if progress is None or progress.prices_sha256 != book.sha256:
        return noted
    others_since = bool(ratings) and not same and ratings[-1]["stored_at"] > progress.as_of
    return noted if others_since else max(noted, progress.as_of)


def _ended(window: Interval, as_of: datetime) -> list[Interval]:
    last = from_us(to_us(as_of) // _HOUR_US * _HOUR_US)
    return [Interval(start=window.start, end=min(window.end, last))] if window.start < last else []


def _pieces(window: Interval, days: int) -> list[Interval]:
    """Return a window cut where every so many days (UTC) end: what is rated at once has to fit into memory."""
    pieces = []
    start = window.start
    while start < window.end:
        end = min(window.end, from_us((to_us(start) // _DAY_US + days) * _DAY_US))
        pieces.append(Interval(start=start, end=end))
        start = end
    return pieces
