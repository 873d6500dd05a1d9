"""Own revisions: what a contract's month came to each time it was evaluated, and what changed from one to the next.

`figures` takes from a report what is compared; `differences` compares; `reasons` says what came in between;
`keeping` adds a revision where the figures differ from the last; `stating` says in a report which revision it is;
`due` finds the months of contracts that have to be evaluated again.
"""

from sla.revisions.due import DueMonth, Looked, due_months, months_within
from sla.revisions.keeping import Kept, keep_revision
from sla.revisions.stating import with_revision

__all__ = [
    "DueMonth",
    "Kept",
    "Looked",
    "due_months",
    "keep_revision",
    "months_within",
    "with_revision",
]
