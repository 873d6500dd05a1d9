"""Own ``fairclock ledger close``: a month rated, adjusted, and made a draft or final; what its contracts give back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from fairclock.cli.ledger import JSON, PRICES, TENANTS, book_of
from fairclock.cli.options import common_options, store_dsn


@click.command()
@click.option("--month", required=True, metavar="YYYY-MM", help="The month, in the price book's zone.")
@click.option("--final", "is_final", is_flag=True, help="Make it final: it never changes again.")
@click.option(
    "--contract",
    "contracts",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A contract whose credits are computed, too; may be repeated (default: the configuration's sla.contracts).",
)
@TENANTS
@PRICES
@JSON
@common_options
def close(
    *,
    month: str,
    is_final: bool,
    contracts: tuple[Path, ...],
    tenants: tuple[str, ...],
    prices: Path | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Close a month as a draft: rate it, and adjust it for tiers, minimums and included volumes.

    Late rows still change a draft. With --final, and billing.grace_days after its end at the earliest, it gets its number
    and never changes again: what comes later is a credit or debit note in the next month. What the contracts give back for the
    month is written down, so that it can be claimed.
    """
    del debug
    from billing.bookkeeping.closing import Closing, close_month  # noqa: PLC0415
    from billing.ledger import PeriodState  # noqa: PLC0415
    from fairclock.cli import ledger_credits, ledger_rating  # noqa: PLC0415
    from fairclock.cli.configuration import configuration  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415

    book = book_of(prices, config)
    closing = Closing(
        month=month,
        state=PeriodState.FINAL if is_final else PeriodState.DRAFT,
        grace=timedelta(days=configuration(config).billing.grace_days),
        tenants=tenants or None,
        owing=book.owing_without_use(month),
        owing_before=book.owing_before(month),
    )
    asked = ledger_rating.window_of(book.months, month, None, None)
    with open_store(store_dsn(dsn, config)) as store:
        ledger_rating.rate_windows(store, book, asked, settings=configuration(config).billing.cost_book())
        entries = close_month(
            store,
            closing,
            prices=book,
            months=book.months,
            now=datetime.now(UTC),
            currency=book.book.currency.code,
        )
        credited = ledger_credits.keep_credits(store, contracts or configuration(config).sla.contracts, month)
    closed = [
        {"tenant": each.draft.tenant, "month": month, "sequence": each.sequence, **each.draft.facts}
        for each in entries
        if each.draft.kind == "close"
    ]
    if as_json:
        tree = {"closed": closed, "credits": [ledger_credits.tree(each) for each in credited]}
        click.echo(json.dumps(tree, ensure_ascii=False, indent=2))
        return
    for each in closed:
        totals = ", ".join(
            f"{value} {key[6:]}" for key, value in each.items() if str(key).startswith("total_")
        )
        number = f", number {each['number']}" if "number" in each else ""
        click.echo(f"{each['tenant']}  {month}  {each['state']}{number}: {totals or 'nothing'} before tax")
    for credit in credited:
        click.echo(ledger_credits.sentence(credit))
    if not closed and not quiet:
        click.echo(f"{month}: nothing to close; it is {closing.state} already, or has no entries", err=True)
