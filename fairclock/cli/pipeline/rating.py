"""Own when ``up`` rates what was used: a day at a time, each with its own failure, and what is noted once all of them succeeded."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from billing.bookkeeping.price_books import BookPrices
from fairclock.cli.ledger_rating import Progress, call_done, hull, note_whole, rate_piece, what_is_due
from fairclock.errors import FairclockError, StoreError
from fairclock.model import from_us, to_us

if TYPE_CHECKING:
    from collections.abc import Callable

    from billing.cost_book.settings import CostBookSettings
    from fairclock.cli.ledger_rating import Due
    from fairclock.cli.pipeline.prices import FollowedPrices
    from fairclock.model import Interval
    from fairclock.store import Store

_LOG = logging.getLogger(__name__)
_DAYS_AT_ONCE = 1
_DAY_US = 86_400_000_000
_LONGEST = timedelta(hours=6)
_MOST_DOUBLINGS = 16
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedDay:
    """Hours of one day (UTC) that could not be rated; they are tried again at `again_at`, or by another price book."""

    hours: Interval
    problem: str
    tries: int
    again_at: datetime
    file_sha256: str


@dataclass(slots=True, kw_only=True)
class _Run:
    """What became due at one time: what of it is left, and by which book it is rated."""

    begun_at: datetime
    book: BookPrices
    due: Due
    left: list[Interval]


@dataclass(slots=True, kw_only=True)
class RatingStep:
    """Rate the ended hours that changed, every so often; a day of them at most in a pass, so that alerts do not wait for a month.

    A day that cannot be rated stops no other. It is tried again after `every`, then after twice as long each time, up to six hours; meanwhile
    what became due later is rated, and that everything was rated is noted once nothing is left that failed.
    """

    store: Callable[[], Store]
    prices: FollowedPrices
    settings: CostBookSettings
    every: timedelta
    _begun_at: datetime | None = None
    _run: _Run | None = None
    _failed: dict[datetime, FailedDay] = field(default_factory=dict)
    _rated: list[Interval] = field(default_factory=list)
    _progress: Progress | None = None
    _problem: Exception | None = None

    def step(self, now: datetime) -> None:
        """Rate what is due. Raises what keeps it from it, or names the days that failed, in every pass until they were rated."""
        if self._run is None and self._is_time(now):
            self._begun_at, self._problem = now, None
            try:
                self._run = self._begin(now)
            except Exception as error:
                self._problem = error
                raise
        if self._problem is not None:
            raise self._problem
        if self._run is not None:
            self._go_on(self._run)
        if self._failed:
            raise self._failure()

    def _is_time(self, now: datetime) -> bool:
        return self._begun_at is None or not timedelta() <= now - self._begun_at < self.every

    def _begin(self, now: datetime) -> _Run:
        book = BookPrices(self.prices.book)
        due = what_is_due(
            self.store(), book, None, days=_DAYS_AT_ONCE, progress=self._progress, leaves_others_alone=True
        )
        days: dict[datetime, Interval] = {}
        known = [each.hours for each in self._failed.values()]
        for piece in (*due.pieces, *known):
            day = _day(piece)
            days[day] = hull([days[day], piece]) if day in days else piece
        left = []
        for day, hours in sorted(days.items()):
            failed = self._failed.get(day)
            if failed is None or now >= failed.again_at or failed.file_sha256 != book.book.file_sha256:
                left.append(hours)
            else:
                self._failed[day] = replace(failed, hours=hours)
        return _Run(begun_at=now, book=book, due=due, left=left)

    def _go_on(self, run: _Run) -> None:
        """Rate the next day; once none is left, note how far that came."""
        if run.left:
            self._rate(run, run.left.pop(0))
            return
        self._run = None
        self._progress = Progress(as_of=run.due.as_of, prices_sha256=run.book.sha256)
        failed = [each.hours for each in self._failed.values()]
        made_up_for = {
            rating: window
            for rating, window in run.due.abandoned.items()
            if not any(window.start < each.end and each.start < window.end for each in failed)
        }
        call_done(self.store(), run.book, made_up_for, as_of=run.due.as_of)
        if self._rated and not failed:
            note_whole(self.store(), run.book, hull(self._rated), as_of=run.due.as_of)
            self._rated, self._progress = [], None

    def _rate(self, run: _Run, hours: Interval) -> None:
        day = _day(hours)
        before = self._failed.get(day)
        try:
            done = rate_piece(self.store(), run.book, hours, as_of=run.due.as_of, settings=self.settings)
        # whatever it is, the other days are rated
        except Exception as error:  # noqa: BLE001
            said = str(error) if isinstance(error, FairclockError) else f"{type(error).__name__}: {error}"
            tries = 1 if before is None else before.tries + 1
            wait = min(self.every * 2 ** min(tries - 1, _MOST_DOUBLINGS), max(_LONGEST, self.every))
            self._failed[day] = FailedDay(
                hours=hours,
                problem=said,
                tries=tries,
                again_at=run.begun_at + wait,
                file_sha256=run.book.book.file_sha256,
            )
            if not isinstance(error, FairclockError):
                _LOG.warning("ledger: %s could not be rated", f"{day:%Y-%m-%d}", exc_info=error)
            return
        self._rated = [hull([*self._rated, hours])]
        self._failed.pop(day, None)
        if before is not None:
            _LOG.info("ledger: %s is rated, at try %d", f"{day:%Y-%m-%d}", before.tries + 1)
        if done.entries:
            _LOG.info("ledger: %s", done.sentence())

    def _failure(self) -> StoreError:
        days = [
            f"{day:%Y-%m-%d} (UTC), tries: {each.tries}, next at {each.again_at:%Y-%m-%d %H:%M} UTC: {each.problem}"
            for day, each in sorted(self._failed.items())
        ]
        return StoreError(
            "ledger",
            f"{len(days)} days cannot be rated" if len(days) > 1 else "one day cannot be rated",
            found="; ".join(days[:_MOST_NAMED])
            + (f"; and {len(days) - _MOST_NAMED} more" if len(days) > _MOST_NAMED else ""),
            remedy="the others are rated; put right what is named, and it is tried again by itself",
        )


def _day(hours: Interval) -> datetime:
    return from_us(to_us(hours.start) // _DAY_US * _DAY_US)
