"""Own a second, brute-force computation of a month, written from the documents and not from the product.

Standard library only (and PyYAML for the contract's text): lists, integers, fractions, exact ranks. Slow on purpose.
"""

from tests.acceptance.oracle.report import expected_report

__all__ = ["expected_report"]
