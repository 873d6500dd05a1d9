"""Own how exclusions and degradations are shown: item 7 of the first page, and the tables behind it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from fairclock.documents.text import printable
from sla.reports.reading import count, moment, number, texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_GRANTED = ("accepted", "automatic")
_PENDING = ("disputed", "proposed")
_MOST_WINDOWS_SHOWN = 6
_MARKS = ("late", "retroactive", "counts")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionRow:
    """One exclusion as the table prints it; every list is one text a line."""

    id: str
    clause: str
    state: str
    state_key: str
    times: list[str]
    said: list[str]
    granted: list[str]
    effect: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DegradationRow:
    """One degradation as the table prints it."""

    mode: str
    level: str
    times: list[str]
    said: list[str]
    requests: list[str]


def knows_exclusions(report: Report) -> bool:
    """Tell whether the evaluation looked for exclusions: then it says how many requests they took out."""
    return count(report["traffic"].get("excluded")) is not None


def exclusions_sentence(report: Report, language: Language) -> str:
    """Return item 7 of the first page."""
    text = language.text
    if not knows_exclusions(report):
        return text("exclusions.none_evaluated")
    states = [str(each["state"]) for each in report["exclusions"]]
    if not states:
        return text("exclusions.none")
    parts = [
        text("exclusions.granted_count", n=sum(states.count(state) for state in _GRANTED)),
        text("exclusions.disputed_count", n=states.count("disputed")),
        text("exclusions.proposed_count", n=states.count("proposed")),
    ]
    changed = _changed(report)
    return text("sentence_space").join(
        (
            text(
                "exclusions.first_page",
                states=text("list_comma").join(parts),
                requests=text("exclusions.left_out", n=count(report["traffic"]["excluded"])),
            ),
            text("exclusions.changes", names=text("list_comma").join(changed))
            if changed
            else text("exclusions.changes_none"),
            *_pending(report, language),
            text("exclusions.see"),
        )
    )


def exclusion_rows(report: Report, language: Language) -> list[ExclusionRow]:
    """Return every exclusion that touches the month, in the report's order."""
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    issued = report.get("status") == "final"
    return [_exclusion(each, language, zone, issued=issued) for each in report.get("exclusions") or []]


def degradation_rows(report: Report, language: Language) -> list[DegradationRow]:
    """Return every degradation that touches the month, in time order."""
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    return [_degradation(each, language, zone) for each in report.get("degradations") or []]


