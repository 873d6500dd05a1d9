"""Own ``fairclock ledger invoice``: the statement of charges, as JSON, HTML, PDF and CSV, in English and Chinese."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import click

from fairclock import __version__
from fairclock.cli.ledger import JSON, PRICES, TENANTS, book_of
from fairclock.cli.options import common_options, store_dsn
from fairclock.errors import UsageError

_FORMATS = "pdf,html,json,csv"


@click.command()
@click.option("--month", required=True, metavar="YYYY-MM", help="The month, in the price book's zone.")
@TENANTS
@click.option(
    "--lang", "languages", multiple=True, metavar="en|zh",
    help="The language, once or more often, or en,zh (default: en).",
)  # fmt: skip
@click.option(
    "--format", "formats", multiple=True, metavar=f"{_FORMATS},focus", help=f"What to write (default: {_FORMATS}).",
)  # fmt: skip
@click.option(
    "-o", "--output", "directory", type=click.Path(path_type=Path, file_okay=False), default=None,
    help="The folder to write into (default: here).",
)  # fmt: skip
@click.option(
    "--opening-balance",
    default=None,
    metavar="AMOUNT",
    help="What is owed from before (default: what was due by the final statement numbered before, else 0).",
)
@click.option("--also-in", default=None, metavar="CURRENCY", help="Show the totals in another currency, too.")
@PRICES
@JSON
@common_options
def invoice(
    *,
    month: str,
    tenants: tuple[str, ...],
    languages: tuple[str, ...],
    formats: tuple[str, ...],
    directory: Path | None,
    opening_balance: str | None,
    also_in: str | None,
    prices: Path | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Write the statement of charges of each tenant with entries in a month: a draft, or numbered once it is final.

    It is no tax invoice. A final one is kept as it was written first. Paths are printed.
    """
    del debug
    from billing.bookkeeping.books import books_at  # noqa: PLC0415
    from billing.bookkeeping.statements import Asked, statement_of, tenants_of  # noqa: PLC0415
    from billing.invoices import statement_json, write_statement  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415

    book = book_of(prices, config)
    book.months.interval(month)
    balance = None if opening_balance is None else _amount(opening_balance)
    with open_store(store_dsn(dsn, config)) as store:
        books = books_at(store, store.watermark())
        made = [
            statement_of(
                store,
                books,
                book.book,
                Asked(
                    tenant=tenant,
                    month=month,
                    opening_balance=balance,
                    also_in=also_in,
                    software_version=__version__,
                ),
            )
            for tenant in tenants or tenants_of(store, books, month)
        ]
    if not made and not quiet:
        click.echo(f"{month}: nothing is in the ledger", err=True)
    if as_json:
        for each in made:
            sys.stdout.write(statement_json(each).decode())
    if directory is not None or not as_json:
        for each in made:
            paths = write_statement(
                each,
                formats=_listed(formats) or _FORMATS.split(","),
                languages=_listed(languages) or ["en"],
                directory=directory or Path(),
            )
            for path in paths:
                click.echo(str(path), err=as_json)


def _amount(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise UsageError(
            "--opening-balance", "is no amount", found=text, remedy="write it as 12.50"
        ) from error


def _listed(values: tuple[str, ...]) -> list[str]:
    words = (word.strip() for value in values for word in value.split(","))
    return list(dict.fromkeys(word for word in words if word))
