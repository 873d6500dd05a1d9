"""Own the base fee: so much for each request, times the model's weight."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from billing.charges.charge import Charge, Unit
from billing.charges.factors import factor
from billing.prices.clauses import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from billing.prices.version import PriceVersion
    from billing.usage.groups import Usage


def base_fee(usage: Usage, version: PriceVersion) -> Iterator[Charge]:
    """Yield the charge for the requests themselves; an unlisted model has no price."""
    model = version.model_price(usage.model)
    weight = Fraction(0) if model is None else Fraction(model.weight)
    yield Charge(
        kind=Kind.REQUESTS,
        count=Fraction(usage.requests),
        unit=Unit.REQUEST,
        per=1,
        list_price=Fraction(version.base_fee) * weight,
        factor=factor(usage, version, Kind.REQUESTS),
        priced=model is not None,
    )
