"""Own what multiplies a price: the deployment's factor, and the share at which a treatment is charged."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from billing.prices.clauses import Kind
    from billing.prices.version import PriceVersion
    from billing.usage.groups import Usage


def factor(usage: Usage, version: PriceVersion, kind: Kind) -> Fraction:
    """Return by what the book's price of `kind` is multiplied for this usage."""
    deployment = version.deployment(tenant=usage.tenant, model=usage.model, machine=usage.machine)
    return Fraction(version.deployments.factors[deployment]) * version.share(usage.treatment, kind)
