"""A real engine with given requests, as the evaluation's tests have it."""

from tests.evaluation.conftest import given_store

__all__ = ["given_store"]
