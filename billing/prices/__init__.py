"""Own the price book: what it may say, what is in force when, and what is wrong with it."""

from billing.prices.book import PriceBook
from billing.prices.loading import load_price_book, parse_price_book
from billing.prices.schema import price_book_schema
from billing.prices.version import PriceVersion

__all__ = ["PriceBook", "PriceVersion", "load_price_book", "parse_price_book", "price_book_schema"]
