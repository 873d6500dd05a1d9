"""The program as the bundle's tests load it; these tests have a store of their own, which is why they lie apart."""

from tests.bundle.conftest import verify

__all__ = ["verify"]
