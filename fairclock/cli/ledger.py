"""Own ``fairclock ledger``: rate what was used, show, close and verify what is owed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.groups import LazyGroup
from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from billing.bookkeeping.price_books import BookPrices
    from billing.ledger.views import Row

_ELSEWHERE = {
    "close": "fairclock.cli.ledger_closing",
    "verify": "fairclock.cli.ledger_verifying",
    "export": "fairclock.cli.ledger_export",
    "invoice": "fairclock.cli.ledger_invoice",
    "claim": "fairclock.cli.ledger_credits",
    "grant": "fairclock.cli.ledger_credits",
    "refuse": "fairclock.cli.ledger_credits",
}
_ORDER = ("rate", "show", "close", "verify", "export", "invoice", "claim", "grant", "refuse")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
PRICES = click.option(
    "--prices",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="The price book (default: the configuration's billing.prices).",
)
TENANTS = click.option("--tenant", "tenants", multiple=True, help="Only this tenant; may be repeated.")
AS_OF = click.option(
    "--as-of", default=None, metavar="INSTANT", help="As it was known then (default: as it is now)."
)
_PLACES = 6
_PICOSECONDS = 10**12


@click.group(
    cls=LazyGroup,
    elsewhere=_ELSEWHERE,
    order=_ORDER,
    short_help="Rate, show, close, verify, invoice; credits.",
)
def command() -> None:
    """Rate what was used, show and close what is owed, verify and export it; claim credits and decide on them.

    The ledger only grows: an entry that no longer holds is taken back by another, and each names the one before by its hash.
    """


@command.command()
@click.option("--month", default=None, metavar="YYYY-MM", help="Only this month, in the price book's zone.")
@click.option("--from", "start", default=None, metavar="INSTANT", help="The first hour (with --to).")
@click.option("--to", "end", default=None, metavar="INSTANT", help="The end of the last hour (with --from).")
@PRICES
@JSON
@common_options
def rate(
    *,
    month: str | None,
    start: str | None,
    end: str | None,
    prices: Path | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Bring the ledger to say what was used: every ended hour of which something was stored since it was rated last.

    What the ledger says already stays; late rows add the difference. Run again it adds nothing.
    """
    del debug
    from fairclock.cli import ledger_rating  # noqa: PLC0415 - the commands that only read need none of it
    from fairclock.cli.configuration import configuration  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415

    book = book_of(prices, config)
    asked = ledger_rating.window_of(book.months, month, start, end)
    settings = configuration(config).billing.cost_book()
    with open_store(store_dsn(dsn, config)) as store:
        done = ledger_rating.rate_windows(store, book, asked, settings=settings)
    if as_json:
        click.echo(json.dumps(done.tree()))
    elif not quiet:
        click.echo(done.sentence())


