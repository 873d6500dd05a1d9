"""Own what the console of ``up`` looks at beside the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from billing.prices.book import PriceBook
    from sla.contracts import Contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """The versions of each contract as they are judged by at any time, and the price book where there is one."""

    contracts: Callable[[], Sequence[list[Contract]]]
    prices: Callable[[], PriceBook | None] = lambda: None
