"""Own the close of a month: its adjustments, its state, and the number of its statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.bookkeeping.adjusting import adjustments
from billing.bookkeeping.books import Books, drafts_of, known_states, post
from billing.bookkeeping.credits import deduct_granted
from billing.ledger import Draft, EntryKind, PeriodState, write_exact
from billing.ledger.periods import NUMBER, STATE, may_be_final_from
from fairclock.errors import UsageError
from fairclock.model import utc_text
from fairclock.store.ledger import EntryChoice, booked_months

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime, timedelta

    from billing.bookkeeping.adjusting import Prices
    from billing.ledger import Entry, Months
    from fairclock.store import Store

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """What becomes of which month: `state` is draft or final; `grace` is how long late rows may come before it is final.

    tenants: None for every tenant with entries in it, and for those of `owing`, who owe something though they may have none.
    owing_before: who does so for which earlier month.
    """

    month: str
    state: PeriodState
    grace: timedelta
    tenants: tuple[str, ...] | None = None
    owing: tuple[str, ...] = ()
    owing_before: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def close_month(
    store: Store, closing: Closing, *, prices: Prices, months: Months, now: datetime, currency: str
) -> list[Entry]:
    """Close a month and return what was added to it; nothing where it is closed so already.

    Granted credits that are not taken off anything yet are taken off first: whoever granted them may have been killed. Raises
    UsageError for a month that has not ended, that late rows may still come for, or that follows one that is not final.
    """
    month = months.interval(closing.month)
    if now < month.end:
        raise UsageError(
            f"month {closing.month}",
            "has not ended",
            found=f"it ends {utc_text(month.end)}",
            remedy="close it then",
        )
    final_from = may_be_final_from(month, closing.grace)
    if closing.state is PeriodState.FINAL and now < final_from:
        raise UsageError(
            f"month {closing.month}",
            "late rows may still come",
            found=f"it can be final from {utc_text(final_from)}",
            remedy="close it as a draft, and make it final then",
        )

    deduct_granted(store, months)

    def plan(books: Books) -> list[Draft]:
        known = known_states(store, books)
        drafts: list[Draft] = []
        for tenant in _tenants(store, books, closing):
            if known.get(tenant, {}).get(closing.month) is PeriodState.FINAL:
                continue
            if closing.state is PeriodState.FINAL:
                _require_earlier_final(store, books, tenant, closing, known)
            made = adjustments(
                store, books, tenant, closing.month, planned=(), known=known, prices=prices, months=months
            )
            total, numbers = _total(store, books, tenant, closing.month, made), _numbers(store, books, tenant)
            drafts += made
            for state in _steps(known.get(tenant, {}).get(closing.month, PeriodState.OPEN), closing.state):
                facts = {STATE: str(state), "final_from": utc_text(final_from), **total}
                if state is PeriodState.FINAL:
                    facts[NUMBER] = str(numbers + 1)
                drafts.append(
                    Draft(
                        kind=EntryKind.CLOSE,
                        tenant=tenant,
                        start=month.start,
                        end=month.end,
                        period=closing.month,
                        about=closing.month,
                        currency=currency,
                        subject=str(state),
                        facts=facts,
                    )
                )
        return drafts

    return post(store, plan)


def _steps(now: PeriodState, wanted: PeriodState) -> list[PeriodState]:
    order = list(PeriodState)
    return order[order.index(now) + 1 : order.index(wanted) + 1]


def _tenants(store: Store, books: Books, closing: Closing) -> list[str]:
    if closing.tenants is not None:
        unknown = sorted({*closing.tenants} - {*books.heads, *closing.owing})
        if unknown:
            raise UsageError(
                f"tenant {unknown[0]}",
                "is not in the ledger",
                remedy="look at the name: what is closed for a tenant stays closed for good",
            )
        return list(closing.tenants)
    choice = EntryChoice(period=(closing.month,), beside=books.beside)
    booked = {tenant for tenant, _ in booked_months(store, books.as_of, choice)}
    return sorted(booked.union(closing.owing))


def _require_earlier_final(
    store: Store, books: Books, tenant: str, closing: Closing, known: Mapping[str, Mapping[str, PeriodState]]
) -> None:
    """Refuse to make a month final before those it follows: what is late for them would have no month to go to."""
    label = closing.month
    months = booked_months(store, books.as_of, EntryChoice(beside=books.beside))
    earlier = {month for whose, month in months if whose == tenant}
    earlier |= set(_quiet_before(tenant, closing, months, known))
    states = known.get(tenant, {})
    open_ = sorted(each for each in earlier if each < label and states.get(each) is not PeriodState.FINAL)
    if open_:
        raise UsageError(
            f"month {label}",
            f"follows one of {tenant} that is not final",
            found=", ".join(open_),
            remedy=f"close {open_[0]} first",
        )


def _quiet_before(
    tenant: str,
    closing: Closing,
    months: Sequence[tuple[str, str]],
    known: Mapping[str, Mapping[str, PeriodState]],
) -> Iterator[str]:
    """Yield earlier months for which a tenant owes something without an entry, since the ledger began.

    Not those before its own first entry that are final for others: it came later, and was not asked for them.
    """
    if not months:
        return
    begins = min(month for _, month in months)
    came = min((month for whose, month in months if whose == tenant), default=closing.month)
    for month, owing in closing.owing_before.items():
        if tenant not in owing or month < begins:
            continue
        is_over = any(states.get(month) is PeriodState.FINAL for states in known.values())
        if month >= came or not is_over:
            yield month


def _total(store: Store, books: Books, tenant: str, label: str, made: Sequence[Draft]) -> dict[str, str]:
    """Return what the month's entries sum up to, by currency."""
    found = drafts_of(store, books, EntryChoice(tenants=(tenant,), period=(label,))).get(tenant, ())
    sums: dict[str, Fraction] = {}
    for draft in (*(draft for _, draft in found), *(each for each in made if each.period == label)):
        if draft.kind is not EntryKind.CLOSE:
            sums[draft.currency] = sums.get(draft.currency, _ZERO) + draft.amount
    return {f"total_{currency}": write_exact(amount) for currency, amount in sorted(sums.items())}


def _numbers(store: Store, books: Books, tenant: str) -> int:
    closes = drafts_of(store, books, EntryChoice(tenants=(tenant,), kinds=("close",))).get(tenant, ())
    return sum(draft.facts[STATE] == PeriodState.FINAL for _, draft in closes)
