"""Own the charge book's arithmetic: what usage costs by the contract's formula, and what a month's end adjusts.

For each group of alike requests, at the prices in force when they were received::

    (requests x base fee x model weight + Σ tokens x unit price + GPU-seconds x machine price) x deployment factor

Each summand is one charge, in exact fractions. Charges are linear in a group's sums, so any split of a group is
charged the same. Nothing is rounded here.
"""

from billing.charges.charge import Adjustment, Charge, Unit
from billing.charges.closing import closing
from billing.charges.rating import charge

__all__ = ["Adjustment", "Charge", "Unit", "charge", "closing"]
