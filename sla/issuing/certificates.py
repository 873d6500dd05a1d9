"""Own what a chain of certificates is worth: whom it names, when it is valid, and whether it leads to who is trusted."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

from fairclock.model import utc_text
from sla.issuing.keys import key_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sla.issuing.keys import PublicKey


def subject_of(certificate: x509.Certificate) -> str:
    """Return whom a certificate is about, on one line."""
    return _one_line(certificate.subject)


def chain_problem(
    chain: Sequence[x509.Certificate], key: PublicKey, *, at: datetime, trusted: Sequence[x509.Certificate]
) -> str:
    """Return why `chain` does not say whose `key` was at an instant; an empty string where it does.

    With `trusted` certificates the chain has to lead to one of them; without, only its own links are looked at.
    """
    if not chain:
        return "there is no certificate"
    if key_of(chain[0]) != key:
        return f"the certificate of {subject_of(chain[0])} is about another key"
    for certificate in chain:
        problem = _period_problem(certificate, at)
        if problem:
            return problem
    for certificate, issuer in pairwise(chain):
        if not _is_issued_by(certificate, issuer):
            return f"the certificate of {subject_of(certificate)} was not issued by {subject_of(issuer)}, which stands behind it"
    return _trust_problem(chain, at, trusted) if trusted else ""


def _trust_problem(
    chain: Sequence[x509.Certificate], at: datetime, trusted: Sequence[x509.Certificate]
) -> str:
    last = chain[-1]
    for anchor in trusted:
        if (last == anchor or _is_issued_by(last, anchor)) and not _period_problem(anchor, at):
            return ""
    return f"the certificate of {subject_of(last)} leads to no authority that is trusted here"


def _period_problem(certificate: x509.Certificate, at: datetime) -> str:
    name = subject_of(certificate)
    if at < certificate.not_valid_before_utc:
        return f"the certificate of {name} was not valid before {utc_text(certificate.not_valid_before_utc)}"
    if at > certificate.not_valid_after_utc:
        return f"the certificate of {name} expired at {utc_text(certificate.not_valid_after_utc)}"
    return ""


def _is_issued_by(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    """Tell whether an authority issued a certificate; whoever is no authority issues none."""
    try:
        is_authority = issuer.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        certificate.verify_directly_issued_by(issuer)
    except (
        ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm, x509.ExtensionNotFound, x509.DuplicateExtension,
    ):  # fmt: skip
        return False
    return is_authority


def _one_line(name: x509.Name) -> str:
    return "".join(each if each.isprintable() else "�" for each in name.rfc4514_string())
