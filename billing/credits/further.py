"""Own what becomes of a granted credit whose month comes to something else later: a further credit, or nothing.

What was granted is not taken back. Where a tenant's part comes to more, the difference is a credit of its own, which names the first; once that is
granted, the next difference is another one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.credits.lives import AMOUNT_WITH_TAX, TAX, TAX_RATE, TAXED, CreditState
from billing.ledger.exact import read_exact, write_exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from billing.credits.lives import Credit, CreditEntry

FURTHER_TO, NUMBER = "further_to", "further_number"
"""Facts of a further credit: the id of the first, and which one of those that are further to it this is, from 1."""
COMES_TO, GRANTED_BEFORE = "comes_to", "granted_before"
"""Facts of a further credit: what the whole comes to now, and what was granted of it."""
CLAIMED_AS = "claimed_as"
"""Fact of a granted credit: the revision and the amounts that were claimed."""
_ID_DIGITS = 16
_ZERO = Fraction(0)
_Parts = dict[tuple[str, str], tuple[Fraction, Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """When a credit can be claimed that came after the claims of its month had closed."""

    opens_at: datetime
    closes_at: datetime | None
    last_day: str | None


def with_further(
    computed: Iterable[CreditEntry],
    known: Sequence[Credit],
    *,
    at: datetime,
    reopened: Callable[[datetime], Reopened],
) -> list[CreditEntry]:
    """Return what a contract's month was `computed` as at `at`, with what is further to its granted credits; `known` are all that were written down.

    A further credit can be claimed as the first can; where that is over, from `at` on as `reopened` says. Its dates stay where it does not come to more.
    """
    found = {each.id: each for each in computed}
    firsts = [
        each for each in known if each.state is CreditState.GRANTED and FURTHER_TO not in each.computed.facts
    ]
    for first in firsts:
        whole = found.get(first.computed.id) or of_nothing(first.computed)
        if whole.currency == first.entry.currency:
            further = [each for each in known if each.computed.facts.get(FURTHER_TO) == first.computed.id]
            found |= {each.id: each for each in _further(whole, first, further, at=at, reopened=reopened)}
    return list(found.values())


def further_id(first: str, number: int) -> str:
    """Return the id of a further credit: the same whenever it is computed."""
    named = f"{first}\0further\0{number}"
    return f"cr-{hashlib.sha256(named.encode()).hexdigest()[:_ID_DIGITS]}"


def of_nothing(entry: CreditEntry) -> CreditEntry:
    """Return a credit that is no longer due."""
    facts = dict(entry.facts) | ({TAXED: [], AMOUNT_WITH_TAX: "0"} if TAXED in entry.facts else {})
    nothing = dict.fromkeys(entry.shares, _ZERO)
    return replace(entry, amount=_ZERO, shares=nothing, facts=facts)


def _further(
    whole: CreditEntry,
    first: Credit,
    further: Sequence[Credit],
    *,
    at: datetime,
    reopened: Callable[[datetime], Reopened],
) -> list[CreditEntry]:
    """Return the granted further credits as what is left of them, and the one that is not granted yet, where it is due."""
    by_number = {int(each.computed.facts[NUMBER]): each for each in further}
    settled, number, found = _parts(first.entry), 1, []
    while number in by_number and by_number[number].state is CreditState.GRANTED:
        granted = by_number[number]
        before, settled = settled, _added(settled, _parts(granted.entry))
        if sum(whole.shares.values(), _ZERO) >= _net(settled):
            found.append(_as_granted(granted.entry))
        else:
            left = _difference(whole, before)
            found.append(_entry(whole, left, before, number) if left else of_nothing(granted.computed))
        number += 1
    parts = _difference(whole, settled)
    if parts:
        entry = _entry(whole, parts, settled, number)
        found.append(_dated(entry, by_number.get(number), at=at, reopened=reopened))
    return found


def _dated(
    entry: CreditEntry, before: Credit | None, *, at: datetime, reopened: Callable[[datetime], Reopened]
) -> CreditEntry:
    if before is not None and (before.answer is not None or entry.amount <= before.computed.amount):
        said = before.computed
        facts = dict(entry.facts) | ({"last_day": said.facts["last_day"]} if "last_day" in said.facts else {})
        return replace(entry, opens_at=said.opens_at, closes_at=said.closes_at, facts=facts)
    if entry.closes_at is None or at < entry.closes_at:
        return entry
    dates = reopened(at)
    facts = dict(entry.facts) | {"last_day": dates.last_day}
    return replace(entry, opens_at=dates.opens_at, closes_at=dates.closes_at, facts=facts)


def _entry(whole: CreditEntry, parts: _Parts, settled: _Parts, number: int) -> CreditEntry:
    shares: dict[str, Fraction] = {}
    for (tenant, _), (net, _) in parts.items():
        shares[tenant] = shares.get(tenant, _ZERO) + net
    facts = dict(whole.facts) | {
        FURTHER_TO: whole.id,
        NUMBER: number,
        COMES_TO: write_exact(whole.amount),
        GRANTED_BEFORE: write_exact(_net(settled)),
    }
    if TAXED in facts:
        facts[TAXED] = [
            {"tenant": tenant, TAX_RATE: rate, "net": write_exact(net), TAX: write_exact(tax)}
            for (tenant, rate), (net, tax) in sorted(parts.items())
        ]
        facts[AMOUNT_WITH_TAX] = write_exact(sum((net + tax for net, tax in parts.values()), _ZERO))
    return replace(
        whole,
        id=further_id(whole.id, number),
        amount=sum(shares.values(), _ZERO),
        shares=shares,
        facts=facts,
    )


def _as_granted(entry: CreditEntry) -> CreditEntry:
    facts = {name: value for name, value in entry.facts.items() if name != CLAIMED_AS}
    return replace(entry, state=CreditState.COMPUTED, facts=facts)


def _parts(entry: CreditEntry) -> _Parts:
    """Return net and tax of a credit by tenant and rate of tax."""
    if TAXED not in entry.facts:
        return {(tenant, ""): (share, _ZERO) for tenant, share in entry.shares.items()}
    return {
        (each["tenant"], each[TAX_RATE]): (read_exact(each["net"]), read_exact(each[TAX]))
        for each in entry.facts[TAXED]
    }


def _added(one: _Parts, other: _Parts) -> _Parts:
    nothing = (_ZERO, _ZERO)
    return {
        key: (
            one.get(key, nothing)[0] + other.get(key, nothing)[0],
            one.get(key, nothing)[1] + other.get(key, nothing)[1],
        )
        for key in {**one, **other}
    }


def _difference(whole: CreditEntry, settled: _Parts) -> _Parts:
    """Return what is due beyond what is settled, of each tenant for whom that is more; by rate, where one may be below nothing."""
    minus = {key: (-net, -tax) for key, (net, tax) in settled.items()}
    parts = {key: each for key, each in _added(_parts(whole), minus).items() if any(each)}
    nets: dict[str, Fraction] = {}
    for (tenant, _), (net, _) in parts.items():
        nets[tenant] = nets.get(tenant, _ZERO) + net
    return {key: each for key, each in parts.items() if nets[key[0]] > 0}


def _net(parts: Mapping[tuple[str, str], tuple[Fraction, Fraction]]) -> Fraction:
    return sum((net for net, _ in parts.values()), _ZERO)
