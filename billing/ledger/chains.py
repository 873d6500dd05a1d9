"""Own the chain: the order of a tenant's entries, which of two rivals holds, and what no longer fits.

Two who add to one chain at once both continue the same entry. The one whose row was stored first holds; the rows of the
other, and whatever it built on them, are void, and are made anew. Nothing has to be locked, and nothing is removed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from billing.ledger.entries import NO_HASH, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from billing.ledger.entries import Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How far a chain reaches: the sequence and hash of its last entry."""

    sequence: int = 0
    hash: str = NO_HASH


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What of a stored entry decides its place."""

    tenant: str
    sequence: int
    previous: str
    hash: str
    stored_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """One tenant's entries that hold, in order, and the hashes of those that lie beside them."""

    links: tuple[Link, ...]
    beside: frozenset[str]

    @property
    def head(self) -> Head:
        """Return how far the chain reaches."""
        return Head(sequence=self.links[-1].sequence, hash=self.links[-1].hash) if self.links else Head()


def sealed(drafts: Iterable[Draft], heads: Mapping[str, Head]) -> list[Entry]:
    """Return `drafts`, in their order, as entries that continue each tenant's chain."""
    now = dict(heads)
    entries = []
    for draft in drafts:
        head = now.get(draft.tenant, Head())
        entry = Entry(draft=draft, sequence=head.sequence + 1, previous=head.hash)
        now[draft.tenant] = Head(sequence=entry.sequence, hash=entry.hash())
        entries.append(entry)
    return entries


def settle(links: Iterable[Link]) -> dict[str, Settled]:
    """Return each tenant's chain; rows may come in any order and more than once."""
    by_tenant: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        by_tenant[link.tenant].append(link)
    return {tenant: _settled(found) for tenant, found in sorted(by_tenant.items())}


def _settled(links: Sequence[Link]) -> Settled:
    by_place: dict[tuple[int, str], list[Link]] = defaultdict(list)
    for link in links:
        by_place[link.sequence, link.previous].append(link)
    chain: list[Link] = []
    place = (1, NO_HASH)
    while by_place.get(place):
        first = min(by_place[place], key=lambda each: (each.stored_at, each.hash))
        chain.append(first)
        place = (first.sequence + 1, first.hash)
    held = {each.hash for each in chain}
    return Settled(links=tuple(chain), beside=frozenset(each.hash for each in links) - held)
