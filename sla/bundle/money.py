"""Own what of a bundle is money: the price versions that were used, the customer's ledger with its chain, what was said of credits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.bookkeeping.books import stored_rows
from billing.bookkeeping.credits import credit_entries
from billing.ledger.copies import copy_lines
from fairclock.store.ledger import PRICE_COLUMNS, EntryChoice, money_rows
from sla.bundle.written import lines_bytes, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from fairclock.store import Store
    from sla.contracts import Contract


def money_files(store: Store, contract: Contract, label: str, as_of: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield what the cost, the credits and the amounts of a month rest on, as it was known at `as_of`."""
    rows = stored_rows(store, as_of, EntryChoice(tenants=tuple(contract.customer.tenants)))
    used = {sha256 for row in rows for sha256 in row.price_version.split(",")}
    prices = money_rows(store, "prices", PRICE_COLUMNS, as_of)
    yield "prices.jsonl", lines_bytes(each for each in prices if each["sha256"] in used)
    yield "ledger.jsonl", b"".join(line + b"\n" for line in copy_lines(rows))
    yield (
        "credits.jsonl",
        lines_bytes(
            tree_of(each) for each in credit_entries(store, as_of, contract=contract.id, month=label)
        ),
    )
