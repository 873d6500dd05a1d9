"""Own what is found out about a signed file: whether its bytes are unaltered, and who signed them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.errors import InputError
from fairclock.model import utc_text
from sla.issuing.certificates import chain_problem, subject_of
from sla.issuing.keys import parse_public_key
from sla.issuing.signing import read_signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from cryptography import x509

    from sla.contracts import Contract
    from sla.issuing.keys import PublicKey
    from sla.issuing.signing import Signature

PROVIDER, CUSTOMER = "provider", "customer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One sentence about a file; `is_wrong` where it speaks against the file."""

    text: str
    is_wrong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Whose keys are known: by their names, and the authorities whose certificates are believed."""

    keys: Mapping[PublicKey, tuple[str, ...]]
    authorities: tuple[x509.Certificate, ...] = ()

    def names(self, key: PublicKey) -> tuple[str, ...]:
        """Return by which names a key is known; none where it is not."""
        return self.keys.get(key, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBy:
    """What one signature is worth. `signer`: who it is, as far as that is known; `is_good`: everything about it holds."""

    where: str
    signer: str | None
    key: str | None
    signed_at: datetime | None
    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Tell whether nothing speaks against it."""
        return not any(each.is_wrong for each in self.findings)

    def tree(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "signature": self.where,
            "signer": self.signer,
            "public_key": self.key,
            "signed_at": None if self.signed_at is None else utc_text(self.signed_at),
            "good": self.is_good,
            "findings": [{"text": each.text, "wrong": each.is_wrong} for each in self.findings],
        }


def fine(text: str) -> Finding:
    """Return a sentence that speaks for the file, or neither way."""
    return Finding(text=text, is_wrong=False)


def wrong(text: str) -> Finding:
    """Return a sentence that speaks against the file."""
    return Finding(text=text, is_wrong=True)


def trust_of(
    contracts: Iterable[Contract],
    others: Sequence[PublicKey] = (),
    authorities: Sequence[x509.Certificate] = (),
) -> Trust:
    """Return the keys that contracts name as their parties', and `others` that whoever asks vouches for; raises InputError."""
    keys: dict[PublicKey, tuple[str, ...]] = {}
    for contract in contracts:
        said = contract.signatures
        if said is None:
            continue
        for role, name, text in (
            (PROVIDER, contract.provider.name, said.provider_key),
            (CUSTOMER, contract.customer.name, said.customer_key),
        ):
            if text is not None:
                key = parse_public_key(text, where=f"{contract.source_path}: signatures.{role}_key")
                named = f"the {role}, {name}"
                keys[key] = tuple(dict.fromkeys((*keys.get(key, ()), named)))
    for key in others:
        keys.setdefault(key, ("the key given with --key",))
    return Trust(keys=keys, authorities=tuple(authorities))


def check_signature(content: bytes, file: bytes, *, where: str, trust: Trust, now: datetime) -> SignedBy:
    """Return what the signature in `file` is worth for `content`; nothing that is in it raises."""
    try:
        found = read_signature(file, where=where)
    except InputError as error:
        said = f"{error.problem} ({error.found})" if error.found else error.problem
        return SignedBy(where=where, signer=None, key=None, signed_at=None, findings=(wrong(said),))
    findings = [*_bytes_findings(content, found)]
    signer, about_key = _signer(found, trust, now)
    findings += about_key
    return SignedBy(
        where=where,
        signer=signer,
        key=found.key.text,
        signed_at=found.signed_at,
        findings=tuple(findings),
    )


def _bytes_findings(content: bytes, found: Signature) -> Iterable[Finding]:
    sha256 = hashlib.sha256(content).hexdigest()
    is_valid = found.key.verifies(found.signature, content)
    if sha256 != found.sha256 or len(content) != found.size_bytes:
        yield wrong(
            f"the bytes are not those that were signed: SHA-256 {sha256} ({len(content)} bytes),"
            f" signed {found.sha256} ({found.size_bytes} bytes)"
        )
    elif not is_valid:
        yield wrong("the signature was not made with its key over these bytes")
    else:
        yield fine("the bytes are unaltered since they were signed")
    if not found.is_whole:
        yield wrong("what the signature's file says of time, key and certificates was altered")


def _signer(found: Signature, trust: Trust, now: datetime) -> tuple[str | None, list[Finding]]:
    """Return who signed, and what that rests on: a key of the contract, else a certificate, else nothing."""
    names = trust.names(found.key)
    findings = []
    subject = subject_of(found.certificates[0]) if found.certificates else None
    if found.certificates:
        problem = chain_problem(found.certificates, found.key, at=found.signed_at, trusted=trust.authorities)
        findings.append(wrong(problem) if problem else fine(f"its certificate is about {subject}"))
        later = chain_problem(found.certificates, found.key, at=now, trusted=trust.authorities)
        if later and not problem:
            # the time of signing is the signer's own word: a certificate alone cannot vouch for it once it has expired
            said = f"{later}; that it was signed before is the signer's own word"
            findings.append(fine(said) if names else wrong(said))
    if found.signed_at > now:
        findings.append(
            wrong(f"it says that it was signed at {utc_text(found.signed_at)}, which is yet to come")
        )
    if names:
        signer = " and ".join(names)
        findings.append(fine(f"the key {found.key.text} is that of {signer}"))
        return signer, findings
    if found.certificates and trust.authorities and not any(each.is_wrong for each in findings):
        findings.append(fine(f"the key is that of {subject}, by an authority that is trusted here"))
        return subject, findings
    findings.append(
        wrong(
            f"the key {found.key.text} is none of those that are trusted here"
            if trust.keys
            else f"nobody here says whose the key {found.key.text} is"
        )
    )
    return None, findings
