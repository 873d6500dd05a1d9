"""Own the rows that say which hours somebody rates, or has rated, and as of when the usage was read.

A rating is said twice: ``begun`` before it looks at the ledger, again whenever it reads the usage anew, and ``done``. ``all`` says that every
hour which had changed by `as_of` was rated.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from fairclock.model import Interval, to_us
from fairclock.store.ledger import RATING_COLUMNS, keep_row, money_rows
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from fairclock.store import Store
    from fairclock.store.ledger import Rows

_KNOWN = "stored_at <= fromUnixTimestamp64Micro({known:Int64}, 'UTC')"


class RatingState(StrEnum):
    """What a row says."""

    BEGUN = "begun"
    DONE = "done"
    ALL = "all"


def keep_rating(
    store: Store,
    window: Interval,
    *,
    state: RatingState,
    as_of: datetime,
    prices_sha256: str,
    rating: str = "",
) -> datetime:
    """Say that `window` is rated, or was, with usage as it was known at `as_of`; return the row's ``stored_at``."""
    row = {
        "as_of": as_of,
        "starts_at": window.start,
        "ends_at": window.end,
        "prices_sha256": prices_sha256,
        "rating": rating,
        "state": str(state),
    }
    return keep_row(store, "ledger_ratings", row)


def whole_ratings(store: Rows, as_of: datetime) -> list[dict[str, Any]]:
    """Return the rows that every changed hour was rated, as known at `as_of`, in the order they were stored."""
    return money_rows(store, "ledger_ratings", RATING_COLUMNS, as_of, state=str(RatingState.ALL))


def newest_reading(store: Rows, window: Interval, as_of: datetime, *, but: str) -> datetime:
    """Return the latest instant as of which anybody rates some of `window`, all but the rating `but`; 1970 where nobody does."""
    found = store.rows(
        Query(
            sql=f"SELECT max(as_of) FROM ledger_ratings WHERE {_KNOWN} AND state = 'begun' AND rating != {{but:String}}"
            " AND starts_at < fromUnixTimestamp64Micro({to:Int64}, 'UTC')"
            " AND ends_at > fromUnixTimestamp64Micro({from:Int64}, 'UTC')",
            parameters={
                "known": to_us(as_of),
                "but": but,
                "from": to_us(window.start),
                "to": to_us(window.end),
            },
        )
    )
    newest: datetime = found[0][0]
    return newest


def unfinished_ratings(
    store: Rows, as_of: datetime, *, begun_before: datetime | None = None
) -> Mapping[str, Interval]:
    """Return what ratings that were begun and are not done are of; one that began again after somebody called it done is not.

    begun_before: only those that said so last before then.
    """
    found = store.rows(
        Query(
            sql=f"SELECT rating, min(starts_at), max(ends_at) FROM ledger_ratings WHERE {_KNOWN} AND state IN ('begun', 'done')"
            " GROUP BY rating HAVING maxIf(stored_at, state = 'begun') > maxIf(stored_at, state = 'done')"
            " AND maxIf(stored_at, state = 'begun') <= fromUnixTimestamp64Micro({before:Int64}, 'UTC') ORDER BY rating",
            parameters={
                "known": to_us(as_of),
                "before": to_us(as_of if begun_before is None else begun_before),
            },
        )
    )
    return {str(rating): Interval(start=start, end=end) for rating, start, end in found}


def rated_otherwise(store: Rows, as_of: datetime, *, since: datetime, prices_sha256: str) -> list[Interval]:
    """Return what was rated by other prices than these, by ratings that began after `since`."""
    found = store.rows(
        Query(
            sql=f"SELECT DISTINCT starts_at, ends_at FROM ledger_ratings WHERE {_KNOWN} AND state = 'begun'"
            " AND prices_sha256 != {prices:String} AND stored_at > fromUnixTimestamp64Micro({since:Int64}, 'UTC')"
            " ORDER BY starts_at, ends_at",
            parameters={"known": to_us(as_of), "prices": prices_sha256, "since": to_us(since)},
        )
    )
    return [Interval(start=start, end=end) for start, end in found]
