"""Own ``fairclock ledger export``: the ledger as a table, as FOCUS columns, or as a copy that can be verified."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairclock.cli.ledger import AS_OF, PRICES, TENANTS, book_of
from fairclock.cli.options import common_options, instant, store_dsn

if TYPE_CHECKING:
    from billing.bookkeeping.books import Books
    from billing.bookkeeping.price_books import BookPrices
    from billing.ledger import Draft
    from fairclock.store import Store
    from fairclock.store.ledger import EntryChoice


@click.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "focus", "jsonl"]),
    default="csv",
    show_default=True,
    help="csv and parquet: a line a charge. focus: CSV with FOCUS columns (needs the price book). jsonl: a copy for verify.",
)
@click.option(
    "--month",
    "months",
    multiple=True,
    metavar="YYYY-MM",
    help="Only what was booked in this month; may be repeated.",
)
@TENANTS
@click.option(
    "-o", "--output", "path", type=click.Path(path_type=Path, dir_okay=False), default=None, metavar="FILE",
    help="The file to write (default: standard output).",
)  # fmt: skip
@PRICES
@AS_OF
@common_options
def export(
    *,
    form: str,
    months: tuple[str, ...],
    tenants: tuple[str, ...],
    path: Path | None,
    prices: Path | None,
    as_of: str | None,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Write the ledger to a file or to standard output; text in CSV is harmless in a spreadsheet.

    A copy (jsonl) has whole chains, so --month does not narrow it.
    """
    del debug
    from billing.bookkeeping.books import books_at, stored_rows  # noqa: PLC0415
    from billing.ledger.copies import copy_lines  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415
    from fairclock.store.ledger import EntryChoice  # noqa: PLC0415

    moment = None if as_of is None else instant(as_of, where="--as-of")
    book = book_of(prices, config) if form == "focus" else None
    with open_store(store_dsn(dsn, config)) as store:
        known = store.checked_as_of(moment)
        choice = EntryChoice(tenants=tenants or None, period=() if form == "jsonl" else months)
        if form == "jsonl":
            content = b"".join(line + b"\n" for line in copy_lines(stored_rows(store, known, choice)))
        else:
            content = _table(store, books_at(store, known), choice, form, book)
    if path is None:
        sys.stdout.buffer.write(content)
        return
    path.write_bytes(content)
    if not quiet:
        click.echo(str(path))


def _table(store: Store, books: Books, choice: EntryChoice, form: str, book: BookPrices | None) -> bytes:
    from billing.bookkeeping.books import drafts_of  # noqa: PLC0415
    from billing.bookkeeping.exporting import csv_text, parquet_bytes  # noqa: PLC0415
    from billing.ledger.lines import COLUMNS, FOCUS_COLUMNS, focus_lines, lines  # noqa: PLC0415

    found: list[tuple[int, Draft]] = [
        each for drafts in drafts_of(store, books, choice).values() for each in drafts
    ]
    if form == "parquet":
        return parquet_bytes(store, COLUMNS, lines(found))
    if book is None:
        return csv_text(COLUMNS, lines(found)).encode()
    prices = book.book
    names = {tenant: each.name.in_language("en") for each in prices.customers for tenant in each.tenants}
    issuer = "" if prices.issuer is None else prices.issuer.name.in_language("en")
    return csv_text(
        FOCUS_COLUMNS, focus_lines(found, months=book.months, issuer=issuer, names=names)
    ).encode()
