"""Own revisions: what a contract's month came to each time it was evaluated, and what changed from one to the next.

`figures` takes from a report what is compared; `differences` compares; `reasons` says what came in between;
`keeping` adds a revision where the figures differ from the last; `stating` says in a report which revision it is;
`due` finds the months of contracts that have to be evaluated again.
"""

from sla.revisions.due import DueMonth, Looked, due_months, months_within
from sla.revisions.figures import digest_of, figures_of
from sla.revisions.keeping import Kept, keep_revision
from sla.revisions.stating import changes_since, with_revision

__all__ = [
    "DueMonth",
    "Kept",
    "Looked",
    "changes_since",
    "digest_of",
    "due_months",
    "figures_of",
    "keep_revision",
    "months_within",
    "with_revision",
]
