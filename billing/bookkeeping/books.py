"""Own how the stored ledger is read, and how entries are added to it beside others who do the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from billing.ledger import (
    Anchor,
    Draft,
    Entry,
    Head,
    Link,
    PeriodState,
    Stored,
    UnreadableEntryError,
    columns_of,
    read_entry,
    sealed,
    settle,
    states,
)
from billing.ledger.entries import chained
from fairclock.errors import StoreError
from fairclock.store.ledger import (
    EntryChoice,
    entry_heads,
    entry_rows,
    keep_entries,
    keep_heads,
    last_links,
    links_of,
    noted_heads,
    wait_until_settled,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from fairclock.store.ledger import Rows

_TRIES = 8
_BATCH = 2_000
"""So few rows are one block, and so added whole or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """Every tenant's chain as it was known at `as_of`: how far it reaches, and the rows that lie beside it."""

    as_of: datetime
    heads: Mapping[str, Head]
    beside: tuple[str, ...]


def books_at(store: Rows, as_of: datetime) -> Books:
    """Read how far each tenant's chain reached at `as_of`."""
    counted = entry_heads(store, as_of)
    rivalled = [tenant for tenant, (_, rivals) in counted.items() if rivals]
    heads = {
        row["tenant"]: Head(sequence=row["sequence"], hash=row["hash"]) for row in last_links(store, as_of)
    }
    beside: list[str] = []
    if rivalled:
        for tenant, settled in settle(Link(**row) for row in links_of(store, as_of, rivalled)).items():
            heads[tenant] = settled.head
            beside += sorted(settled.beside)
    return Books(as_of=as_of, heads=heads, beside=tuple(beside))


def drafts_of(store: Rows, books: Books, choice: EntryChoice) -> dict[str, list[tuple[int, Draft]]]:
    """Return the chosen entries that hold, by tenant, each with its sequence, in order.

    Raises StoreError where one cannot be read: somebody changed it.
    """
    found: dict[str, list[tuple[int, Draft]]] = {}
    for row in entry_rows(store, books.as_of, replace(choice, beside=books.beside)):
        entry = _entry(row)
        found.setdefault(row["tenant"], []).append((entry.sequence, entry.draft))
    return found


def _entry(row: Mapping[str, Any]) -> Entry:
    problem = "its bytes do not give its hash"
    if chained(row["previous"], row["body"]) == row["hash"]:
        try:
            return read_entry(row["body"], row["previous"])
        except UnreadableEntryError as error:
            problem = str(error)
    raise StoreError(
        f"the ledger of {row['tenant']}, entry {row['sequence']}",
        "is not what was written",
        found=problem,
        remedy="run fairclock ledger verify",
    )


def known_states(store: Rows, books: Books) -> dict[str, dict[str, PeriodState]]:
    """Return, for each tenant, the months that are not open."""
    closes = drafts_of(store, books, EntryChoice(kinds=("close",)))
    return {tenant: states(draft for _, draft in found) for tenant, found in closes.items()}


def post(store: Store, plan: Callable[[Books], Sequence[Draft] | None]) -> list[Entry]:
    """Add what `plan` returns for the books as they stand, and return what was added; again where a rival came first.

    A plan that returns None is asked again, for the books as they stand then. Raises StoreError where rivals come first again and again.
    """
    added: list[Entry] = []
    for _ in range(_TRIES):
        books = books_at(store, store.watermark())
        while (drafts := plan(books)) is None:
            books = books_at(store, store.watermark())
        if not drafts:
            return added
        for batch in _batches(sealed(drafts, books.heads)):
            stamp = keep_entries(store, [columns_of(each) for each in batch])
            after = books_at(store, wait_until_settled(store, stamp))
            lost = set(after.beside)
            held = [each for each in batch if each.hash() not in lost]
            keep_heads(store, _ends(held))
            added += held
            if len(held) < len(batch):
                break
        else:
            return added
    raise StoreError(
        store.dsn,
        "others add to the ledger all the time",
        found=f"{_TRIES} times an entry of theirs came first",
        remedy="run this again once they are done; what was added is kept",
    )


def stored_rows(store: Rows, as_of: datetime, choice: EntryChoice | None = None) -> list[Stored]:
    """Return the rows as they are stored, those beside a chain too."""
    return [Stored(**row) for row in entry_rows(store, as_of, choice or EntryChoice())]


def anchors(store: Rows, as_of: datetime) -> list[Anchor]:
    """Return every end of a chain that was noted."""
    return [Anchor(*each) for each in noted_heads(store, as_of)]


def _ends(entries: Sequence[Entry]) -> list[tuple[str, int, str]]:
    last: dict[str, Any] = {each.draft.tenant: each for each in entries}
    return [(tenant, each.sequence, each.hash()) for tenant, each in last.items()]


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    rest = iter(entries)
    while batch := list(islice(rest, _BATCH)):
        yield batch
