"""Own the demonstration's issued report: one contract's month numbered, signed by its provider, and verified."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fairclock import __version__
from fairclock.documents.files import write_whole
from fairclock.documents.fonts import describe
from fairclock.errors import StoreError
from fairclock.store.issued_reports import SignatureRow, keep_signature
from sla.issuing.findings import verify_file
from sla.issuing.keys import PrivateKey
from sla.issuing.printing import printed
from sla.issuing.reports import issue
from sla.issuing.signing import sign

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.reports.issue import IssuedReport

ISSUED_CONTRACT = "acme"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoIssue:
    """The report as it is printed, and the files: its bytes, and the signature beside them."""

    report: IssuedReport
    files: tuple[Path, ...]


def demo_key() -> PrivateKey:
    """Return the simulated provider's key: everybody can make it, so that equal arguments give equal contracts."""
    seed = hashlib.sha256(b"the key of a provider that does not exist").digest()
    return PrivateKey(Ed25519PrivateKey.from_private_bytes(seed))


def issue_signed(store: Store, contract: Contract, *, month: str, folder: Path) -> DemoIssue:
    """Issue the report of a month that is over, now by the store's clock; sign it, and write both into `folder`.

    Raises StoreError where the issued bytes or the signature do not hold.
    """
    now = store.watermark()
    issued = issue(
        store, [contract], month=month, as_of=now, now=now, software_version=__version__, fonts=describe()
    )
    key, file = demo_key(), f"{issued.row.number}.json"
    signature = sign(issued.content, key, file=file, now=now)
    keep_signature(
        store,
        SignatureRow(
            number=issued.row.number,
            sha256=issued.row.sha256,
            public_key=key.public.text,
            signed_at=now.astimezone(UTC),
            content=signature,
        ),
    )
    beside = folder / f"{file}.{key.public.key_id}.sig"
    found = verify_file(
        issued.content,
        [(beside.name, signature)],
        contracts=[contract],
        keys=(),
        authorities=(),
        store=store,
        now=now,
    )
    if not found.is_good:
        wrong = [each.text for each in found.findings if each.is_wrong]
        wrong += [each.text for signed in found.signatures for each in signed.findings if each.is_wrong]
        raise StoreError(
            store.dsn,
            f"{issued.row.number} is not what was issued",
            found="; ".join(wrong),
            remedy="run the demonstration again",
        )
    write_whole(folder / file, issued.content)
    write_whole(beside, signature)
    return DemoIssue(report=printed(store, issued), files=(folder / file, beside))
