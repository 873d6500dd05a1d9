"""Own ``fairclock ledger claim``, ``grant`` and ``refuse``: what becomes of a credit."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.ledger import JSON, PRICES, book_of
from fairclock.cli.options import common_options, store_dsn
from fairclock.errors import NotEvaluable
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from billing.credits import CreditEntry
    from billing.ledger import Entry
    from fairclock.store import Store

_AUTHOR = click.option("--author", required=True, help="Who says so: a person of that side.")
_EVIDENCE = click.option("--evidence", default="", help="What shows it: a letter, a ticket, a measurement.")


@click.command()
@click.argument("credit", metavar="ID")
@_AUTHOR
@_EVIDENCE
@click.option("--comment", default="", help="What else is to be said.")
@JSON
@common_options
def claim(*, credit: str, author: str, evidence: str, comment: str, **others: Any) -> None:
    """Claim a credit for the customer, within the contract's dates; the report lists credits with their ids."""
    _step(credit, "claimed", author=author, evidence=evidence, comment=comment, **others)


@click.command()
@click.argument("credit", metavar="ID")
@_AUTHOR
@_EVIDENCE
@click.option("--comment", default="", help="What else is to be said.")
@PRICES
@JSON
@common_options
def grant(
    *, credit: str, author: str, evidence: str, comment: str, prices: Path | None, **others: Any
) -> None:
    """Grant a claimed credit for the provider; where the contract deducts it, it goes off the next statement."""
    _step(credit, "granted", author=author, evidence=evidence, comment=comment, prices=prices, **others)


@click.command()
@click.argument("credit", metavar="ID")
@_AUTHOR
@click.option("--comment", required=True, help="Why it is refused.")
@_EVIDENCE
@JSON
@common_options
def refuse(*, credit: str, author: str, evidence: str, comment: str, **others: Any) -> None:
    """Refuse a claimed credit for the provider, for good."""
    _step(credit, "refused", author=author, evidence=evidence, comment=comment, **others)


def keep_credits(store: Store, paths: Sequence[Path], month: str) -> list[CreditEntry]:
    """Write down what contracts give back for a month, and return what is new; a contract that does not know the month is left out."""
    from billing.bookkeeping.credits import keep_computed  # noqa: PLC0415
    from sla.contracts import require_lintable  # noqa: PLC0415
    from sla.contracts.versions import load_versions  # noqa: PLC0415
    from sla.evaluation import computed_credits  # noqa: PLC0415

    added: list[CreditEntry] = []
    for path in paths:
        versions = load_versions(path)
        for version in versions:
            require_lintable(version)
        with suppress(NotEvaluable):
            found = computed_credits(store, versions, month=month)
            added += keep_computed(store, found, contract=versions[0].id, month=month)
    return added


def sentence(entry: CreditEntry) -> str:
    """Return a credit as a person reads it."""
    from billing.credits import AMOUNT_WITH_TAX  # noqa: PLC0415
    from billing.credits.further import COMES_TO, FURTHER_TO, GRANTED_BEFORE  # noqa: PLC0415
    from billing.ledger import write_exact  # noqa: PLC0415

    further = (
        f", further to {entry.facts[FURTHER_TO]}: {entry.facts[COMES_TO]} less {entry.facts[GRANTED_BEFORE]} granted"
        if FURTHER_TO in entry.facts
        else ""
    )
    tax = f" ({entry.facts[AMOUNT_WITH_TAX]} with tax)" if AMOUNT_WITH_TAX in entry.facts else ""
    end = "" if entry.closes_at is None else f" until {utc_text(entry.closes_at)}"
    claim = f"can be claimed from {utc_text(entry.opens_at)}{end}" if entry.needs_claim else "needs no claim"
    return (
        f"{entry.id}  {entry.contract}  {entry.month}  {entry.objective}  {write_exact(entry.amount)} {entry.currency}{tax}"
        f"  ({entry.facts['tier']}), revision {entry.revision}, {claim}{further}"
    )


def _step(
    credit: str,
    wanted: str,
    *,
    author: str,
    evidence: str,
    comment: str,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
    prices: Path | None = None,
) -> None:
    del debug
    from billing.bookkeeping.credits import credit_entries, grant, step  # noqa: PLC0415
    from billing.credits import CreditState  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415

    said = CreditState(wanted)
    book = book_of(prices, config) if said is CreditState.GRANTED else None
    now = datetime.now(UTC)
    with open_store(store_dsn(dsn, config)) as store:
        entries: list[Entry] = []
        if book is not None:
            words = {"author": author, "comment": comment, "evidence": evidence}
            kept, entries = grant(store, credit, book.months, **words, now=now)
        else:
            known = credit_entries(store, store.watermark(), id=credit)
            within = (
                known[-1].facts.get("decide_within_us") if known and said is CreditState.CLAIMED else None
            )
            kept = step(
                store,
                credit,
                said,
                author=author,
                comment=comment,
                evidence=evidence,
                now=now,
                decide_within=None if within is None else timedelta(microseconds=within),
            )
    if as_json:
        click.echo(json.dumps(tree(kept), ensure_ascii=False))
    elif not quiet:
        booked = f", booked in {entries[0].draft.period}" if entries else ""
        decide = (
            f"; to be decided by {utc_text(kept.decide_by)}"
            if said is CreditState.CLAIMED and kept.decide_by
            else ""
        )
        click.echo(f"{credit} is {wanted}{booked}{decide}{_claimed_as(kept)}", err=True)


def _claimed_as(entry: CreditEntry) -> str:
    """Return what was granted beside what was claimed, where the credit was computed anew in between."""
    from billing.credits import CreditState  # noqa: PLC0415
    from billing.credits.further import CLAIMED_AS  # noqa: PLC0415
    from billing.ledger import write_exact  # noqa: PLC0415

    claimed = entry.facts.get(CLAIMED_AS)
    if entry.state is not CreditState.GRANTED or claimed is None or claimed["revision"] == entry.revision:
        return ""
    granted = f"{write_exact(entry.amount)} {entry.currency} before tax, as of revision {entry.revision}"
    return f"; granted are {granted}, claimed were {claimed['amount']} of revision {claimed['revision']}"


def tree(entry: CreditEntry) -> dict[str, Any]:
    """Return a credit as JSON values."""
    from billing.credits import AMOUNT_WITH_TAX  # noqa: PLC0415
    from billing.credits.further import CLAIMED_AS, FURTHER_TO  # noqa: PLC0415
    from billing.ledger import write_exact  # noqa: PLC0415

    return {
        "id": entry.id,
        "contract": entry.contract,
        "month": entry.month,
        "objective": entry.objective,
        "revision": entry.revision,
        "state": str(entry.state),
        "currency": entry.currency,
        "amount": write_exact(entry.amount),
        "amount_with_tax": entry.facts.get(AMOUNT_WITH_TAX),
        "claimed_as": entry.facts.get(CLAIMED_AS),
        "further_to": entry.facts.get(FURTHER_TO),
        "form": entry.form,
        "shares": {tenant: write_exact(share) for tenant, share in entry.shares.items()},
        "decide_by": None if entry.decide_by is None else utc_text(entry.decide_by),
        "author": entry.author,
        "comment": entry.comment,
        "evidence": entry.evidence,
        "stored_at": None if entry.stored_at is None else utc_text(entry.stored_at),
    }
