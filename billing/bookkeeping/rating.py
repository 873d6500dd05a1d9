"""Own rating: bring the ledger to say what was used in some hours, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.bookkeeping.adjusting import readjusted
from billing.bookkeeping.books import Books, drafts_of, known_states, post
from billing.bookkeeping.readings import Reading
from billing.ledger import Draft, EntryKind, Standing, differences, targets
from fairclock.errors import StoreError
from fairclock.store.ledger import EntryChoice, entry_outlines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from billing.bookkeeping.adjusting import Prices
    from billing.ledger import Entry, Months
    from billing.usage import Usage
    from fairclock.model import Interval
    from fairclock.store import Store

_ZERO = Fraction(0)
_TRIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What rating added: entries, how many of them take others back, and the change of what is owed, by currency."""

    entries: int
    reversals: int
    net: Mapping[str, Fraction]


def rate(
    store: Store,
    read: Callable[[datetime], Sequence[Usage]],
    window: Interval,
    *,
    as_of: datetime,
    prices: Prices,
    months: Months,
) -> Rating:
    """Make the ledger say what was received in `window`, all of which `read` returns as it was known at `as_of`; what it says already stays.

    Where others rate some of it who read later, it is read again as they did, so that the ledger says in the end what was known last. In a month that is closed as a draft the adjustments are brought up to date; what is about a final month is booked in the next one.
    Raises StoreError where others come first again and again.
    """
    labels = {months.label(each) for each in (window.start, *months.bounds(window))}
    reading = Reading(store=store, window=window, as_of=as_of, prices_sha256=prices.sha256)

    def begun() -> list[Draft]:
        reading.begin()
        return targets(read(reading.as_of), prices.rate, months)

    wanted = begun()

    def plan(books: Books) -> list[Draft] | None:
        nonlocal wanted
        if reading.is_outdated(books.as_of):
            wanted = begun()
            return None
        known = known_states(store, books)
        compared = _compared(store, books, wanted, window)
        drafts = differences(compared.new, compared.gone, known)
        spoken_of = compared.tenants | {each.tenant for each in wanted}
        touched = {(tenant, label) for tenant in spoken_of for label in labels}
        return [
            *drafts,
            *readjusted(store, books, drafts, touched, known=known, prices=prices, months=months),
        ]

    added = post(store, plan)
    for _ in range(_TRIES):
        # whoever read later and looked at the ledger before this was added did not see it
        if not reading.is_outdated(store.watermark()):
            reading.done()
            return summary(added)
        added += post(store, plan)
    raise StoreError(
        store.dsn,
        "others rate the same hours all the time",
        found=f"{_TRIES} times somebody read later",
        remedy="run this again once they are done",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """Which entries are wanted and not there, which are there and not wanted, and whom the ledger speaks of at all."""

    new: list[Draft]
    gone: list[Standing]
    tenants: frozenset[str]


def _compared(store: Store, books: Books, wanted: Sequence[Draft], window: Interval) -> _Compared:
    """Compare the ledger with what is wanted of it; only bodies of entries that are not wanted are read."""
    choice = EntryChoice(kinds=("usage", "reversal"), within=window, beside=books.beside)
    outlines = entry_outlines(store, books.as_of, choice)
    taken_back = {
        (tenant, reverses) for tenant, _, kind, _, reverses in outlines if kind == EntryKind.REVERSAL
    }
    there: dict[str, list[tuple[str, int]]] = {}
    for tenant, sequence, kind, content, _ in outlines:
        if kind == EntryKind.USAGE and (tenant, sequence) not in taken_back:
            there.setdefault(content, []).append((tenant, sequence))
    new = []
    for draft in wanted:
        same = there.get(draft.content_sha256())
        if same:
            same.pop()
        else:
            new.append(draft)
    gone: dict[str, list[int]] = {}
    for places in there.values():
        for tenant, sequence in places:
            gone.setdefault(tenant, []).append(sequence)
    standing = [
        Standing(sequence=sequence, draft=draft)
        for tenant, sequences in sorted(gone.items())
        for found in drafts_of(
            store, books, EntryChoice(tenants=(tenant,), sequences=tuple(sequences))
        ).values()
        for sequence, draft in found
    ]
    return _Compared(new=new, gone=standing, tenants=frozenset(tenant for tenant, *_ in outlines))


def summary(entries: Iterable[Entry]) -> Rating:
    """Return how many entries there are, and what they change."""
    net: dict[str, Fraction] = {}
    count = reversals = 0
    for each in entries:
        count += 1
        reversals += each.draft.kind is EntryKind.REVERSAL
        net[each.draft.currency] = net.get(each.draft.currency, _ZERO) + each.draft.amount
    return Rating(entries=count, reversals=reversals, net={key: net[key] for key in sorted(net)})
