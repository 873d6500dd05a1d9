"""Own ``fairclock tokens``: make, list and revoke what other processes and people are known by."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.options import common_options, store_dsn
from fairclock.store import open_store
from fairclock.store.tokens import Scope, keep_token, list_tokens, mint, revoke_token

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.store.tokens import Token


@click.group()
def command() -> None:
    """Make, list and revoke tokens.

    The store keeps only their hashes: a token is shown once, when it is made.
    """


@command.command()
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    required=True,
    help="collector: send frames to fairclock up; tenant: see the figures of one tenant; operator: see all; "
    "admin: everything.",
)
@click.option("--name", required=True, help="Who or what it is for, such as gateway-1.")
@click.option("--tenant", default="", help="The tenant, with --scope tenant.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@common_options
def create(
    *,
    scope: str,
    name: str,
    tenant: str,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Make a token and print it, this once."""
    del debug
    text, token = mint(name=name, scope=Scope(scope), tenant=tenant, now=datetime.now(UTC))
    with open_store(store_dsn(dsn, config)) as store:
        keep_token(store, token)
    click.echo(json.dumps({**_shown(token), "token": text}, ensure_ascii=False) if as_json else text)
    if not quiet and not as_json:
        click.echo(
            f"{token.id}: keep it now, it is not shown again; fairclock tokens revoke {token.id} ends it",
            err=True,
        )


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@common_options
def list_(*, as_json: bool, dsn: str | None, config: Path | None, quiet: bool, debug: bool) -> None:
    """List the tokens, revoked ones too."""
    del quiet, debug
    with open_store(store_dsn(dsn, config)) as store:
        tokens = [_shown(token) for token in list_tokens(store)]
    if as_json:
        click.echo(json.dumps(tokens, ensure_ascii=False, indent=2))
        return
    for token in tokens:
        scope = f"{token['scope']} {token['tenant']}".rstrip()
        end = f", revoked {token['revoked_at']}" if token["revoked_at"] else ""
        click.echo(f"{token['id']}  {scope:20}  {token['name']}  (made {token['created_at']}{end})")


@command.command()
@click.argument("token", metavar="ID|NAME")
@common_options
def revoke(*, token: str, dsn: str | None, config: Path | None, quiet: bool, debug: bool) -> None:
    """End a token; fairclock up refuses it within seconds."""
    del debug
    with open_store(store_dsn(dsn, config)) as store:
        revoked = revoke_token(store, token, now=datetime.now(UTC))
    if not quiet:
        click.echo(f"{revoked.id} ({revoked.name}) is revoked", err=True)


def _shown(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope.value,
        "tenant": token.tenant,
        "created_at": _second(token.created_at),
        "revoked_at": None if token.revoked_at is None else _second(token.revoked_at),
    }


def _second(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