@command.command()
@click.option("--month", "wanted", multiple=True, metavar="YYYY-MM", help="Only this month; may be repeated.")
@TENANTS
@click.option(
    "--by",
    "by",
    multiple=True,
    metavar="NAMES",
    help="A row for each tenant, month, model, length_class, inference_mode, machine, treatment, charge, hour:"
    " one or several, separated by commas (default: tenant,month).",
)
@click.option(
    "--cost-book",
    "is_cost_book",
    is_flag=True,
    help="What the machines' time costs instead, idle time too (needs one --month and the price book).",
)
@click.option(
    "--reconcile",
    "is_reconciled",
    is_flag=True,
    help="What engines counted beside what is known of requests, by hour, and the unexplained rest (needs one --month).",
)
@click.option(
    "--limits",
    "is_limits",
    is_flag=True,
    help="Ceilings per call and budgets with their forecast instead (needs one --month and the price book).",
)
@PRICES
@AS_OF
@JSON
@common_options
def show(
    *,
    wanted: tuple[str, ...],
    tenants: tuple[str, ...],
    by: tuple[str, ...],
    is_cost_book: bool,
    is_reconciled: bool,
    is_limits: bool,
    prices: Path | None,
    as_of: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Show what was used and what it costs, before tax, and what of it probes, repeated and failed tries cost."""
    del quiet, debug
    from billing.bookkeeping.books import books_at, drafts_of  # noqa: PLC0415
    from billing.ledger.views import table  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415
    from fairclock.store.ledger import EntryChoice  # noqa: PLC0415

    if is_cost_book or is_reconciled or is_limits:
        from fairclock.cli.ledger_costs import show_costs, show_limits, show_reconciled  # noqa: PLC0415

        shown = show_costs if is_cost_book else show_reconciled if is_reconciled else show_limits
        shown(wanted, prices, as_of, as_json=as_json, dsn=dsn, config=config)
        return
    dimensions = _dimensions(by)
    moment = None if as_of is None else instant(as_of, where="--as-of")
    with open_store(store_dsn(dsn, config)) as store:
        books = books_at(store, store.checked_as_of(moment))
        found = drafts_of(store, books, EntryChoice(tenants=tenants or None, about=wanted))
    rows = table((draft for drafts in found.values() for _, draft in drafts), dimensions)
    if as_json:
        click.echo(json.dumps([_tree(dimensions, row) for row in rows], ensure_ascii=False, indent=2))
        return
    for line in aligned([(*dimensions, *_HEAD), *(_cells(row) for row in rows)], left=len(dimensions)):
        click.echo(line)


def book_of(named: Path | None, config: Path | None) -> BookPrices:
    """Return the price book that is named, or the configuration's; UsageError where there is none."""
    from billing.bookkeeping.price_books import BookPrices  # noqa: PLC0415
    from billing.prices.loading import load_price_book  # noqa: PLC0415
    from fairclock.cli.configuration import configuration  # noqa: PLC0415

    path = named or configuration(config).billing.prices
    if path is None:
        raise UsageError(
            "--prices", "no price book is known", remedy="name one, or write billing.prices in fairclock.yaml"
        )
    return BookPrices(load_price_book(path))


_HEAD = (
    "requests", "tokens", "GPU-s", "amount", "", "per 1,000 calls", "per 1,000 tokens", "tokens per unit", "probes",
    "failed", "retried",
)  # fmt: skip


def _dimensions(by: tuple[str, ...]) -> list[Any]:
    from billing.ledger.views import DIMENSIONS  # noqa: PLC0415

    named = [word.strip() for each in by for word in each.split(",") if word.strip()] or ["tenant", "month"]
    for name in named:
        if name not in DIMENSIONS:
            raise UsageError(
                "--by",
                "is no column of the ledger",
                found=name,
                remedy=f"write one of {', '.join(DIMENSIONS)}",
            )
    return list(dict.fromkeys(named))


def _cells(row: Row) -> tuple[str, ...]:
    return (
        *(key or "-" for key in row.keys),
        str(row.requests),
        str(row.tokens),
        _gpu_seconds(row),
        shown_number(row.amount),
        row.currency,
        shown_number(row.per_1000_requests),
        shown_number(row.per_1000_tokens),
        shown_number(row.tokens_per_unit, places=0),
        *(shown_number(each) for each in (row.probes, row.invalid, row.retried)),
    )


def _tree(dimensions: list[Any], row: Row) -> dict[str, Any]:
    from billing.ledger.exact import write_exact  # noqa: PLC0415

    def text(value: Any) -> str | None:
        return None if value is None else write_exact(value)

    return {
        **dict(zip(dimensions, row.keys, strict=True)),
        "currency": row.currency,
        "requests": row.requests,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "gpu_seconds": _gpu_seconds(row),
        "amount": text(row.amount),
        "per_1000_requests": text(row.per_1000_requests),
        "per_1000_tokens": text(row.per_1000_tokens),
        "tokens_per_unit": text(row.tokens_per_unit),
        **{name: text(getattr(row, name)) for name in ("probes", "invalid", "retried", "adjusted")},
    }


def _gpu_seconds(row: Row) -> str:
    """Return GPU-seconds to 0.1 s, as they are printed everywhere."""
    return shown_number(Fraction(row.gpu_picoseconds, _PICOSECONDS), places=1)


def shown_number(value: Any, *, places: int = _PLACES) -> str:
    """Return a number rounded to `places`, a dash where there is none."""
    from fairclock.documents.numbers import rounded  # noqa: PLC0415

    return "-" if value is None else f"{rounded(value, places):f}"


def aligned(rows: list[tuple[str, ...]], *, left: int) -> list[str]:
    """Return the lines of a table, its first `left` columns to the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            text.ljust(width) if number < left else text.rjust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
