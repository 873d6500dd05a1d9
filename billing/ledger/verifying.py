"""Own what is wrong with a ledger, and where: anything changed, taken out, put in, or put elsewhere."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from billing.ledger.chains import Link, settle
from billing.ledger.entries import NO_HASH, Entry, EntryKind, chained
from billing.ledger.exact import write_exact
from billing.ledger.periods import booked_in, states
from billing.ledger.reading import UnreadableEntryError, read_entry
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from billing.ledger.entries import Draft
    from billing.ledger.periods import PeriodState

_LONGEST = 40
_AS_TAKEN_BACK = {
    "tenant": "its tenant",
    "currency": "its currency",
    "price_version": "its version of the prices",
    "start": "its beginning",
    "end": "its end",
    "about": "the month it is about",
    "period": "the month it is booked in",
    "subject": "its subject",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One row as it is stored, or as a copy has it; the columns repeat what the body says."""

    tenant: str
    sequence: int
    kind: str
    starts_at: datetime
    ends_at: datetime
    period: str
    about: str
    price_version: str
    currency: str
    amount: str
    content: str
    reverses: int
    previous: str
    hash: str
    body: bytes
    stored_at: datetime

    @property
    def link(self) -> Link:
        """Return what decides the row's place."""
        return Link(
            tenant=self.tenant,
            sequence=self.sequence,
            previous=self.previous,
            hash=self.hash,
            stored_at=self.stored_at,
        )


class Anchor(NamedTuple):
    """That a tenant's chain once ended at `sequence` with the entry of this `hash`."""

    tenant: str
    sequence: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong at one place of a tenant's chain; `sequence` 0 where it is the chain as a whole."""

    tenant: str
    sequence: int
    problem: str

    def __str__(self) -> str:
        where = f"{self.tenant}: entry {self.sequence}" if self.sequence else self.tenant
        return f"{where}: {self.problem}"


def columns_of(entry: Entry) -> dict[str, object]:
    """Return what the columns of an entry's row say, all but `stored_at`."""
    draft = entry.draft
    return {
        "tenant": draft.tenant,
        "sequence": entry.sequence,
        "kind": str(draft.kind),
        "starts_at": draft.start,
        "ends_at": draft.end,
        "period": draft.period,
        "about": draft.about,
        "price_version": draft.price_version,
        "currency": draft.currency,
        "amount": write_exact(draft.amount),
        "content": draft.content_sha256(),
        "reverses": entry.draft.reverses,
        "previous": entry.previous,
        "hash": entry.hash(),
        "body": entry.body(),
    }


def verify(rows: Iterable[Stored], anchors: Iterable[Anchor] = ()) -> list[Fault]:
    """Return every fault of a ledger, by tenant and place; none for one that nobody touched.

    `anchors` are ends that were noted when entries were added; without them, what is cut off a chain's end is not missed.
    """
    by_tenant: dict[str, list[Stored]] = defaultdict(list)
    for row in rows:
        by_tenant[row.tenant].append(row)
    ends: dict[str, list[Anchor]] = defaultdict(list)
    for anchor in anchors:
        ends[anchor.tenant].append(anchor)
    faults: list[Fault] = []
    for tenant in sorted({*by_tenant, *ends}):
        found = dict.fromkeys(_of_tenant(tenant, by_tenant[tenant], ends[tenant]))
        faults += sorted(found, key=lambda each: each.sequence)
    return faults


def _of_tenant(tenant: str, rows: Sequence[Stored], anchors: Sequence[Anchor]) -> Iterator[Fault]:
    by_sequence: dict[int, list[Stored]] = defaultdict(list)
    entries: dict[str, Entry] = {}
    for row in rows:
        by_sequence[row.sequence].append(row)
        problem = _row_problem(row, entries)
        if problem:
            yield Fault(tenant=tenant, sequence=row.sequence, problem=problem)
    settled = settle(row.link for row in rows)[tenant] if rows else None
    held = {} if settled is None else {link.hash: link for link in settled.links}
    yield from _order_faults(tenant, settled.links if settled else ())
    yield from _taken_back_faults(tenant, [entries[each] for each in held if each in entries])
    yield from _break_faults(tenant, by_sequence, held)
    yield from _missed(tenant, by_sequence, held, anchors)


