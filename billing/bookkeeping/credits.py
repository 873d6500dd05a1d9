"""Own the stored credits: what was computed, what was said of it, and what a granted one takes off the next statement."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.books import Books, drafts_of, known_states, post
from billing.credits import (
    AMOUNT_WITH_TAX,
    TAX,
    TAX_RATE,
    TAXED,
    CreditEntry,
    CreditState,
    check_step,
    credits_at,
    holds,
)
from billing.credits.further import CLAIMED_AS, of_nothing
from billing.ledger import Charged, Draft, EntryKind, Item, PeriodState, booked_in, read_exact, write_exact
from billing.ledger.periods import NUMBER, STATE, after
from fairclock.errors import UsageError
from fairclock.store.ledger import CREDIT_COLUMNS, EntryChoice, keep_row, money_rows, wait_until_settled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from billing.ledger import Entry, Months
    from fairclock.store import Store
    from fairclock.store.ledger import Rows

DEDUCTED = "deduct_next"
_BODY = ("needs_claim", "form", "shares", "facts")


def credit_entries(store: Rows, as_of: datetime, **equal: str) -> list[CreditEntry]:
    """Return what had been said of credits by `as_of`; `equal` narrows by id, contract or month."""
    return [_read(row) for row in money_rows(store, "credits", CREDIT_COLUMNS, as_of, **equal)]


def keep_computed(
    store: Store, computed: Sequence[CreditEntry], *, contract: str, month: str
) -> list[CreditEntry]:
    """Write down what a contract's month came to, where it differs from what was written last; return what was added.

    A credit that is no longer due becomes one of nothing. What was claimed or decided stays as it was claimed.
    """
    now = store.watermark()
    known = {
        each.computed.id: each
        for each in credits_at(credit_entries(store, now, contract=contract, month=month), now)
    }
    wanted = {each.id: each for each in computed}
    for credit_id, credit in known.items():
        if credit_id not in wanted and credit.computed.amount:
            wanted[credit_id] = of_nothing(credit.computed)
    added = []
    for credit_id, entry in sorted(wanted.items()):
        before = known.get(credit_id)
        if before is None:
            if entry.amount:
                added.append(_kept(store, replace(entry, sequence=1, revision=1))[1])
        elif _said(before.computed) != _said(entry):
            last = (
                before.computed if before.answer is None else max(before.computed, before.answer, key=_place)
            )
            again = replace(entry, sequence=last.sequence + 1, revision=before.computed.revision + 1)
            added.append(_kept(store, again)[1])
    return added


def step(
    store: Store,
    credit_id: str,
    wanted: CreditState,
    *,
    author: str,
    comment: str = "",
    evidence: str = "",
    now: datetime,
    decide_within: timedelta | None = None,
) -> CreditEntry:
    """Claim, grant or refuse a credit, and return what was written. UsageError where it cannot be done now.

    It is claimed and granted as it was computed last; a grant says beside it what was claimed.
    """
    known = store.watermark()
    found = credits_at(credit_entries(store, known, id=credit_id), now)
    if not found:
        raise UsageError(
            credit_id, "there is no such credit", remedy="see the report, or fairclock ledger close"
        )
    (credit,) = found
    check_step(credit, wanted, author=author)
    base = credit.entry
    newest = credit.computed if wanted is CreditState.GRANTED else base
    said = replace(
        newest,
        facts=_with_claimed(newest, credit.answer),
        sequence=max(credit.computed.sequence, base.sequence) + 1,
        state=wanted,
        author=author.strip(),
        comment=comment.strip(),
        evidence=evidence.strip(),
        decide_by=now + decide_within if decide_within is not None else base.decide_by,
    )
    stamp, kept = _kept(store, said)
    told = credit_entries(store, wait_until_settled(store, stamp), id=credit_id)
    if not holds(kept, told):
        (stands,) = credits_at(told, now)
        raise UsageError(
            credit_id,
            f"cannot be {wanted} now",
            found=f"something else was written first: it is {stands.state}, revision {stands.entry.revision}",
            remedy="look at it again",
        )
    return kept


def grant(
    store: Store,
    credit_id: str,
    months: Months,
    *,
    author: str,
    comment: str = "",
    evidence: str = "",
    now: datetime,
) -> tuple[CreditEntry, list[Entry]]:
    """Grant a credit and take it off; return what was written and what was added to the ledger.

    Of one that is granted already what is missing is taken off: whoever granted it may have been killed before.
    """
    known = credits_at(credit_entries(store, store.watermark(), id=credit_id), now)
    granted = next((each.entry for each in known if each.state is CreditState.GRANTED), None)
    if granted is None:
        granted = step(
            store,
            credit_id,
            CreditState.GRANTED,
            author=author,
            comment=comment,
            evidence=evidence,
            now=now,
        )
    return granted, deduct(store, granted, months)


def deduct_granted(store: Store, months: Months) -> list[Entry]:
    """Take every granted credit off that is not taken off yet, and return what was added."""
    now = store.watermark()
    granted = [
        each.entry
        for each in credits_at(credit_entries(store, now), now)
        if each.state is CreditState.GRANTED
    ]
    return [entry for each in granted for entry in deduct(store, each, months)]


def deduct(store: Store, credit: CreditEntry, months: Months) -> list[Entry]:
    """Take a granted credit off each tenant's next statement; once, however often it is asked for.

    It is booked in the first month after that of its objective that is not final, and names the statement that it is about.
    """

    def plan(books: Books) -> list[Draft]:
        known = known_states(store, books)
        drafts: list[Draft] = []
        for tenant, parts in sorted(_parts(credit).items()):
            found = drafts_of(store, books, EntryChoice(tenants=(tenant,), kinds=("credit", "close"))).get(
                tenant, ()
            )
            if any(each.kind is EntryKind.CREDIT and each.subject == credit.id for _, each in found):
                continue
            number = next(
                (
                    each.facts[NUMBER]
                    for _, each in found
                    if each.facts.get(STATE) == PeriodState.FINAL and each.period == credit.month
                ),
                "",
            )
            period = booked_in(after(credit.month), known.get(tenant, {}))
            drafts += [
                _deducted(
                    credit, tenant, net, months=months, period=period, facts={**tax, "statement": number}
                )
                for net, tax in parts
            ]
        return drafts

    return post(store, plan) if credit.form == DEDUCTED and credit.state is CreditState.GRANTED else []


def _parts(credit: CreditEntry) -> dict[str, list[tuple[Fraction, dict[str, str]]]]:
    """Return what goes off each tenant's statement: before tax, with the facts of its tax, once for each rate."""
    taxed = credit.facts.get(TAXED)
    if taxed is None:
        return {tenant: [(share, {})] for tenant, share in credit.shares.items() if share}
    found: dict[str, list[tuple[Fraction, dict[str, str]]]] = {}
    for each in taxed:
        tax = {TAX_RATE: each[TAX_RATE], TAX: each[TAX]}
        found.setdefault(each["tenant"], []).append((read_exact(each["net"]), tax))
    return found


