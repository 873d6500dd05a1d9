"""Own what of a bundle was issued and sealed: the chain of issued reports, their signatures, the seals of days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.store.issued_reports import day_seal_content, day_seal_rows, issued_rows
from sla.bundle.written import lines_bytes, tree_of
from sla.issuing.chains import chain_of
from sla.issuing.day_seals import file_name
from sla.issuing.reports import issued_chain, read_issued, signatures_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store
    from fairclock.store.issued_reports import IssuedRow

_KEY_CHARACTERS = 16


def latest_issued(store: Store, contract: str, month: str, as_of: datetime | None = None) -> IssuedRow | None:
    """Return the last report that was issued of a month, or the one that was issued as of an instant; None without one."""
    found = [
        row for row in issued_chain(store, contract).rows if row.month == month and as_of in {None, row.as_of}
    ]
    return found[-1] if found else None


def issued_files(
    store: Store, contract: str, issued: IssuedRow | None, as_of: datetime
) -> Iterator[tuple[str, bytes]]:
    """Yield the issued reports up to this one, the one that it supersedes, and its signatures; of a draft what was known."""
    if issued is None:
        rows = chain_of(issued_rows(store, as_of, contract=contract), contract).rows
        yield "issued.jsonl", lines_bytes(tree_of(each) for each in rows)
        return
    rows = tuple(each for each in issued_chain(store, contract).rows if each.sequence <= issued.sequence)
    yield "issued.jsonl", lines_bytes(tree_of(each) for each in rows)
    before = [each for each in rows[:-1] if each.month == issued.month]
    if before:
        yield "previous_report.json", read_issued(store, before[-1]).content
    for number, each in enumerate(signatures_of(store, issued), start=1):
        key = "".join(letter for letter in each.public_key.rpartition(":")[2] if letter.isalnum())
        yield f"signatures/report.json.{number}-{key[:_KEY_CHARACTERS]}.sig", each.content


def seal_files(store: Store, contract: str, period: Interval, as_of: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield the seals of the days of a period that were made by `as_of`, byte for byte as they were sent."""
    for row in chain_of(day_seal_rows(store, as_of, contract=contract), contract).rows:
        if row.starts_at < period.end and row.ends_at > period.start:
            content = day_seal_content(store, contract, row.sha256)
            if content is not None:
                yield f"day_seals/{file_name(row.contract, row.day, row.revision)}", content
