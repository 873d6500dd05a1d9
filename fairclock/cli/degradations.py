"""Own ``fairclock degradations``: record when answers were of a lesser quality, list what was recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import UsageError
from fairclock.model import utc_text
from fairclock.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.model.remedies import DegradationEntry


@click.group(short_help="Record when answers were of a lesser quality, list what was recorded.")
def command() -> None:
    """Record when answers were of a lesser quality (precision, context, canned answers), list what was recorded.

    Gateways and operators may send the same to fairclock up: POST /v1/degradations.
    """


@command.command()
@click.option("--mode", required=True, help="The inference_mode that requests carry, such as int8.")
@click.option("--level", default=None, help="The quality level (default: the contract's, by its modes).")
@click.option("--from", "start", required=True, metavar="INSTANT", help="When it began.")
@click.option("--to", "end", default=None, metavar="INSTANT", help="When it ended (default: it lasts).")
@click.option(
    "--tenant", "tenants", multiple=True, help="Whom it touched; may be repeated (default: everyone)."
)
@click.option("--reason", required=True, help="Why.")
@click.option("--author", required=True, help="Who says so.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@common_options
def record(
    *,
    mode: str,
    level: str | None,
    start: str,
    end: str | None,
    tenants: tuple[str, ...],
    reason: str,
    author: str,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Record a degradation, or its end: the same mode, --from and tenants mean the same one."""
    del debug
    from pydantic import ValidationError  # noqa: PLC0415

    from sla.degradations import Degradation  # noqa: PLC0415
    from sla.degradations import record as keep  # noqa: PLC0415

    if not author.strip():
        raise UsageError("--author", "is empty", remedy="say who records this")
    try:
        said = Degradation.model_validate(
            {
                "mode": mode,
                "level": level,
                "from": instant(start, where="--from"),
                "to": None if end is None else instant(end, where="--to"),
                "tenants": tenants,
                "reason": reason,
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = f"--{first['loc'][0]}" if first["loc"] else "--to"
        raise UsageError(where, first["msg"], remedy="see fairclock degradations record --help") from error
    with open_store(store_dsn(dsn, config)) as store:
        entry, is_new = keep(store, said, author=author.strip(), origin="command")
    if as_json:
        click.echo(json.dumps({**shown(entry), "new": is_new}, ensure_ascii=False))
        return
    click.echo(entry.id)
    if not quiet and not is_new:
        click.echo(f"{entry.id}: that was recorded already", err=True)


@command.command("list")
@click.option(
    "--as-of", default=None, metavar="INSTANT", help="As it was known then (default: as it is now)."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@common_options
def list_(
    *, as_of: str | None, as_json: bool, dsn: str | None, config: Path | None, quiet: bool, debug: bool
) -> None:
    """List the degradations, each as it was last recorded."""
    del quiet, debug
    from fairclock.store.remedies import degradations_as_of  # noqa: PLC0415

    moment = None if as_of is None else instant(as_of, where="--as-of")
    with open_store(store_dsn(dsn, config)) as store:
        found = degradations_as_of(store, store.checked_as_of(moment))
    if as_json:
        click.echo(json.dumps([shown(each) for each in found], ensure_ascii=False, indent=2))
        return
    for each in found:
        end = "it lasts" if each.ends_at is None else utc_text(each.ends_at)
        level = f" ({each.level})" if each.level else ""
        whom = ", ".join(each.tenants) or "everyone"
        what = f"{each.kind.replace('_', ' ')}: {each.engine}" if each.kind else each.mode
        click.echo(f"{each.id}  {what}{level}  {utc_text(each.starts_at)} to {end}  {whom}")
        click.echo(f"    {each.reason} ({each.author}, by {each.origin})")
        if each.evidence:
            click.echo(f"    {each.evidence}")


def shown(entry: DegradationEntry) -> dict[str, Any]:
    """Return a degradation as JSON values."""
    return {
        "id": entry.id,
        "sequence": entry.sequence,
        "mode": entry.mode or None,
        "kind": entry.kind or None,
        "engine": entry.engine or None,
        "level": entry.level or None,
        "from": utc_text(entry.starts_at),
        "to": None if entry.ends_at is None else utc_text(entry.ends_at),
        "tenants": list(entry.tenants),
        "reason": entry.reason,
        "author": entry.author,
        "origin": entry.origin,
        "evidence": entry.evidence or None,
        "stored_at": None if entry.stored_at is None else utc_text(entry.stored_at),
    }
