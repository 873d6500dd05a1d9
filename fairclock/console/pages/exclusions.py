"""Own the page of exclusions: those there are, the caps, and the form for a new one with the rules it is held to."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fairclock.console.pages.charts.bars import rest_bar
from fairclock.console.pages.states import exclusion_state
from fairclock.console.readings.models.exclusions import ExclusionProposal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.exclusions import (
        CapUse,
        ClauseRule,
        ExclusionPage,
        ExclusionProposed,
        ExclusionRow,
    )

FIELDS = (
    "clause_of",
    "starts_at",
    "ends_at",
    "recurrence",
    "reason",
    "evidence",
    "notice_at",
    "notice_to",
    "author",
)
_INSTANTS = ("starts_at", "ends_at", "notice_at")
_REQUIRED = ("starts_at", "reason", "author")
_MOST_ADDRESSES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The form as it was sent: its values, what is wrong with each field, and what was refused as a whole."""

    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def exclusion_parts(
    page: ExclusionPage,
    words: Wording,
    *,
    filled: Filled | None = None,
    kept: ExclusionProposed | None = None,
) -> dict[str, Any]:
    """Return what the template of exclusions needs beside the reading; `kept` is what was just proposed."""
    return {
        "rows": [_row(each, words) for each in page.exclusions],
        "caps": [_cap(each, words) for each in page.caps],
        "form": _form(page, words, filled or Filled()),
        "kept": kept,
    }


def proposal_of(values: Mapping[str, str], zone: ZoneInfo, words: Wording) -> ExclusionProposal | Filled:
    """Return what the form proposes, or the form with what is wrong. Local times are those of `zone`."""
    kept = {name: values.get(name, "").strip() for name in FIELDS}
    errors = {name: words.text("form.missing") for name in _REQUIRED if not kept[name]}
    instants: dict[str, datetime | None] = {}
    for name in _INSTANTS:
        try:
            instants[name] = _instant(kept[name], zone) if kept[name] else None
        except ValueError:
            errors[name] = words.text("form.no_instant")
    contract, _, clause = kept["clause_of"].partition("/")
    addresses = tuple(each for part in kept["notice_to"].split(",") if (each := part.strip()))
    if len(addresses) > _MOST_ADDRESSES:
        errors["notice_to"] = words.text("form.too_long")
    if errors:
        return Filled(values=kept, errors=errors)
    try:
        return ExclusionProposal(
            contract=contract,
            clause=clause,
            starts_at=instants["starts_at"],  # type: ignore[arg-type]  # required above
            ends_at=instants["ends_at"],
            recurrence=kept["recurrence"],
            time_zone=zone.key if kept["recurrence"] else None,
            reason=kept["reason"],
            author=kept["author"],
            evidence=kept["evidence"],
            notice_at=instants["notice_at"],
            notice_to=addresses,
        )
    except ValidationError as refused:
        wrong = {str(each["loc"][0]): words.text("form.too_long") for each in refused.errors()}
        return Filled(values=kept, errors=wrong, problem="" if wrong else words.text("form.too_long"))


def _instant(text: str, zone: ZoneInfo) -> datetime:
    """Return an instant; without an offset it is local time of `zone`, and must exist there."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        return moment
    local = moment.replace(tzinfo=zone)
    there = local.astimezone(UTC).astimezone(zone)
    if there.replace(tzinfo=None) != moment:
        raise ValueError(text)
    return local


def _row(exclusion: ExclusionRow, words: Wording) -> dict[str, Any]:
    said = [(exclusion.author, words.text("exclusions.by"), exclusion.recorded_at)]
    if exclusion.notice_at is not None:
        told = words.text("comma").join(exclusion.notice_to)
        said.append((told, words.text("exclusions.told"), exclusion.notice_at))
    if exclusion.answered_by:
        answer = words.word("exclusions.state", exclusion.state)
        said.append((exclusion.answered_by, answer, exclusion.answered_at))
    elif exclusion.state == "proposed" and exclusion.answer_by is not None:
        said.append(("", words.text("exclusions.answer_by"), exclusion.answer_by))
    return {
        "exclusion": exclusion,
        "time": words.text(
            "exclusions.since", at=str(words.local(exclusion.starts_at).strftime("%Y-%m-%d %H:%M"))
        )
        if exclusion.ends_at is None
        else words.span(exclusion.starts_at, exclusion.ends_at),
        "said": said,
        "state": exclusion_state(exclusion.state, words),
    }


def _cap(use: CapUse, words: Wording) -> dict[str, Any]:
    used = words.length(use.used_seconds)
    if not use.allowed_seconds:
        return {"use": use, "bar": None, "said": used}
    said = words.text("exclusions.cap_of", used=used, allowed=words.length(use.allowed_seconds))
    return {
        "use": use,
        "bar": rest_bar(title=said, ratio=1 - use.used_seconds / use.allowed_seconds),
        "said": said,
    }


def _form(page: ExclusionPage, words: Wording, filled: Filled) -> dict[str, Any]:
    open_rules = [rule for rule in page.rules if rule.may_propose]
    values = {name: filled.values.get(name, "") for name in FIELDS}
    return {
        "contracts": sorted({rule.contract for rule in open_rules}),
        "clauses": [
            (f"{rule.contract}/{rule.clause}", f"{words.word('clause', rule.clause)} · {rule.contract}")
            for rule in open_rules
        ],
        "rules": [
            {"rule": rule, "name": words.word("clause", rule.clause), "said": _rule(rule, words)}
            for rule in page.rules
        ],
        "values": values,
        "errors": filled.errors,
        "problem": filled.problem,
    }


def _rule(rule: ClauseRule, words: Wording) -> str:
    """Return what a contract says of one clause."""
    if rule.is_automatic:
        first = words.text("rule.automatic")
    elif rule.notice_seconds:
        first = words.text("rule.notice", length=words.length(rule.notice_seconds))
        if rule.notice_to:
            first = words.text("rule.notice_to", notice=first, names=words.text("comma").join(rule.notice_to))
    else:
        first = words.text("rule.no_notice")
    if rule.cap_seconds_per_month is not None:
        second = words.text("rule.cap", cap=words.length(rule.cap_seconds_per_month))
    elif rule.cap_ratio_per_month is not None:
        second = words.text("rule.cap", cap=words.ratio(rule.cap_ratio_per_month, least=0))
    else:
        second = words.text("rule.no_cap")
    return first + words.text("rule.space") + second
