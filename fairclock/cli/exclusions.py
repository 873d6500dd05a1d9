"""Own ``fairclock exclusions``: propose time to be left out, answer, list."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import UsageError
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.exclusions import Claim, Exclusion

_DAYS_TO_ANSWER = 30
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_AUTHOR = click.option("--author", required=True, help="Who says so: a person of that side.")
_CONTRACT = click.option(
    "--contract",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="The contract that the time should be left out of.",
)


@click.group(short_help="Propose time to be left out, answer, list.")
def command() -> None:
    """Propose time to be left out of a contract's figures, answer, list.

    The provider's side proposes (add) and takes back (revoke); the customer's side accepts or disputes. Nothing
    is ever changed: each step is a row of its own, with its author and time.
    """


@command.command()
@_CONTRACT
@click.option("--clause", required=True, help="maintenance, client_network, or a name of the contract's own.")
@click.option("--from", "start", required=True, metavar="INSTANT", help="When it begins.")
@click.option("--to", "end", default=None, metavar="INSTANT", help="When it ends (default: not known yet).")
@click.option(
    "--recurrence",
    default="",
    metavar="RRULE",
    help="How it comes again, at the same local time: FREQ=WEEKLY;BYDAY=SU;UNTIL=20261231.",
)
@click.option(
    "--except",
    "exceptions",
    multiple=True,
    metavar="DATE",
    help="A day on which it does not: 20261004; may be repeated.",
)
@click.option("--zone", default=None, help="Whose local time comes again (default: the contract's zone).")
@click.option("--reason", required=True, help="Why it should be left out.")
@_AUTHOR
@click.option("--evidence", default="", help="What shows it: a document, a ticket, a measurement.")
@click.option("--notice-at", default=None, metavar="INSTANT", help="When the customer was told.")
@click.option("--notice-to", multiple=True, metavar="ADDRESS", help="Who was told; may be repeated.")
@click.option(
    "--answer-by",
    default=None,
    metavar="INSTANT",
    help=f"When the proposal expires without an answer (default: in {_DAYS_TO_ANSWER} days).",
)
@_JSON
@common_options
def add(
    *,
    path: Path,
    clause: str,
    start: str,
    end: str | None,
    recurrence: str,
    exceptions: tuple[str, ...],
    zone: str | None,
    reason: str,
    author: str,
    evidence: str,
    notice_at: str | None,
    notice_to: tuple[str, ...],
    answer_by: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Propose an exclusion; it excludes nothing until the customer's side accepts it."""
    del debug
    from sla.proposals import Proposed, propose  # noqa: PLC0415

    contract = _contract(path)
    said = Proposed(
        clause=clause,
        starts_at=_utc(start, "--from"),
        ends_at=None if end is None else _utc(end, "--to"),
        recurrence=recurrence,
        exceptions=exceptions,
        time_zone=zone,
        reason=reason,
        evidence=evidence,
        notice_at=None if notice_at is None else _utc(notice_at, "--notice-at"),
        notice_to=notice_to,
        answer_by=None if answer_by is None else _utc(answer_by, "--answer-by"),
        author=author,
    )
    with _store(dsn, config) as store:
        kept, doubts = propose(store, contract, said, now=datetime.now(UTC))
    if as_json:
        marks = {str(each.kind): each.sentence for each in doubts}
        click.echo(json.dumps({**_entry(kept), "marks": marks}, ensure_ascii=False))
        return
    click.echo(kept.id)
    if not quiet:
        for doubt in doubts:
            click.echo(f"{kept.id}: {doubt.sentence}", err=True)
        click.echo(f"{kept.id}: proposed; it expires {_second(kept.answer_by)} without an answer", err=True)


