"""Parties with keys, and certificates about them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

from sla.issuing.keys import PrivateKey

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 3, 8, tzinfo=UTC)
YEAR = timedelta(days=365)


class Party:
    """Somebody with a key of Ed25519."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.private = Ed25519PrivateKey.generate()
        self.key = PrivateKey(self.private)

    @property
    def text(self) -> str:
        return self.key.public.text

    @property
    def pem(self) -> bytes:
        return self.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def key_file(self, folder: Path, mode: int = 0o600) -> Path:
        path = folder / f"{self.name}.key"
        path.write_bytes(self.pem)
        path.chmod(mode)
        return path

    def subject(self) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.name)])

    def certificate(
        self,
        issuer: Party | None = None,
        *,
        is_authority: bool = False,
        start: datetime = NOW - YEAR,
        end: datetime = NOW + YEAR,
    ) -> x509.Certificate:
        """Return a certificate about this party; without an issuer it is its own."""
        by = issuer or self
        return (
            x509.CertificateBuilder()
            .subject_name(self.subject())
            .issuer_name(by.subject())
            .public_key(self.private.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .sign(by.private, None)
        )


def write_pem(path: Path, *certificates: x509.Certificate) -> Path:
    path.write_bytes(b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates))
    return path