def duration(seconds: Fraction) -> str:
    """Return seconds as h:mm:ss, with what decimals they have: a cap is never rounded."""
    microseconds = int(seconds * 1_000_000)
    whole, rest = divmod(microseconds, 1_000_000)
    hours, within = divmod(whole, 3600)
    decimals = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{hours}:{within // 60:02d}:{within % 60:02d}{decimals}"


def _pending(report: Report, language: Language) -> list[str]:
    """Return what hangs on the exclusions that the parties have not agreed on; nothing where there are none."""
    pending = [each for each in report["exclusions"] if each["state"] in _PENDING]
    if not pending:
        return []
    named = {
        printable(str(change["objective"]))
        for each in pending
        for change in (each.get("effect") or {}).get("verdicts") or []
    }
    if not named:
        return [language.text("exclusions.pending_changes_none")]
    return [
        language.text("exclusions.pending_changes", names=language.text("list_comma").join(sorted(named)))
    ]


def _changed(report: Report) -> list[str]:
    return [
        printable(str(each["name"]))
        for each in report["objectives"]
        if each.get("verdict_without_exclusions") not in (None, each["verdict"])
    ]


def _exclusion(each: Mapping[str, Any], language: Language, zone: ZoneInfo, *, issued: bool) -> ExclusionRow:
    state = str(each["state"])
    return ExclusionRow(
        id=printable(str(each["id"])),
        clause=printable(str(each["clause"]).removeprefix("exclusions.")),
        state=_word("exclusions.state", state, language),
        state_key=state,
        times=_times(each, language, zone),
        said=_said(each, language, zone),
        granted=_granted(each, language),
        effect=_effect(each, language, issued=issued),
    )


def _times(each: Mapping[str, Any], language: Language, zone: ZoneInfo) -> list[str]:
    windows = list(each.get("windows") or [])
    lines = []
    if each.get("recurrence"):
        lines.append(
            language.text(
                "exclusions.again",
                rule=printable("; ".join(str(each["recurrence"]).splitlines())),
                zone=printable(str(each["time_zone"])),
            )
        )
    for window in windows[:_MOST_WINDOWS_SHOWN]:
        marks = [language.text(f"exclusions.{mark}") for mark in _MARKS if window.get(mark)]
        if window.get("change"):
            marks.append(_word("exclusions", str(window["change"]), language))
        span = _span(window["from"], window["to"], language, zone)
        lines.append(
            language.text("exclusions.marked", span=span, marks=language.text("list_comma").join(marks))
            if marks
            else span
        )
    if len(windows) > _MOST_WINDOWS_SHOWN:
        lines.append(language.text("and_more", count=len(windows) - _MOST_WINDOWS_SHOWN))
    if each.get("to") is None:
        lines.append(language.text("exclusions.open_end"))
    if each.get("upstream"):
        lines.append(language.text("exclusions.upstream", name=printable(str(each["upstream"]))))
    return lines


def _said(each: Mapping[str, Any], language: Language, zone: ZoneInfo) -> list[str]:
    text = language.text
    lines = [printable(str(each["reason"]))] if each.get("reason") else []
    if each.get("author"):
        lines.append(
            text(
                "exclusions.by",
                author=printable(str(each["author"])),
                at=_at(each.get("recorded_at"), language, zone),
            )
        )
    notice = each.get("notice")
    if notice:
        lines.append(
            text(
                "exclusions.notice",
                at=_at(notice["at"], language, zone),
                to=text("list_comma").join(texts(notice.get("to"))) or text("nothing"),
            )
        )
    if each.get("evidence"):
        lines.append(text("exclusions.evidence", evidence=printable(str(each["evidence"]))))
    answer = each.get("answer")
    if answer:
        lines.append(
            text(
                "exclusions.answered",
                state=_word("exclusions.state", str(answer["state"]), language),
                author=printable(str(answer["author"])),
                at=_at(answer.get("at"), language, zone),
            )
        )
        lines += [printable(str(answer[key])) for key in ("comment", "evidence") if answer.get(key)]
    return lines


def _granted(each: Mapping[str, Any], language: Language) -> list[str]:
    if not each.get("in_contract", True):
        return [language.text("exclusions.no_clause")]
    cap = each.get("cap") or {}
    granted, claimed, allowed, used = (
        number(cap.get(key))
        for key in ("granted_seconds", "claimed_seconds", "allowed_seconds", "used_seconds")
    )
    lines = [
        language.text(
            "exclusions.granted_of",
            granted=duration(granted or Fraction(0)),
            claimed=duration(claimed or Fraction(0)),
        )
    ]
    lines.append(
        language.text("exclusions.no_cap")
        if allowed is None
        else language.text("exclusions.cap", used=duration(used or Fraction(0)), allowed=duration(allowed))
    )
    return lines


def _effect(each: Mapping[str, Any], language: Language, *, issued: bool) -> list[str]:
    effect = each.get("effect")
    if not effect:
        return [language.text("nothing")]
    lines = [language.text("exclusions.requests", n=count(effect["requests"]) or 0)]
    key = "exclusions.without_it" if each["state"] in _GRANTED else "exclusions.with_it"
    for change in effect["verdicts"]:
        verdict = str(change["would_be"])
        shown = "at_risk" if verdict == "violated" and not issued else verdict
        lines.append(
            language.text(
                key, objective=printable(str(change["objective"])), verdict=language.text(f"verdict.{shown}")
            )
        )
    if not effect["verdicts"]:
        lines.append(language.text("exclusions.no_change"))
    return lines


def _degradation(each: Mapping[str, Any], language: Language, zone: ZoneInfo) -> DegradationRow:
    whom = texts(each.get("tenants"))
    times = [
        _span(each["from"], each["to"], language, zone)
        if each.get("to")
        else language.text("exclusions.since", at=_at(each["from"], language, zone))
    ]
    if whom:
        times.append(language.text("facts.tenants", names=language.text("list_comma").join(whom)))
    modes = each.get("requests_by_mode") or {}
    kind = each.get("kind")
    mode = _word("exclusions.noticed", str(kind), language) if kind else printable(str(each["mode"]))
    evidence = each.get("evidence")
    return DegradationRow(
        mode=mode,
        level=printable(str(each.get("level") or language.text("nothing"))),
        times=times,
        said=[
            language.text("exclusions.noticed.engine", name=printable(str(each.get("engine"))))
            if kind
            else printable(str(each["reason"])),
            language.text(
                "exclusions.by",
                author=printable(str(each["author"])),
                at=_at(each.get("recorded_at"), language, zone),
            ),
            *([language.text("exclusions.evidence", evidence=printable(str(evidence)))] if evidence else []),
        ],
        requests=[
            language.text("exclusions.requests", n=count(each.get("requests")) or 0),
            *(_mode(str(mode), requests, language) for mode, requests in modes.items()),
        ],
    )


def _mode(mode: str, requests: object, language: Language) -> str:
    name = printable(mode) or language.text("exclusions.mode_unknown")
    return language.text("exclusions.by_mode", mode=name, n_shown=language.integer(count(requests) or 0))


def _word(prefix: str, key: str, language: Language) -> str:
    return language.text(f"{prefix}.{key}") if language.has(f"{prefix}.{key}") else printable(key)


def _span(start: object, end: object, language: Language, zone: ZoneInfo) -> str:
    first, last = moment(start, zone), moment(end, zone)
    return language.text(
        "exclusions.span",
        start=_exact(first),
        end=_exact(last)
        if first.date() != last.date() or first.utcoffset() != last.utcoffset()
        else _exact(last)[11:],
    )


def _exact(at: Any) -> str:
    """Return a local time with its offset, to the digit that it has: an hour may come twice."""
    return str(at.isoformat(sep=" "))


def _at(value: object, language: Language, zone: ZoneInfo) -> str:
    return language.text("nothing") if value is None else language.minute(moment(value, zone))
