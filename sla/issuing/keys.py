"""Own Ed25519 keys: a private one out of a guarded file, a public one out of its text, and certificates about it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from fairclock.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

ALGORITHM = "Ed25519"
_PREFIX = "ed25519:"
_KEY_BYTES = 32
_HEX = re.compile(r"[0-9A-Fa-f]{64}")
_KEY_ID_CHARACTERS = 16
_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LARGEST_FILE_BYTES = 65_536
_UNREADABLE = (ValueError, x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)
"""What is raised of a certificate that was altered; not all of it is a ValueError."""
_MAKE_ONE = "make one with openssl genpkey -algorithm ed25519 -out report.key"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key; two texts of one key are equal."""

    raw: bytes

    @property
    def text(self) -> str:
        """Return it as a contract names it: ``ed25519:`` and base64."""
        return _PREFIX + base64.b64encode(self.raw).decode()

    @property
    def key_id(self) -> str:
        """Return the short name of it: the first hexadecimal digits of its SHA-256."""
        return hashlib.sha256(self.raw).hexdigest()[:_KEY_ID_CHARACTERS]

    def verifies(self, signature: bytes, content: bytes) -> bool:
        """Tell whether `signature` was made of `content` with the private key of this one."""
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, content)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A private key, which no representation shows."""

    _key: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> PublicKey:
        """Return the public key that belongs to it."""
        return _public_of(self._key.public_key())

    def sign(self, content: bytes) -> bytes:
        """Return the signature of `content`: 64 bytes."""
        return self._key.sign(content)


def read_private_key(path: Path) -> PrivateKey:
    """Return the private key (PEM, PKCS #8) in a file that only its owner may read; raises InputError, which shows nothing of it."""
    content = _read(path, "the key")
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) or mode & _OF_OTHERS:
        raise InputError(
            str(path),
            "the key can be read by others than its owner",
            found=f"mode {stat.S_IMODE(mode):04o}",
            remedy=f"chmod 600 {path.name}; if others may have read it, make another key",
        )
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except TypeError:
        raise InputError(
            str(path),
            "the key has a passphrase",
            remedy="take it away with openssl pkey, on a disk that only its owner can read",
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(str(path), "holds no private key (PEM)", remedy=_MAKE_ONE) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(
            str(path), "is not a key of Ed25519", found=type(key).__name__.strip("_"), remedy=_MAKE_ONE
        )
    return PrivateKey(key)


def parse_public_key(text: str, *, where: str) -> PublicKey:
    """Return the key that ``ed25519:…`` names, in base64 or hexadecimal digits; raises InputError."""
    word = text.strip().removeprefix(_PREFIX)
    try:
        raw = (
            bytes.fromhex(word)
            if _HEX.fullmatch(word)
            else base64.b64decode(
                (word + "=" * (-len(word) % 4)).replace("-", "+").replace("_", "/"), validate=True
            )
        )
    except (ValueError, binascii.Error):
        raw = b""
    if len(raw) != _KEY_BYTES or not text.strip().startswith(_PREFIX):
        raise InputError(
            where,
            "is not a public key of Ed25519",
            found=text[:80],
            remedy="write ed25519: and the 32 bytes of the key in base64; fairclock reports key --key FILE prints it",
        )
    return PublicKey(raw)


def read_public_key(text: str) -> PublicKey:
    """Return the public key that is ``ed25519:…``, or that of a PEM file (public key, certificate or private key)."""
    if text.startswith(_PREFIX):
        return parse_public_key(text, where="--key")
    from pathlib import Path  # noqa: PLC0415 - only where a file is named

    path = Path(text)
    content = _read(path, "the key")
    if b"PRIVATE KEY" in content:
        return read_private_key(path).public
    try:
        if b"BEGIN CERTIFICATE" in content:
            key: object = x509.load_pem_x509_certificate(content).public_key()
        else:
            key = serialization.load_pem_public_key(content)
    except (*_UNREADABLE, UnsupportedAlgorithm):
        raise InputError(text, "holds no public key", remedy="name a PEM file, or write ed25519:…") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(text, "is not a key of Ed25519", remedy="name the key that signs")
    return _public_of(key)


def read_certificates(path: Path) -> list[x509.Certificate]:
    """Return the certificates (PEM) of a file, in its order; raises InputError."""
    return parse_certificates(_read(path, "the certificate"), where=str(path))


def parse_certificates(content: bytes, *, where: str) -> list[x509.Certificate]:
    """Return the certificates (PEM) in `content`, of which every field can be read; raises InputError."""
    try:
        found = x509.load_pem_x509_certificates(content)
        for each in found:
            _read_through(each)
    except _UNREADABLE:
        raise InputError(
            where, "holds no certificate (PEM)", remedy="name the signer's certificate, its issuers below it"
        ) from None
    return found


def key_of(certificate: x509.Certificate) -> PublicKey | None:
    """Return the key that a certificate is about; None where it is none of Ed25519."""
    try:
        key = certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return None
    return _public_of(key) if isinstance(key, Ed25519PublicKey) else None


def _read_through(certificate: x509.Certificate) -> None:
    """Read what is asked of a certificate later: it is read only then, and a wrong one raises only then."""
    for name in ("subject", "issuer", "not_valid_before_utc", "not_valid_after_utc", "extensions"):
        getattr(certificate, name)


def _public_of(key: Ed25519PublicKey) -> PublicKey:
    return PublicKey(
        key.public_bytes(encoding=serialization.Encoding.Raw, format=serialization.PublicFormat.Raw)
    )


def _read(path: Path, what: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST_FILE_BYTES)
    except OSError as error:
        raise InputError(
            str(path), f"{what} cannot be read", found=error.strerror, remedy="check path and permissions"
        ) from None
