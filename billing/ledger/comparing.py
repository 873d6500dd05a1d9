"""Own what a ledger lacks that a copy of it has, and what the copy lacks of the chains that it claims to hold."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from billing.ledger.chains import settle
from billing.ledger.verifying import Fault, verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from billing.ledger.chains import Link
    from billing.ledger.verifying import Anchor, Stored


def compare(
    rows: Iterable[Stored], copied: Sequence[Stored], ends: Sequence[Anchor], *, where: str
) -> list[Fault]:
    """Return how a ledger's `rows` differ from a copy, by tenant and place, and the faults of the copy itself.

    The copy claims the chains of its `ends`, up to there; what else the ledger has came later, or was not copied.
    """
    ledger, copy = _by_tenant(rows), _by_tenant(copied)
    faults = [replace(each, problem=f"in {where}: {each.problem}") for each in verify(copied, ends)]
    for end in sorted(ends):
        found = _of_tenant(end, ledger.get(end.tenant, ()), copy.get(end.tenant, ()), where)
        faults += sorted(found, key=lambda each: each.sequence)
    return faults


def _of_tenant(end: Anchor, ledger: Sequence[Link], copy: Sequence[Link], where: str) -> Iterator[Fault]:
    if not ledger and end.sequence:
        problem = f"the ledger has nothing of this tenant, {where} has {end.sequence} entries"
        yield Fault(tenant=end.tenant, sequence=0, problem=problem)
        return
    here, there = {link.hash for link in ledger}, {link.sequence for link in copy}
    for link in _held(copy):
        if link.hash not in here:
            problem = f"the ledger lacks it: {where} has {link.hash[:16]}… at this place"
            yield Fault(tenant=end.tenant, sequence=link.sequence, problem=problem)
    for link in _held(ledger):
        if link.sequence <= end.sequence and link.sequence not in there:
            problem = f"{where} lacks it: the ledger has {link.hash[:16]}… at this place"
            yield Fault(tenant=end.tenant, sequence=link.sequence, problem=problem)


def _by_tenant(rows: Iterable[Stored]) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = defaultdict(list)
    for row in rows:
        found[row.tenant].append(row.link)
    return found


def _held(links: Sequence[Link]) -> tuple[Link, ...]:
    return tuple(link for settled in settle(links).values() for link in settled.links)
