"""Own which rows of a contract's chain hold, and which number the next one has: gapless, whoever else adds at once.

Two who add at once both continue the same row. The one that was stored first holds; the other's is void, and is made
anew under the next number. It is the ledger's rule, and it needs neither a lock nor anything removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from billing.ledger.chains import Link, settle
from billing.ledger.entries import NO_HASH

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class Row(Protocol):
    """A row of a chain; `previous` is the `sha256` of the row that it continues."""

    @property
    def contract(self) -> str:
        """Return whose chain it is in."""

    @property
    def sequence(self) -> int:
        """Return its place, from 1."""

    @property
    def previous(self) -> str:
        """Return the hash of the row before."""

    @property
    def sha256(self) -> str:
        """Return its hash."""

    @property
    def stored_at(self) -> datetime:
        """Return when it was stored."""


R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(Generic[R]):
    """The rows of one contract that hold, in order."""

    rows: tuple[R, ...] = ()

    @property
    def next_sequence(self) -> int:
        """Return the place of the next row."""
        return len(self.rows) + 1

    @property
    def head(self) -> str:
        """Return the hash that the next row continues."""
        return self.rows[-1].sha256 if self.rows else NO_HASH


def chains_of(rows: Iterable[R]) -> dict[str, Chain[R]]:
    """Return each contract's chain; rows may come in any order, void ones and repeated ones among them."""
    found = list(rows)
    settled = settle(
        Link(
            tenant=each.contract,
            sequence=each.sequence,
            previous=each.previous,
            hash=each.sha256,
            stored_at=each.stored_at,
        )
        for each in found
    )
    first = {
        (each.contract, each.sha256): each
        for each in sorted(found, key=lambda each: each.stored_at, reverse=True)
    }
    return {
        contract: Chain(rows=tuple(first[contract, link.hash] for link in chain.links))
        for contract, chain in settled.items()
        if chain.links
    }


def chain_of(rows: Iterable[R], contract: str) -> Chain[R]:
    """Return one contract's chain; an empty one where it has none."""
    return chains_of(each for each in rows if each.contract == contract).get(contract, Chain())


def number_of(contract: str, sequence: int) -> str:
    """Return the number of a contract's report: ``acme-2026-R000001``."""
    return f"{contract}-R{sequence:06d}"
