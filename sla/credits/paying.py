"""Own how credits are paid: rounded once, each tenant's part split into net and tax as its statement prints them.

A credit that is a share of what was paid gives back exactly that, tax included; one that is a share of fees before tax gives
back that share and the tax on it. Either way the ledger takes off the net, and the statement the tax that is said here: it is
that of the statement which the credit corrects, whatever the rate is by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from billing.money import Money
    from sla.credits.fees import Taxed

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """One tenant's part of a credit at one rate of tax: `net` and `tax` of whole units of the currency's last digit."""

    tenant: str
    tax_rate: Fraction
    net: Fraction
    tax: Fraction


def paid(
    shares: Sequence[Mapping[Taxed, Fraction]], *, have_tax: bool, money: Money
) -> list[tuple[Paid, ...]]:
    """Return how credits are paid whose exact shares by tenant and rate are given; they sum to their rounded total.

    have_tax: whether the shares are amounts with tax.
    """
    totals = money.apportioned([sum(each.values(), start=_ZERO) for each in shares])
    found = []
    for share, total in zip(shares, totals, strict=True):
        keys = sorted(share)
        parts = money.apportioned([share[key] for key in keys], total=total)
        found.append(
            tuple(
                _paid(key, Fraction(part), has_tax=have_tax, money=money)
                for key, part in zip(keys, parts, strict=True)
                if part
            )
        )
    return found


def _paid(key: Taxed, amount: Fraction, *, has_tax: bool, money: Money) -> Paid:
    tenant, rate = key
    net = _before_tax(amount, rate, money) if has_tax else amount
    tax = amount - net if has_tax else Fraction(money.rounded(net * rate))
    return Paid(tenant=tenant, tax_rate=rate, net=net, tax=tax)


def _before_tax(amount: Fraction, rate: Fraction, money: Money) -> Fraction:
    """Return the net that makes `amount` with its tax as a statement rounds it; the rounded one where none does."""
    net = Fraction(money.rounded(amount / (1 + rate)))
    # where tax is rounded down, what it lacks of the exact tax would be rounded off the net
    above = net + Fraction(1, 10**money.digits)
    return above if above + Fraction(money.rounded(above * rate)) == amount else net
