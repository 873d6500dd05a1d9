"""Own the price of tokens, class by class."""

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


def tokens(usage: Usage, version: PriceVersion) -> Iterator[Charge]:
    """Yield a charge for each class of tokens; an unlisted model has no price."""
    prices = version.token_prices(usage.model)
    counts = {
        Kind.UNCACHED_PROMPT: usage.uncached_prompt_tokens,
        Kind.CACHED_PROMPT: usage.cached_prompt_tokens,
        Kind.COMPLETION: usage.completion_tokens,
    }
    for kind, count in counts.items():
        yield Charge(
            kind=kind,
            count=Fraction(count),
            unit=Unit.TOKEN,
            per=1 if prices is None else prices.per,
            list_price=Fraction(0) if prices is None else Fraction(getattr(prices, kind.value)),
            factor=factor(usage, version, kind),
            priced=prices is not None,
        )
