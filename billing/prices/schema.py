"""Own the published JSON Schema of the price book."""

from __future__ import annotations

from typing import Any

from billing.prices.book import PriceBook
from fairclock.clauses.schema import published_schema


def price_book_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a price book; numbers may be written as numbers or as texts."""
    return published_schema(
        PriceBook,
        identifier="urn:fairclock:price-book:v1",
        title="Fairclock price book",
        description="What is charged, by whom, from when on; see docs/price-book.md.",
    )
