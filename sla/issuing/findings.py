"""Own everything that is found out about one file: what it is, whether the store knows it, what its signatures are worth."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.errors import FairclockError, InputError
from sla.issuing import day_seals
from sla.issuing.reports import issued_by_number, issued_chain
from sla.issuing.sealed_days import check_sealed_day
from sla.issuing.verifying import Finding, SignedBy, check_signature, fine, trust_of, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cryptography import x509

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.issuing.keys import PublicKey

_REPORT = "fairclock.report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was found about a file as a whole, and about each of its signatures."""

    sha256: str
    kind: str
    findings: tuple[Finding, ...]
    signatures: tuple[SignedBy, ...]

    @property
    def is_good(self) -> bool:
        """Tell whether nothing speaks against the file."""
        return not any(each.is_wrong for each in self.findings) and all(
            each.is_good for each in self.signatures
        )

    def tree(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "sha256": self.sha256,
            "kind": self.kind,
            "good": self.is_good,
            "findings": [{"text": each.text, "wrong": each.is_wrong} for each in self.findings],
            "signatures": [each.tree() for each in self.signatures],
        }


def verify_file(
    content: bytes,
    signatures: Sequence[tuple[str, bytes]],
    *,
    contracts: Sequence[Contract],
    keys: Sequence[PublicKey],
    authorities: Sequence[x509.Certificate],
    store: Store | None,
    now: datetime,
) -> Verified:
    """Return what a file is worth; `signatures` are (where, bytes). Raises InputError where a contract names a key that is none."""
    kind, tree = _kind(content)
    sha256 = hashlib.sha256(content).hexdigest()
    findings = [fine(f"SHA-256 {sha256}, {len(content)} bytes")]
    own, about_contract = _contracts_of(kind, tree, contracts)
    findings += about_contract
    if kind == "report":
        findings += _report_findings(tree, sha256, store)
    elif kind == "day-seal":
        findings += _day_findings(content, sha256, store, own)
    trust = trust_of(own, keys, authorities)
    checked = tuple(
        check_signature(content, file, where=where, trust=trust, now=now) for where, file in signatures
    )
    if not checked and (kind != "day-seal" or store is None):
        findings.append(wrong("it is not signed: no signature was named, and none lies beside it"))
    return Verified(sha256=sha256, kind=kind, findings=tuple(findings), signatures=checked)


def _kind(content: bytes) -> tuple[str, dict[str, Any]]:
    """Return what a file is; whatever cannot be read as one of ours is just a file."""
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return "file", {}
    if isinstance(tree, dict):
        if tree.get("schema") == day_seals.SCHEMA:
            return "day-seal", tree
        if tree.get("schema") == _REPORT:
            return "report", tree
    return "file", {}


def _contracts_of(
    kind: str, tree: dict[str, Any], contracts: Sequence[Contract]
) -> tuple[list[Contract], list[Finding]]:
    """Return the versions of contracts that a file itself is by; a file that names none is held against all."""
    if kind == "file":
        return list(contracts), []
    said = tree.get("contract")
    said = said if isinstance(said, dict) else {}
    versions = said.get("versions")
    hashes = {said.get("version_sha256")} | {
        each.get("version_sha256")
        for each in (versions if isinstance(versions, list) else ())
        if isinstance(each, dict)
    }
    mine = [each for each in contracts if each.id == said.get("id")]
    own = [each for each in mine if each.version_sha256 in hashes]
    if own:
        return own, [
            fine(f"the contract {each.id} is the version that it names, {each.version_sha256}")
            for each in own
        ]
    if mine:
        return [], [
            wrong(
                f"the contract {mine[0].id} that is here is another version than it names:"
                f" {mine[0].version_sha256}, named {said.get('version_sha256')}"
            )
        ]
    return [], []


def _report_findings(tree: dict[str, Any], sha256: str, store: Store | None) -> Iterator[Finding]:
    issue = tree.get("issue")
    number = issue.get("number") if isinstance(issue, dict) else None
    if not isinstance(number, str) or tree.get("status") != "final":
        yield fine("it is a draft: nothing was issued with it")
        return
    if store is None:
        yield fine(f"it says that it was issued as {number}; there is no store here to hold it against")
        return
    try:
        issued = issued_by_number(store, number)
    except FairclockError as error:
        yield wrong(str(error))
        return
    if issued is None:
        yield wrong(f"nothing was issued as {number}")
    elif issued.row.sha256 != sha256:
        yield wrong(f"what was issued as {number} has other bytes: SHA-256 {issued.row.sha256}")
    else:
        yield fine(f"it is what was issued as {number}, byte for byte")
        later = [
            each.number
            for each in issued_chain(store, issued.row.contract).rows
            if each.month == issued.row.month and each.sequence > issued.row.sequence
        ]
        if later:
            yield fine(f"a later revision was issued since: {later[-1]}")


def _day_findings(
    content: bytes, sha256: str, store: Store | None, contracts: Sequence[Contract]
) -> Iterator[Finding]:
    try:
        seal = day_seals.read_day_seal(content, where="the seal")
    except InputError as error:
        yield wrong(f"{error.problem} ({error.found})")
        return
    yield fine(f"it is the seal of {seal['contract']['id']} on {seal['day']}, revision {seal['revision']}")
    if store is None:
        yield fine("there is no store here to hold it against")
        return
    yield from check_sealed_day(store, seal, sha256, contracts)
