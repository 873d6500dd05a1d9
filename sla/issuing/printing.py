"""Own what an issued report's pages are told of its issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.errors import InputError
from sla.issuing.certificates import subject_of
from sla.issuing.keys import PublicKey, parse_public_key
from sla.issuing.reports import signatures_of
from sla.issuing.signing import read_signature
from sla.issuing.verifying import CUSTOMER, PROVIDER
from sla.reports.issue import IssuedReport, PrintedIssue, PrintedSignature

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fairclock.store import Store
    from sla.issuing.reports import Issued


def printed(store: Store, issued: Issued) -> IssuedReport:
    """Return an issued report with its bytes and signatures, ready to be written in any form."""
    report = issued.report
    roles = roles_of(report)
    signatures = []
    for row in signatures_of(store, issued.row):
        found = read_signature(row.content, where=f"the signature of {issued.row.number}")
        signatures.append(
            PrintedSignature(
                role=roles.get(found.key),
                public_key=found.key.text,
                signed_at=found.signed_at,
                subject=subject_of(found.certificates[0]) if found.certificates else None,
            )
        )
    issue = PrintedIssue(
        number=issued.row.number,
        issued_at=issued.row.issued_at,
        content=issued.content,
        signatures=tuple(signatures),
    )
    return IssuedReport(report, issue)


def roles_of(report: Mapping[str, Any]) -> dict[PublicKey, str]:
    """Return whose keys the contract named when a report was issued; a text that is no key is nobody's."""
    said = (report.get("issue") or {}).get("keys") or {}
    roles: dict[PublicKey, str] = {}
    for role in (CUSTOMER, PROVIDER):
        if said.get(role):
            try:
                roles[parse_public_key(str(said[role]), where=f"signatures.{role}_key")] = role
            except InputError:
                # the contract's text is printed in the report; a key that is none has signed nothing
                continue
    return roles
