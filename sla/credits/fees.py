"""Own the fees that a credit is a share of: what of a month's charges, and net of what."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from billing.money import Money
    from sla.contracts.remedies import CreditBase

_ZERO = Fraction(0)
_WHOLE = ("service",)

Taxed = tuple[str, Fraction]
"""Whose it is, and at which rate it is taxed."""
Key = TypeVar("Key", Taxed, Fraction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fee:
    """What one tenant is charged, before tax, for one model and inference mode; "" where it is for no model, as a minimum."""

    tenant: str
    model: str
    inference_mode: str
    amount: Fraction
    tax_rate: Fraction = _ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What was taken off the same month's statement before, without tax and the tax on it."""

    tenant: str
    tax_rate: Fraction
    net: Fraction
    tax: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Fees:
    """A month's fees of a contract's tenants."""

    currency: str
    fees: tuple[Fee, ...]
    earlier: tuple[Earlier, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a credit is a share of: whose fees, by tenant and tax rate, and in words of the contract.

    has_tax: whether `parts` are what was paid, with tax; else they are fees before tax.
    """

    parts: Mapping[Taxed, Fraction]
    has_tax: bool
    fees_of: tuple[str, ...]
    net_of: tuple[str, ...]
    model: str | None

    @property
    def by_tenant(self) -> dict[str, Fraction]:
        """Return each tenant's part."""
        found: dict[str, Fraction] = {}
        for (tenant, _), amount in self.parts.items():
            found[tenant] = found.get(tenant, _ZERO) + amount
        return found

    @property
    def amount(self) -> Fraction:
        """Return the whole basis; never below nothing."""
        return max(_ZERO, sum(self.parts.values(), start=_ZERO))


def basis(
    fees: Fees,
    clause: CreditBase | None,
    *,
    models: tuple[str, ...],
    model: str | None,
    money: Money,
    modes: frozenset[str] | None = None,
) -> Basis:
    """Return the basis of a credit for `model`, or for all of the contract's `models` (none named: all that were used), in some inference `modes`.

    The whole service where the clause does not say, or says so. The ledger keeps no region, so a region narrows nothing: the
    larger basis is the customer's. Fees for no model belong to a basis that is not narrowed. Where tax is not taken off, the basis is
    what was paid for these fees: rounded as a statement of them is, its tax included.
    """
    fees_of = _WHOLE if clause is None or not clause.fees_of else clause.fees_of
    net_of = () if clause is None else clause.net_of
    wanted: tuple[str, ...] = ()
    if "service" not in fees_of and "model" in fees_of:
        wanted = (model,) if model is not None else models
    has_tax = includes_tax(clause)
    parts = _summed(
        ((each.tenant, each.tax_rate), each.amount)
        for each in fees.fees
        if (not wanted or each.model in wanted) and (modes is None or each.inference_mode in modes)
    )
    if has_tax:
        parts = _paid(parts, money)
    if "earlier_credits" in net_of:
        before = (
            ((each.tenant, each.tax_rate), -each.net - (each.tax if has_tax else 0)) for each in fees.earlier
        )
        parts = _summed([*parts.items(), *before])
    return Basis(
        parts=parts,
        has_tax=has_tax,
        fees_of=tuple(fees_of),
        net_of=tuple(net_of),
        model=model if wanted else None,
    )


def includes_tax(clause: CreditBase | None) -> bool:
    """Tell whether a credit is a share of what was paid, with tax, rather than of the fees before it."""
    return clause is None or "tax" not in clause.net_of


def divided(amount: Fraction, tenant: str, fees: Fees) -> dict[Taxed, Fraction]:
    """Return an amount before tax by the rates at which the tenant's fees are taxed, in their proportion."""
    nets = _summed((each.tax_rate, each.amount) for each in fees.fees if each.tenant == tenant)
    nets = {rate: net for rate, net in nets.items() if net > 0} or {_ZERO: Fraction(1)}
    whole = sum(nets.values(), start=_ZERO)
    return {(tenant, rate): amount * net / whole for rate, net in nets.items()}


def _paid(nets: Mapping[Taxed, Fraction], money: Money) -> dict[Taxed, Fraction]:
    """Return what each tenant paid: net rounded once, and the tax of each rate of what it is rounded to."""
    found: dict[Taxed, Fraction] = {}
    for tenant in sorted({tenant for tenant, _ in nets}):
        keys = [key for key in nets if key[0] == tenant]
        rounded = money.apportioned([nets[key] for key in keys])
        for key, net in zip(keys, map(Fraction, rounded), strict=True):
            found[key] = net + Fraction(money.rounded(net * key[1]))
    return found


def _summed(amounts: Iterable[tuple[Key, Fraction]]) -> dict[Key, Fraction]:
    found: dict[Key, Fraction] = {}
    for key, amount in amounts:
        found[key] = found.get(key, _ZERO) + amount
    return dict(sorted(found.items()))
