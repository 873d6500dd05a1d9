"""Own the slices: what each version of a contract counted in each minute, kept so that others need not count again.

`counting` says what a minute counts; `evaluator` writes what changed; `reading` gives it back. Slices are a
cache of the rows, in the same words: a verdict is made from the rows.
"""

from sla.slices.evaluator import InForce, Pass, evaluate_slices
from sla.slices.reading import Slice, slices_as_of, sums_as_of
from sla.slices.terms import keep_terms_of
from sla.slices.versions import in_force, latest_month

__all__ = [
    "InForce",
    "Pass",
    "Slice",
    "evaluate_slices",
    "in_force",
    "keep_terms_of",
    "latest_month",
    "slices_as_of",
    "sums_as_of",
]
