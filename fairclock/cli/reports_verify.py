"""Own ``fairclock reports verify``: what a file is worth, who signed it, whether the store knows it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options, data_directory, default_dsn, read_input
from fairclock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.issuing.findings import Verified


NOBODY = "signed by nobody who is known"


@click.command(short_help="Say whether a file is unaltered, and who signed it.")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--signature",
    "signatures",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A detached signature; may be repeated (default: every FILE.*.sig beside it).",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="A public key that you trust: ed25519:…, or a PEM file; may be repeated.",
)
@click.option(
    "--contract",
    "contracts",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The contract whose keys are trusted (default: that of the configuration).",
)
@click.option(
    "--ca",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Authorities (PEM) whose certificates you trust.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def verify(
    *,
    path: Path,
    signatures: tuple[Path, ...],
    keys: tuple[str, ...],
    contracts: tuple[Path, ...],
    ca: Path | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> int:
    """Say whether FILE is unaltered, who signed it, and whether it is what was issued or sealed.

    FILE is a report.json, the seal of a day, or anything that was signed. Nothing is changed, and no store is made: where
    there is none, FILE is held against its signatures alone. The exit code is 1 where anything speaks against it.
    """
    del debug
    from sla.issuing.findings import verify_file  # noqa: PLC0415
    from sla.issuing.keys import read_certificates, read_public_key  # noqa: PLC0415

    content = read_input(path)
    beside = signatures or sorted(path.parent.glob(f"{_escaped(path.name)}.*.sig"))
    trusted = [read_public_key(each) for each in keys]
    authorities = () if ca is None else read_certificates(ca)
    with _store_if_there(dsn, config) as store:
        found = verify_file(
            content,
            [(str(each), read_input(each)) for each in beside],
            contracts=_contracts(contracts, config),
            keys=trusted,
            authorities=authorities,
            store=store,
            now=datetime.now(UTC),
        )
    _print(found, path, as_json=as_json, quiet=quiet)
    return 0 if found.is_good else 1


def _print(found: Verified, path: Path, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        click.echo(json.dumps({"file": str(path), **found.tree()}, ensure_ascii=False, indent=2))
        return
    from fairclock.documents.text import printable  # noqa: PLC0415 - a file says what its writer wanted

    for finding in found.findings:
        if finding.is_wrong or not quiet:
            click.echo(f"{'WRONG' if finding.is_wrong else 'ok':<6}{printable(finding.text)}")
    for signature in found.signatures:
        click.echo(printable(f"{signature.where}: {signature.signer or NOBODY}"))
        for finding in signature.findings:
            if finding.is_wrong or not quiet:
                click.echo(f"  {'WRONG' if finding.is_wrong else 'ok':<6}{printable(finding.text)}")


def _contracts(named: Sequence[Path], config: Path | None) -> list[Contract]:
    """Return the versions of the contracts that are named, else of those in the configuration."""
    from fairclock.cli.configuration import configuration  # noqa: PLC0415
    from sla.contracts.versions import load_versions  # noqa: PLC0415

    paths = named or configuration(config).sla.contracts
    return [version for each in paths for version in load_versions(each)]


@contextmanager
def _store_if_there(dsn: str | None, config: Path | None) -> Iterator[Store | None]:
    """Open the store that is named, else the default one where it is there; none is made."""
    from fairclock.cli.configuration import configuration  # noqa: PLC0415

    name = (
        dsn or configuration(config).store.address or (default_dsn() if data_directory().is_dir() else None)
    )
    if name is None:
        yield None
        return
    from fairclock.store import open_store  # noqa: PLC0415
    from fairclock.store.dsn import ServerAddress, parse_dsn  # noqa: PLC0415

    address = parse_dsn(name)
    if not isinstance(address, ServerAddress) and not Path(address.path).is_dir():
        raise InputError(name, "there is no store", remedy="name the store that issued, or leave --dsn out")
    with open_store(name) as store:
        yield store


def _escaped(name: str) -> str:
    from glob import escape  # noqa: PLC0415

    return escape(name)
