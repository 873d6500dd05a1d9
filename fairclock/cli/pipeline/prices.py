"""Own the price book that ``up`` rates by: read at its start, and again where its file changes."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from billing.prices.loading import load_price_book
from exporters.prometheus import Figure
from fairclock.errors import PriceBookError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from billing.prices.book import PriceBook

_LOG = logging.getLogger(__name__)
_Seen = tuple[int, int, int, int]


@dataclass(slots=True)
class FollowedPrices:
    """The price book ``billing.prices``; what a broken or missing file last said stays in force."""

    path: Path
    book: PriceBook
    _seen: _Seen
    _problem: str = ""
    _told: list[Callable[[PriceBook], None]] = field(default_factory=list)

    @classmethod
    def reading(cls, path: Path) -> FollowedPrices:
        """Read the book; PriceBookError names what is wrong with it."""
        seen = _look(path)
        return cls(path, load_price_book(path), seen)

    def tell(self, told: Callable[[PriceBook], None]) -> None:
        """Call `told` with each book that is read from now on."""
        self._told.append(told)

    def step(self, now: datetime) -> None:
        """Read the file again where it changed; costs a stat where it did not."""
        del now
        # looked at before it is read: a change meanwhile is seen by the next pass
        seen = _look(self.path)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            book = load_price_book(self.path)
        except PriceBookError as error:
            self._problem = str(error)
            _LOG.warning("the prices that it said before stay in force: %s", error)
            return
        if book.file_sha256 != self.book.file_sha256 or self._problem:
            _LOG.info("read %s again", self.path)
        self.book, self._problem = book, ""
        for told in self._told:
            told(book)

    def figures(self) -> Iterator[Figure]:
        """Yield whether the file is broken."""
        yield Figure(
            name="fairclock_price_book_broken",
            about="1 while the price book is broken or gone, and what it said before stays in force.",
            value=bool(self._problem), labels={"path": str(self.path)},
        )  # fmt: skip


def _look(path: Path) -> _Seen:
    """Return what tells one state of a file from another."""
    try:
        found = path.stat()
    except OSError as error:
        return (-1, error.errno or 0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
