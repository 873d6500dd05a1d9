"""Own what a rater says of itself before it adds anything: what it rates, and as of when it read the usage.

Of two who rate the same hours the one that read later is right. A rater says that it begins before it looks at the ledger, and looks for
later ones before it adds and after it: so either the later one saw what the earlier one added, or the earlier one sees the later one.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairclock.store.ledger import wait_until_settled
from fairclock.store.ledger_ratings import RatingState, keep_rating, newest_reading

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store


@dataclass(slots=True, kw_only=True)
class Reading:
    """One rating of `window`, with usage as it was known at `as_of`."""

    store: Store
    window: Interval
    as_of: datetime
    prices_sha256: str
    _rating: str = field(default_factory=lambda: uuid.uuid4().hex)

    def begin(self) -> None:
        """Say that the rating begins, so that whoever adds to the ledger from now on knows of it; as of the latest that others read as of.

        As of one instant all read the same, so that raters who meet come to agree and do not overtake each other for ever.
        """
        self.as_of = max(self.as_of, self._newest(self.store.watermark()))
        wait_until_settled(self.store, self._say(RatingState.BEGUN))

    def is_outdated(self, known: datetime) -> bool:
        """Tell whether somebody who read later had begun by `known`."""
        return self._newest(known) > self.as_of

    def done(self) -> None:
        """Say that the ledger says what was read."""
        self._say(RatingState.DONE)

    def _newest(self, known: datetime) -> datetime:
        return newest_reading(self.store, self.window, known, but=self._rating)

    def _say(self, state: RatingState) -> datetime:
        return keep_rating(
            self.store,
            self.window,
            state=state,
            as_of=self.as_of,
            prices_sha256=self.prices_sha256,
            rating=self._rating,
        )