def _deducted(
    credit: CreditEntry,
    tenant: str,
    share: Fraction,
    *,
    months: Months,
    period: str,
    facts: Mapping[str, str],
) -> Draft:
    month = months.interval(credit.month)
    charge = Charged(
        kind="service_credit", quantity=Fraction(1), unit="credit", unit_price=-share, amount=-share
    )
    return Draft(
        kind=EntryKind.CREDIT,
        tenant=tenant,
        start=month.start,
        end=month.end,
        period=period,
        about=credit.month,
        currency=credit.currency,
        subject=credit.id,
        items=(Item(usage=None, charges=(charge,)),),
        facts={
            "contract": credit.contract,
            "objective": credit.objective,
            "revision": str(credit.revision),
            **facts,
        },
    )


def _with_claimed(entry: CreditEntry, claimed: CreditEntry | None) -> dict[str, Any]:
    """Return the facts of an answer, with the amounts that were claimed where a claim is answered."""
    if claimed is None:
        return dict(entry.facts)
    said = {"revision": claimed.revision, "amount": write_exact(claimed.amount)}
    if AMOUNT_WITH_TAX in claimed.facts:
        said[AMOUNT_WITH_TAX] = claimed.facts[AMOUNT_WITH_TAX]
    return dict(entry.facts) | {CLAIMED_AS: said}


def _place(entry: CreditEntry) -> int:
    return entry.sequence


def _said(entry: CreditEntry) -> dict[str, Any]:
    """Return what a computation says, without when and how often it was said."""
    left_out = {"sequence", "revision", "stored_at", "state", "author", "comment", "evidence", "decide_by"}
    return {name: value for name, value in asdict(entry).items() if name not in left_out}


def _kept(store: Store, entry: CreditEntry) -> tuple[datetime, CreditEntry]:
    body = {
        "needs_claim": entry.needs_claim,
        "form": entry.form,
        "shares": {tenant: write_exact(share) for tenant, share in sorted(entry.shares.items())},
        "facts": dict(entry.facts),
    }
    row = {name: getattr(entry, name) for name in CREDIT_COLUMNS if name not in {"body", "stored_at"}} | {
        "state": str(entry.state),
        "amount": write_exact(entry.amount),
        "body": json.dumps(body, sort_keys=True, ensure_ascii=False),
    }
    stamp = keep_row(store, "credits", row)
    return stamp, replace(entry, stored_at=stamp)


def _read(row: dict[str, Any]) -> CreditEntry:
    body = json.loads(row["body"])
    said = {name: value for name, value in row.items() if name != "body"} | {
        name: body[name] for name in _BODY
    }
    return CreditEntry(
        **{
            **said,
            "state": CreditState(row["state"]),
            "amount": read_exact(row["amount"]),
            "shares": {tenant: read_exact(share) for tenant, share in body["shares"].items()},
        }
    )
