"""The ledger as values: entries and their chain, what has to be added, months, sums, faults. Nothing here reads or writes."""

from billing.ledger.chains import Head, Link, Settled, sealed, settle
from billing.ledger.entries import Charged, Draft, Entry, EntryKind, Item, Posting
from billing.ledger.exact import read_exact, write_exact
from billing.ledger.periods import Months, PeriodState, booked_in, states
from billing.ledger.rating import Rated, Standing, differences, reversal, still_standing, targets
from billing.ledger.reading import UnreadableEntryError, read_entry
from billing.ledger.verifying import Anchor, Fault, Stored, columns_of, verify

__all__ = [
    "Anchor",
    "Charged",
    "Draft",
    "Entry",
    "EntryKind",
    "Fault",
    "Head",
    "Item",
    "Link",
    "Months",
    "PeriodState",
    "Posting",
    "Rated",
    "Settled",
    "Standing",
    "Stored",
    "UnreadableEntryError",
    "booked_in",
    "columns_of",
    "differences",
    "read_entry",
    "read_exact",
    "reversal",
    "sealed",
    "settle",
    "states",
    "still_standing",
    "targets",
    "verify",
    "write_exact",
]
