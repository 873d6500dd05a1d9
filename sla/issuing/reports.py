"""Own how a report is issued: numbered, stored with its bytes, never changed; and how issued ones are found again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from billing.ledger.entries import NO_HASH
from fairclock.errors import NotEvaluable, StoreError, UsageError
from fairclock.model import utc_text
from fairclock.store.issued_reports import (
    IssuedRow,
    SignatureRow,
    issued_content,
    issued_rows,
    keep_issued,
    signature_rows,
)
from fairclock.store.ledger import wait_until_settled
from sla.evaluation import evaluate
from sla.issuing.chains import chain_of, chains_of, number_of
from sla.reports.canonical import report_json
from sla.revisions import (
    changes_since,
    digest_of,
    figures_of,
    keep_revision,
    months_within,
    with_revision,
)
from sla.slices import in_force

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.issuing.chains import Chain

FINAL = "final"
_TRIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """One issued report: its row, and the bytes of its report.json. `is_new`: it was issued just now."""

    row: IssuedRow
    content: bytes
    is_new: bool = False

    @property
    def report(self) -> dict[str, Any]:
        """Return the report."""
        found: dict[str, Any] = json.loads(self.content)
        return found


def issue(
    store: Store,
    contracts: Sequence[Contract],
    *,
    month: str,
    as_of: datetime | None,
    now: datetime,
    software_version: str,
    fonts: Sequence[Mapping[str, Any]] = (),
) -> Issued:
    """Issue the report of a month that is over, or return the one that says already what it would say.

    However many issue at once, a number is given once and none is left out. Raises NotEvaluable where the month is not over,
    UsageError where `as_of` lies before that of the month's last issued report.
    """
    report = evaluate(
        store, contracts, month=month, as_of=as_of, software_version=software_version, fonts=fonts
    )
    known = datetime.fromisoformat(str(report["as_of"]))
    end = datetime.fromisoformat(str(report["period"]["to"]))
    if known < end:
        raise NotEvaluable(
            f"month {month}",
            "is not over, so its report cannot be issued",
            found=f"it ends {end.isoformat()}, the report is as of {known.isoformat()}",
            remedy="leave out --issue: you get the draft",
        )
    contract, figures = contracts[-1].id, digest_of(figures_of(report))
    drafted: dict[str, Any] | None = None
    for _ in range(_TRIES):
        chain = issued_chain(store, contract)
        last = _last(chain, month)
        if last is not None:
            issued = read_issued(store, last)
            if digest_of(figures_of(issued.report)) == figures:
                return issued
            _check_later(known, last)
        if drafted is None:
            # kept, so that drafts made later know this revision
            keep_revision(store, report, inputs=_inputs(store, contracts, month, known))
            drafted = with_revision(store, report)
        final = _final(store, drafted, chain, last, contract=contracts[-1], now=now)
        content = report_json(final)
        row = _row(final, chain, content, now)
        stamp = keep_issued(store, row, content)
        wait_until_settled(store, stamp)
        held = next((each for each in issued_chain(store, contract).rows if each.sha256 == row.sha256), None)
        if held is not None:
            return Issued(row=held, content=content, is_new=True)
    raise StoreError(
        f"the report of {contract} in {month}", "others issue all the time", remedy="let one program issue"
    )


def issued_chain(store: Store, contract: str) -> Chain[IssuedRow]:
    """Return a contract's issued reports in the order of their numbers."""
    return chain_of(issued_rows(store, store.watermark(), contract=contract), contract)


def all_issued(store: Store) -> list[IssuedRow]:
    """Return every issued report, by contract and number."""
    return [row for chain in chains_of(issued_rows(store, store.watermark())).values() for row in chain.rows]


def issued_by_number(store: Store, number: str) -> Issued | None:
    """Return the report that was issued under `number`; None where there is none."""
    row = next((each for each in all_issued(store) if each.number == number), None)
    return None if row is None else read_issued(store, row)


def read_issued(store: Store, row: IssuedRow) -> Issued:
    """Return an issued report with its bytes; StoreError where these were changed in the store."""
    content = issued_content(store, row.contract, row.sha256)
    found = None if content is None else hashlib.sha256(content).hexdigest()
    if content is None or found != row.sha256:
        raise StoreError(
            f"issued report {row.number}",
            "its bytes were changed in the store",
            found=f"SHA-256 {found}, issued as {row.sha256}",
            remedy="restore the table issued_reports from a copy of that day",
        )
    return Issued(row=row, content=content)


def signatures_of(store: Store, row: IssuedRow) -> list[SignatureRow]:
    """Return the signatures that were kept for an issued report."""
    return [
        each for each in signature_rows(store, store.watermark(), row.number) if each.sha256 == row.sha256
    ]


def _last(chain: Chain[IssuedRow], month: str) -> IssuedRow | None:
    return next((each for each in reversed(chain.rows) if each.month == month), None)


def _check_later(as_of: datetime, last: IssuedRow) -> None:
    if as_of < last.as_of:
        raise UsageError(
            "--as-of",
            f"lies before what {last.number} was issued as of",
            found=f"{utc_text(as_of)}, {last.number} is as of {utc_text(last.as_of)}",
            remedy="leave it out, or name a later instant",
        )


def _inputs(store: Store, contracts: Sequence[Contract], month: str, as_of: datetime) -> str:
    due = months_within(in_force(store, contracts, as_of), None, as_of)
    return next((each.inputs for each in due if each.month == month), "")


def _final(
    store: Store,
    drafted: Mapping[str, Any],
    chain: Chain[IssuedRow],
    last: IssuedRow | None,
    *,
    contract: Contract,
    now: datetime,
) -> dict[str, Any]:
    """Return the report as it is issued: what changed is said against the one that the parties hold."""
    keys = contract.signatures
    before = chain.rows[-1] if chain.rows else None
    final = {
        **drafted,
        "status": FINAL,
        "issue": {
            "number": number_of(contract.id, chain.next_sequence),
            "issued_at": utc_text(now),
            "supersedes": None if last is None else last.number,
            "previous": None if before is None else {"number": before.number, "sha256": before.sha256},
            "keys": {
                "provider": None if keys is None else keys.provider_key,
                "customer": None if keys is None else keys.customer_key,
            },
        },
    }
    if last is None:
        return final
    return {
        **final,
        "revision": max(int(drafted["revision"]), last.revision + 1),
        "previous_revision": {
            "revision": last.revision,
            "as_of": utc_text(last.as_of),
            "number": last.number,
        },
        "changes": changes_since(store, drafted, read_issued(store, last).report),
    }


def _row(final: Mapping[str, Any], chain: Chain[IssuedRow], content: bytes, now: datetime) -> IssuedRow:
    period = final["period"]
    return IssuedRow(
        contract=str(final["contract"]["id"]),
        sequence=chain.next_sequence,
        number=str(final["issue"]["number"]),
        month=str(period["month"]),
        starts_at=datetime.fromisoformat(period["from"]).astimezone(UTC),
        ends_at=datetime.fromisoformat(period["to"]).astimezone(UTC),
        revision=int(final["revision"]),
        as_of=datetime.fromisoformat(str(final["as_of"])).astimezone(UTC),
        status=FINAL,
        issued_at=now.astimezone(UTC),
        program=str(final["evidence"]["software_version"]),
        previous=chain.head if chain.rows else NO_HASH,
        sha256=hashlib.sha256(content).hexdigest(),
    )
