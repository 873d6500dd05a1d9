"""Own what has to be added to a ledger so that it says what was used: new entries, and reversals of what no longer holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from billing.ledger.entries import SUMS, Charged, Draft, EntryKind, Item
from billing.ledger.periods import booked_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from billing.ledger.periods import Months, PeriodState
    from billing.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """What usage costs: under which version of the prices, in which currency, and by which charges."""

    price_version: str
    currency: str
    charges: tuple[Charged, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An entry that holds and was not reversed."""

    sequence: int
    draft: Draft


def merged(usages: Iterable[Usage]) -> list[Usage]:
    """Return usages of one kind as one, in an order that is the same whatever order they came in."""
    sums: dict[tuple[str, ...], Usage] = {}
    for usage in usages:
        key = _key(usage)
        known = sums.get(key)
        if known is None:
            sums[key] = usage
            continue
        added = {name: getattr(known, name) + getattr(usage, name) for name in SUMS}
        peak = max(known.peak_kv_tokens, usage.peak_kv_tokens)
        sums[key] = replace(known, **added, peak_kv_tokens=peak)
    return [sums[key] for key in sorted(sums)]


def targets(usages: Iterable[Usage], price: Callable[[Usage], Rated], months: Months) -> list[Draft]:
    """Return what the ledger should say of `usages`: one entry a tenant and time, in order.

    A usage lies within one hour, one month and one price; `price` is asked once a kind of usage.
    """
    grouped: dict[tuple[str, datetime, datetime, str, str], list[Item]] = {}
    for usage in merged(usages):
        rated = price(usage)
        key = (usage.tenant, usage.start, usage.end, rated.price_version, rated.currency)
        grouped.setdefault(key, []).append(Item(usage=usage, charges=rated.charges))
    drafts = []
    for (tenant, start, end, version, currency), items in sorted(grouped.items(), key=lambda each: each[0]):
        label = months.label(start)
        drafts.append(
            Draft(
                kind=EntryKind.USAGE,
                tenant=tenant,
                start=start,
                end=end,
                period=label,
                about=label,
                currency=currency,
                price_version=version,
                items=tuple(items),
            )
        )
    return drafts


def differences(
    wanted: Sequence[Draft],
    standing: Sequence[Standing],
    known: Mapping[str, Mapping[str, PeriodState]],
) -> list[Draft]:
    """Return what makes `standing` say what is `wanted`: nothing where it does.

    standing: every entry of the same kind about the same tenants and time. known: each tenant's months that are not
    open. What is about a final month is booked in the first month after it that is not final.
    """
    stand: dict[str, list[Standing]] = {}
    for each in standing:
        stand.setdefault(each.draft.content_sha256(), []).append(each)
    new = []
    for draft in wanted:
        same = stand.get(draft.content_sha256())
        if same:
            same.pop()
        else:
            new.append(draft)
    gone = [each for found in stand.values() for each in found]
    drafts = [
        *(_booked(reversal(each), known) for each in gone),
        *(_booked(each, known) for each in new),
    ]
    return sorted(drafts, key=_order)


def reversal(standing: Standing) -> Draft:
    """Return the entry that takes another back, booked where that was."""
    draft = standing.draft
    return replace(
        draft,
        kind=EntryKind.REVERSAL,
        items=tuple(each.reversed() for each in draft.items),
        reverses=standing.sequence,
    )


def still_standing(entries: Iterable[tuple[int, Draft]]) -> list[Standing]:
    """Return those of a tenant's entries (sequence, entry) that no other takes back; reversals and closes left out."""
    found = dict(entries)
    taken_back = {draft.reverses for draft in found.values() if draft.kind is EntryKind.REVERSAL}
    return [
        Standing(sequence=sequence, draft=draft)
        for sequence, draft in sorted(found.items())
        if sequence not in taken_back and draft.kind not in {EntryKind.REVERSAL, EntryKind.CLOSE}
    ]


def _booked(draft: Draft, known: Mapping[str, Mapping[str, PeriodState]]) -> Draft:
    return replace(draft, period=booked_in(draft.about, known.get(draft.tenant, {})))


def _order(draft: Draft) -> tuple[str, datetime, int, datetime, int, str]:
    """Order a tenant's entries by time, what takes back first."""
    return (draft.tenant, draft.start, 0 if draft.reverses else 1, draft.end, draft.reverses, draft.subject)


def _key(usage: Usage) -> tuple[str, ...]:
    return (
        usage.tenant,
        usage.start.isoformat(),
        usage.end.isoformat(),
        usage.model,
        usage.length_class,
        usage.inference_mode,
        usage.machine,
        str(usage.treatment),
        str(usage.estimated),
    )