def _row_problem(row: Stored, entries: dict[str, Entry]) -> str | None:
    """Return what is wrong with one row by itself; a sound one is added to `entries`."""
    if chained(row.previous, row.body) != row.hash:
        return "its bytes or its link were changed: they do not give its hash"
    try:
        entry = read_entry(row.body, row.previous)
    except UnreadableEntryError as error:
        return f"its bytes were replaced: {error}"
    said = columns_of(entry)
    wrong = [name for name, value in said.items() if getattr(row, name) != value]
    if wrong:
        return f"its column {wrong[0]} was changed: it says {_text(getattr(row, wrong[0]))}, its bytes say {_text(said[wrong[0]])}"
    entries[row.hash] = entry
    return None


def _order_faults(tenant: str, links: Sequence[Link]) -> Iterator[Fault]:
    before: Link | None = None
    for link in links:
        if before is not None and link.stored_at < before.stored_at:
            yield Fault(
                tenant=tenant,
                sequence=link.sequence,
                problem=f"its stored_at {utc_text(link.stored_at)} lies before that of the entry it follows",
            )
        before = link


def _taken_back_faults(tenant: str, entries: Sequence[Entry]) -> Iterator[Fault]:
    """Yield reversals that do not take back exactly what they name, or take it back twice."""
    by_sequence = {each.sequence: each for each in entries}
    taken: set[int] = set()
    known: dict[str, PeriodState] = {}
    for each in entries:
        known |= states((each.draft,))
        if each.draft.kind is not EntryKind.REVERSAL:
            continue
        of = by_sequence.get(each.draft.reverses)
        wrong = None
        if (
            of is None
            or of.sequence >= each.sequence
            or of.draft.kind in {EntryKind.REVERSAL, EntryKind.CLOSE}
        ):
            wrong = "and that is no entry before it"
        elif of.sequence in taken:
            wrong = "which was taken back already"
        else:
            wrong = _unlike(each.draft, of.draft, known)
        taken.add(each.draft.reverses)
        if wrong:
            yield Fault(
                tenant=tenant,
                sequence=each.sequence,
                problem=f"it takes back entry {each.draft.reverses}, {wrong}",
            )


def _unlike(back: Draft, of: Draft, known: Mapping[str, PeriodState]) -> str | None:
    """Return what a reversal says otherwise than the entry it takes back; it is booked where that was, or after that month where it is final."""
    booked = replace(of, period=booked_in(of.period, known))
    for name, words in _AS_TAKEN_BACK.items():
        said, right = getattr(back, name), getattr(booked, name)
        if said != right:
            return f"but {words} is another: {_text(said)} for {_text(right)}"
    same_items = tuple(item.reversed() for item in of.items) == back.items
    return None if same_items else "but not the amounts of that"


def _break_faults(
    tenant: str, by_sequence: Mapping[int, Sequence[Stored]], held: Mapping[str, Link]
) -> Iterator[Fault]:
    """Yield the places that are empty, and the rows that follow nothing.

    A row beside the chain is no fault where it continues an entry that is here: it came second.
    """
    known = {NO_HASH, *held}
    next_ = 1
    for sequence in sorted(by_sequence):
        if sequence < 1:
            problem = f"it was put in at {sequence}: a chain is counted from 1"
            yield Fault(tenant=tenant, sequence=sequence, problem=problem)
            continue
        if sequence > next_:
            # a forged place may lie far away
            others = f", and so are those after it up to entry {sequence - 1}" if sequence > next_ + 1 else ""
            yield Fault(tenant=tenant, sequence=next_, problem=f"it is missing{others}")
        next_ = sequence + 1
        for row in by_sequence[sequence]:
            if row.previous not in known and by_sequence.get(sequence - 1):
                problem = f"it follows no entry {sequence - 1} that is here: that one, or this link, was changed or replaced"
                yield Fault(tenant=tenant, sequence=sequence, problem=problem)
            known.add(row.hash)


def _missed(
    tenant: str,
    by_sequence: Mapping[int, Sequence[Stored]],
    held: Mapping[str, Link],
    anchors: Sequence[Anchor],
) -> Iterator[Fault]:
    for anchor in anchors:
        if anchor.sequence == 0:
            continue  # a copy of a chain of which nothing held
        link = held.get(anchor.hash)
        if link is not None and link.sequence == anchor.sequence:
            continue
        noted = f"the chain was noted with {anchor.hash[:16]}… at this place"
        problem = (
            f"another entry holds: {noted}" if anchor.sequence in by_sequence else f"it is missing: {noted}"
        )
        yield Fault(tenant=tenant, sequence=anchor.sequence, problem=problem)


def _text(value: object) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
