"""One embedded store for this folder's modules."""

from tests.cost_book.conftest import shared_store, store

__all__ = ["shared_store", "store"]