@command.command("list")
@click.option(
    "--contract",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Only those of this contract.",
)
@click.option(
    "--month",
    default=None,
    metavar="YYYY-MM",
    help="The windows in this month, with the cap (needs --contract).",
)
@click.option(
    "--as-of", default=None, metavar="INSTANT", help="As it was known then (default: as it is now)."
)
@_JSON
@common_options
def list_(
    *,
    path: Path | None,
    month: str | None,
    as_of: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """List the exclusions, each as it stands: its state, and what was said of it."""
    del quiet, debug
    from fairclock.store.remedies import exclusion_entries  # noqa: PLC0415
    from sla.exclusions import exclusions_at  # noqa: PLC0415

    if month is not None and path is None:
        raise UsageError("--month", "needs --contract", remedy="name the contract whose month it is")
    contract = None if path is None else _contract(path)
    moment = None if as_of is None else instant(as_of, where="--as-of")
    with _store(dsn, config) as store:
        known = store.checked_as_of(moment)
        named = None if contract is None else contract.id
        found = exclusions_at(exclusion_entries(store, as_of=known, contract=named), known)
        claims = {} if contract is None or month is None else _claims(store, contract, month, known)
    if month is not None:
        found = [each for each in found if each.id in claims]
    if as_json:
        shown = [
            {**_exclusion(each), **({"month": claims[each.id][1]} if each.id in claims else {})}
            for each in found
        ]
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    for each in found:
        for line in _lines(each, claims.get(each.id)):
            click.echo(line)


@command.command()
@click.argument("exclusion", metavar="ID")
@_AUTHOR
@click.option("--evidence", required=True, help="The message, letter or ticket in which the customer agreed.")
@click.option("--comment", default="", help="What else is to be said.")
@_JSON
@common_options
def accept(*, exclusion: str, author: str, evidence: str, comment: str, **others: Any) -> None:
    """Accept an exclusion for the customer: the time is left out, up to the clause's cap.

    A dispute that was settled is accepted so, too. Of an exclusion without an end, this accepts what has passed.
    """
    _answer(exclusion, "accepted", author=author, evidence=evidence, comment=comment, **others)


@command.command()
@click.argument("exclusion", metavar="ID")
@_AUTHOR
@click.option("--comment", required=True, help="Why it is disputed.")
@click.option("--evidence", default="", help="What shows it.")
@_JSON
@common_options
def dispute(*, exclusion: str, author: str, evidence: str, comment: str, **others: Any) -> None:
    """Dispute an exclusion for the customer: the time counts, and the report lists what hangs on it."""
    _answer(exclusion, "disputed", author=author, evidence=evidence, comment=comment, **others)


@command.command()
@click.argument("exclusion", metavar="ID")
@_AUTHOR
@click.option("--comment", required=True, help="Why it is taken back.")
@_JSON
@common_options
def revoke(*, exclusion: str, author: str, comment: str, **others: Any) -> None:
    """Take an exclusion back for the provider, for good: the time counts."""
    _answer(exclusion, "revoked", author=author, evidence="", comment=comment, **others)


def _answer(
    named: str,
    state: str,
    *,
    author: str,
    evidence: str,
    comment: str,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    del debug
    from dataclasses import replace  # noqa: PLC0415

    from fairclock.model.remedies import ExclusionState  # noqa: PLC0415
    from fairclock.store.remedies import exclusion_entries, keep_exclusion  # noqa: PLC0415
    from sla.exclusions import check_answer, exclusions_at  # noqa: PLC0415

    with _store(dsn, config) as store:
        known = store.watermark()
        entries = [each for each in exclusion_entries(store, as_of=known) if each.id == named]
        found = exclusions_at(entries, known)
        if not found:
            raise UsageError(named, "there is no such exclusion", remedy="see fairclock exclusions list")
        said = ExclusionState(state)
        check_answer(found[0], said, author=author, evidence=evidence, now=known)
        answer = replace(
            found[0].proposal,
            sequence=1 + max(each.sequence for each in entries),
            state=said,
            author=author.strip(),
            comment=comment.strip(),
            answer_evidence=evidence.strip(),
        )
        kept = keep_exclusion(store, answer)
    if as_json:
        click.echo(json.dumps(_entry(kept), ensure_ascii=False))
    elif not quiet:
        click.echo(f"{named} is {state}", err=True)


def _contract(path: Path) -> Contract:
    from sla.contracts import load_contract, require_lintable  # noqa: PLC0415

    contract = load_contract(path)
    require_lintable(contract)
    return contract


def _store(dsn: str | None, config: Path | None) -> Store:
    from fairclock.store import open_store  # noqa: PLC0415

    return open_store(store_dsn(dsn, config))


def _claims(
    store: Store, contract: Contract, label: str, as_of: datetime
) -> dict[str, tuple[Claim, dict[str, Any]]]:
    """Return what each exclusion claims of the month, and that as JSON values."""
    from sla.evaluation.excluding import month_exclusions, said_of  # noqa: PLC0415
    from sla.evaluation.exclusions_section import claimed  # noqa: PLC0415
    from sla.evaluation.months import month_of  # noqa: PLC0415

    said = said_of(store, contract, as_of)
    exclusions = month_exclusions(store, contract, month_of(contract, label, as_of), as_of, said=said)
    return {each.id: (each, claimed(each, exclusions)) for each in exclusions.claims}


def _lines(exclusion: Exclusion, claim: tuple[Claim, dict[str, Any]] | None) -> Iterator[str]:
    proposal, answer = exclusion.proposal, exclusion.answer
    end = "open" if proposal.ends_at is None else _second(proposal.ends_at)
    yield f"{exclusion.id}  {exclusion.state:8}  {proposal.clause}  {_second(proposal.starts_at)} to {end}"
    if proposal.recurrence:
        yield f"    again: {'; '.join(proposal.recurrence.splitlines())} ({proposal.time_zone})"
    yield f"    {proposal.reason} ({proposal.author})"
    if answer is not None and answer.stored_at is not None:
        said = f": {answer.comment}" if answer.comment else ""
        yield f"    {answer.state} by {answer.author}, {_second(answer.stored_at)}{said}"
    if claim is None:
        return
    _, month = claim
    for window in month["windows"]:
        marks = [mark for mark in ("late", "retroactive", "counts") if window[mark]]
        marks += [window["change"].replace("_", " ")] if window["change"] else []
        yield f"    {window['from']} to {window['to']}{'  ' if marks else ''}{', '.join(marks)}"
    cap = month["cap"]
    limit = "no cap" if cap["allowed_seconds"] is None else f"cap {cap['allowed_seconds']:g} s"
    yield f"    claimed {cap['claimed_seconds']:g} s, granted {cap['granted_seconds']:g} s; {limit}, used {cap['used_seconds']:g} s"


def _exclusion(exclusion: Exclusion) -> dict[str, Any]:
    proposal = _entry(exclusion.proposal)
    del proposal["comment"], proposal["answer_evidence"]
    answer = None
    if exclusion.answer is not None:
        said = _entry(exclusion.answer)
        keys = ("state", "author", "comment", "stored_at")
        answer = {**{key: said[key] for key in keys}, "evidence": said["answer_evidence"]}
    return {**proposal, "state": str(exclusion.state), "answer": answer}


def _entry(entry: Any) -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415

    renamed = {"starts_at": "from", "ends_at": "to"}
    values = {renamed.get(key, key): value for key, value in asdict(entry).items()}
    return {
        key: utc_text(value)
        if isinstance(value, datetime)
        else list(value)
        if isinstance(value, tuple)
        else value
        for key, value in values.items()
    }


def _utc(text: str, where: str) -> datetime:
    return instant(text, where=where).astimezone(UTC)


def _second(value: datetime) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
