"""Own the comparison of a customer's own measurements with ours: which requests both saw, and how far the times differ.

`reading` takes the customer's log as it is, `ours` what the report counts, `matching` says which of both are one request,
`differences` what comes of it. Durations are compared, each measured on one host; clocks are only used to find a pair.
"""

from sla.bundle.comparison.differences import Comparison, compare
from sla.bundle.comparison.matching import Matched, match
from sla.bundle.comparison.ours import Ours, our_requests
from sla.bundle.comparison.reading import BadLine, Layout, Theirs, read_log
from sla.bundle.comparison.writing import comparison_csv

__all__ = [
    "BadLine", "Comparison", "Layout", "Matched", "Ours", "Theirs", "compare", "comparison_csv", "match", "our_requests",
    "read_log",
]  # fmt: skip
