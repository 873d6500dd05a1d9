"""Own the file of a detached signature: what it says, how it is made, and how it is read.

``signature`` is Ed25519 (RFC 8032) over the bytes of the signed file and nothing else, so that any program that knows
Ed25519 can check it. ``statement`` is a second one, over everything else that the file says.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.serialization import Encoding

from fairclock.errors import InputError
from fairclock.model import utc_text
from sla.issuing.certificates import chain_problem
from sla.issuing.keys import ALGORITHM, PublicKey, parse_certificates, parse_public_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cryptography import x509

    from sla.issuing.keys import PrivateKey

SCHEMA = "fairclock.signature/1"
_STATEMENT_PREFIX = f"{SCHEMA}\n".encode()
_LARGEST_FILE_BYTES = 1 << 20
_TEXTS = (
    "algorithm", "key_id", "public_key", "file", "sha256", "signed_at", "signature", "statement",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a signature's file says; `stated` is what the statement's own signature is over: all of the rest."""

    key: PublicKey
    key_id: str
    file: str
    sha256: str
    size_bytes: int
    signed_at: datetime
    signature: bytes
    statement: bytes
    certificates: tuple[x509.Certificate, ...]
    stated: bytes

    @property
    def is_whole(self) -> bool:
        """Tell whether everything that the file says is what the signer wrote."""
        return self.key_id == self.key.key_id and self.key.verifies(self.statement, self.stated)


def sign(
    content: bytes,
    key: PrivateKey,
    *,
    file: str,
    now: datetime,
    certificates: Sequence[x509.Certificate] = (),
) -> bytes:
    """Return the bytes of the signature's file; raises InputError where the certificates do not fit the key, or not now."""
    public = key.public
    if certificates and (problem := chain_problem(certificates, public, at=now, trusted=())):
        raise InputError(
            "--certificate", problem, remedy="name the certificate of this key that is valid now"
        )
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "algorithm": ALGORITHM,
        "key_id": public.key_id,
        "public_key": public.text,
        "file": file,
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "signed_at": utc_text(now),
        "signature": base64.b64encode(key.sign(content)).decode(),
        "certificates": [each.public_bytes(Encoding.PEM).decode() for each in certificates],
    }
    statement = base64.b64encode(key.sign(_statement_bytes(fields))).decode()
    text = json.dumps({**fields, "statement": statement}, ensure_ascii=False, indent=2)
    return f"{text}\n".encode()


def read_signature(content: bytes, *, where: str) -> Signature:
    """Return what a signature's file says; InputError where it is none."""
    try:
        tree = json.loads(content[:_LARGEST_FILE_BYTES])
        if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
            raise ValueError(f"no {SCHEMA}")  # noqa: TRY301 - told below as the rest is
        texts = {name: tree[name] for name in _TEXTS}
        if not all(isinstance(each, str) for each in texts.values()) or texts["algorithm"] != ALGORITHM:
            raise ValueError(f"another algorithm than {ALGORITHM}")  # noqa: TRY301
        signed_at = datetime.fromisoformat(texts["signed_at"])
        if signed_at.tzinfo is None:
            raise ValueError("an instant without a zone")  # noqa: TRY301
        pems = [str(each) for each in tree["certificates"]]
        return Signature(
            key=parse_public_key(texts["public_key"], where=where),
            key_id=texts["key_id"],
            file=texts["file"],
            sha256=texts["sha256"],
            size_bytes=int(tree["size_bytes"]),
            signed_at=signed_at.astimezone(UTC),
            signature=base64.b64decode(texts["signature"], validate=True),
            statement=base64.b64decode(texts["statement"], validate=True),
            certificates=tuple(parse_certificates("".join(pems).encode(), where=where) if pems else ()),
            stated=_statement_bytes({name: value for name, value in tree.items() if name != "statement"}),
        )
    except (
        ValueError,
        KeyError,
        TypeError,
        OverflowError,
        RecursionError,
        binascii.Error,
    ) as error:
        raise InputError(
            where,
            "is no signature",
            found=str(error)[:80] or type(error).__name__,
            remedy="name a file that fairclock reports sign wrote",
        ) from error


def _statement_bytes(fields: dict[str, Any]) -> bytes:
    text = json.dumps(fields, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return _STATEMENT_PREFIX + text.encode()
