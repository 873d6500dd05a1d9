"""Own the fees that a credit is a share of: what of a month's charges, and net of what."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sla.contracts.remedies import CreditBase

_ZERO = Fraction(0)
_WHOLE = ("service",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fee:
    """What one tenant is charged, before tax, for one model and inference mode; "" where it is for no model, as a minimum."""

    tenant: str
    model: str
    inference_mode: str
    amount: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Fees:
    """A month's fees of a contract's tenants.

    tax_rate: of the fees. earlier: what was granted on the same month before, by tenant.
    """

    currency: str
    fees: tuple[Fee, ...]
    tax_rate: Fraction = _ZERO
    earlier: tuple[tuple[str, Fraction], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a credit is a share of: whose fees, by tenant, and in words of the contract."""

    by_tenant: dict[str, Fraction]
    fees_of: tuple[str, ...]
    net_of: tuple[str, ...]
    model: str | None

    @property
    def amount(self) -> Fraction:
        """Return the whole basis; never below nothing."""
        return max(_ZERO, sum(self.by_tenant.values(), start=_ZERO))


def basis(
    fees: Fees,
    clause: CreditBase | None,
    *,
    models: tuple[str, ...],
    model: str | None,
    modes: frozenset[str] | None = None,
) -> Basis:
    """Return the basis of a credit for `model`, or for all of the contract's `models` (none named: all that were used), in some inference `modes`.

    The whole service where the clause does not say, or says so. The ledger keeps no region, so a region narrows nothing: the
    larger basis is the customer's. Fees for no model belong to a basis that is not narrowed. Where tax is not taken off, it is in.
    """
    fees_of = _WHOLE if clause is None or not clause.fees_of else clause.fees_of
    net_of = () if clause is None else clause.net_of
    wanted: tuple[str, ...] = ()
    if "service" not in fees_of and "model" in fees_of:
        wanted = (model,) if model is not None else models
    taken = [
        each
        for each in fees.fees
        if (not wanted or each.model in wanted) and (modes is None or each.inference_mode in modes)
    ]
    by_tenant = _by_tenant((each.tenant, each.amount) for each in taken)
    if "tax" not in net_of:
        by_tenant = {tenant: amount * (1 + fees.tax_rate) for tenant, amount in by_tenant.items()}
    if "earlier_credits" in net_of:
        for tenant, amount in fees.earlier:
            by_tenant[tenant] = by_tenant.get(tenant, _ZERO) - amount
    return Basis(
        by_tenant=by_tenant, fees_of=tuple(fees_of), net_of=tuple(net_of), model=model if wanted else None
    )


def _by_tenant(amounts: Iterable[tuple[str, Fraction]]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for tenant, amount in amounts:
        found[tenant] = found.get(tenant, _ZERO) + amount
    return dict(sorted(found.items()))
