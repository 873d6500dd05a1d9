"""Own ``fairclock reports sign`` and ``key``: a detached signature beside a file, or of an issued report."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options, read_input, store_dsn
from fairclock.errors import InputError, UsageError

if TYPE_CHECKING:
    from fairclock.store import Store
    from sla.issuing.keys import PublicKey
    from sla.issuing.reports import Issued

_KEY = click.option(
    "--key",
    "key_path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="The private key (Ed25519, PEM), in a file that only its owner may read.",
)


@click.command(short_help="Print the public key of a private one.")
@_KEY
@common_options
def key(*, key_path: Path | None, dsn: str | None, config: Path | None, quiet: bool, debug: bool) -> None:
    """Print the public key that belongs to a private one, as a contract names it: ed25519:…."""
    del dsn, config, quiet, debug
    from sla.issuing.keys import read_private_key  # noqa: PLC0415

    if key_path is None:
        raise UsageError("--key", "is missing", remedy="name the file of the private key")
    click.echo(read_private_key(key_path).public.text)


@click.command(short_help="Sign an issued report, or a file.")
@click.argument("target", metavar="NUMBER|FILE")
@_KEY
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="The key's X.509 certificate (PEM), its issuers below it.",
)
@click.option(
    "--add",
    "added",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Keep a signature of NUMBER that was made elsewhere, in place of --key.",
)
@click.option(
    "-o",
    "--output",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="The folder to write into (default: beside the file; for a number, here).",
)
@common_options
def sign(
    *,
    target: str,
    key_path: Path | None,
    certificate: Path | None,
    added: Path | None,
    directory: Path | None,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Write a detached signature beside a file, or beside the bytes of the issued report NUMBER.

    A file needs no store, so a customer can sign where only the report is. The signature of a NUMBER is kept in the store
    too, and printed on the report's first page from then on.
    """
    del debug
    if (key_path is None) == (added is None):
        raise UsageError("reports sign", "needs one of --key and --add", remedy="name the private key")
    path = Path(target)
    if path.is_file():
        if added is not None:
            raise UsageError("--add", "needs the number of an issued report", found=target)
        content = read_input(path)
        signature = _signed(content, key_path, certificate, file=path.name)
        _write((directory or path.parent) / _name(path.name, signature), signature, quiet=quiet)
        return
    from fairclock.store import open_store  # noqa: PLC0415
    from sla.issuing.reports import issued_by_number  # noqa: PLC0415

    with open_store(store_dsn(dsn, config)) as store:
        issued = issued_by_number(store, target)
        if issued is None:
            raise UsageError(
                target, "is neither a file nor the number of an issued report",
                remedy="fairclock reports list shows the numbers",
            )  # fmt: skip
        file = f"{issued.row.number}.json"
        signature = (
            read_input(added)
            if added is not None
            else _signed(issued.content, key_path, certificate, file=file)
        )
        _keep(store, issued, signature)
    _write((directory or Path()) / file, issued.content, quiet=quiet)
    _write((directory or Path()) / _name(file, signature), signature, quiet=quiet)


def _signed(content: bytes, key_path: Path | None, certificate: Path | None, *, file: str) -> bytes:
    from sla.issuing.keys import read_certificates, read_private_key  # noqa: PLC0415
    from sla.issuing.signing import sign as signed  # noqa: PLC0415

    assert key_path is not None  # noqa: S101 - checked above
    private = read_private_key(key_path)
    _check_named(content, private.public)
    chain = () if certificate is None else read_certificates(certificate)
    return signed(content, private, file=file, now=datetime.now(UTC), certificates=chain)


def _check_named(content: bytes, key: PublicKey) -> None:
    """Refuse a key that is none of those which an issued report's contract names, where it names any."""
    from sla.issuing.printing import roles_of  # noqa: PLC0415

    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):  # no report, so no contract names a key for it
        return
    roles = roles_of(tree) if isinstance(tree, dict) and isinstance(tree.get("issue"), dict) else {}
    if roles and key not in roles:
        raise UsageError(
            "--key",
            "is none of the keys that the contract names",
            found=key.text,
            remedy="sign with " + " or ".join(f"{each.text} ({role})" for each, role in roles.items()),
        )


def _keep(store: Store, issued: Issued, signature: bytes) -> None:
    """Keep a signature that holds; refuse any other."""
    from fairclock.store.issued_reports import SignatureRow, keep_signature  # noqa: PLC0415
    from sla.issuing.signing import read_signature  # noqa: PLC0415

    found = read_signature(signature, where="the signature")
    sha256 = hashlib.sha256(issued.content).hexdigest()
    if (
        found.sha256 != sha256
        or not found.is_whole
        or not found.key.verifies(found.signature, issued.content)
    ):
        raise InputError(
            "the signature",
            f"is none of {issued.row.number}",
            found=f"it is of SHA-256 {found.sha256}, issued was {sha256}",
            remedy="let the bytes be signed that fairclock reports sign NUMBER writes",
        )
    _check_named(issued.content, found.key)
    keep_signature(
        store,
        SignatureRow(
            number=issued.row.number,
            sha256=sha256,
            public_key=found.key.text,
            signed_at=found.signed_at.astimezone(UTC),
            content=signature,
        ),
    )


def _name(file: str, signature: bytes) -> str:
    from sla.issuing.signing import read_signature  # noqa: PLC0415

    return f"{file}.{read_signature(signature, where='the signature').key.key_id}.sig"


def _write(path: Path, content: bytes, *, quiet: bool) -> None:
    """Write a file whole; one that is there with other bytes is never written over."""
    from fairclock.documents.files import write_whole  # noqa: PLC0415

    if path.suffix == ".json" and path.exists() and path.read_bytes() != content:
        raise UsageError(
            str(path), "is there already, with other bytes", remedy="name another folder with -o"
        )
    write_whole(path, content)
    if not quiet:
        click.echo(str(path))
