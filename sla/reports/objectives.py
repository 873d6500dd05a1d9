"""Own how an objective is printed: what was promised, what was delivered, what the count says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.documents.text import printable
from sla.reports.manners import BY_INTERVALS, counted_in, manner, part_of
from sla.reports.reading import count, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

SECONDS_LEAST_PLACES = 3
"""Gateways log milliseconds; a verdict or a threshold may ask for more, never for fewer."""

PERCENT_LEAST_PLACES = 2
_COMPARISONS = ("below", "above", "at_most", "at_least")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A verdict in words and the key it stands for, which chooses the colour."""

    key: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveRow:
    """One objective as the tables print it; every field is text."""

    name: str
    clause: str
    promised: str
    applies: list[str]
    delivered: str
    is_unanswered: bool
    interval: str
    counted: str
    over: str
    allowed: str
    good: str
    unknown: str
    verdict: Verdict
    without_exclusions: Verdict
    reason: str


def objective_rows(report: Report, language: Language) -> list[ObjectiveRow]:
    """Return the objectives in the order of the contract."""
    issued = report.get("status") == "final"
    return [_row(report, each, language, issued=issued) for each in report["objectives"]]


def remarks(rows: Sequence[ObjectiveRow], language: Language) -> list[tuple[str, str]]:
    """Return each reason that is not plain counting once, behind the names of the objectives it is about."""
    names: dict[str, list[str]] = {}
    for row in rows:
        if row.reason:
            names.setdefault(row.reason, []).append(row.name)
    return [(language.text("list_comma").join(each), reason) for reason, each in names.items()]


def verdict_sentence(report: Report, language: Language) -> str:
    """Return the one sentence: how many objectives were met, were not, could not be judged."""
    verdicts = [each["verdict"] for each in report["objectives"]]
    met, violated = verdicts.count("met"), verdicts.count("violated")
    return language.text(
        "sentence.all",
        of=language.text("sentence.of", n=len(verdicts)),
        met=language.text("sentence.met", n=met),
        violated=language.text("sentence.violated", n=violated),
        open=language.text("sentence.open", n=len(verdicts) - met - violated),
    )


def _row(report: Report, objective: Mapping[str, Any], language: Language, *, issued: bool) -> ObjectiveRow:
    nothing = language.text("nothing")

    def whole(key: str) -> str:
        found = count(objective.get(key))
        return nothing if found is None else language.integer(found)

    return ObjectiveRow(
        name=language.text("list_comma").join([printable(str(objective["name"])), *part_of(objective)]),
        clause=printable(str(objective.get("clause") or "")),
        promised=_promised(objective, language),
        applies=[*manner(report, objective, language), *conditions(objective, language)],
        delivered=_delivered(objective, language),
        is_unanswered=_is_unanswered(objective),
        interval=_interval(objective, language),
        counted=counted_in(objective, language, whole("n")),
        over=whole("violations"),
        allowed=whole("allowed"),
        good=whole("good"),
        unknown=whole("unknown"),
        verdict=_verdict(objective, "verdict", language, issued=issued),
        without_exclusions=_verdict(objective, "verdict_without_exclusions", language, issued=issued),
        reason=_reason(objective, language),
    )


def _promised(objective: Mapping[str, Any], language: Language) -> str:
    threshold = number(objective.get("threshold"))
    if _is_latency(objective) and threshold is not None:
        percentile = number(objective["percentile"]) or Fraction(0)
        return language.text(
            "objectives.percentile",
            percentile=language.beside(percentile, [percentile], least=0),
            clock=clock_name(str(objective["clock"]), language),
            threshold=language.beside(threshold, [threshold], least=0),
        )
    if _is_availability(objective) and threshold is not None:
        return language.text(
            "objectives.availability", target=language.percent(threshold, thresholds=[threshold], least=0)
        )
    kind = str(objective.get("kind"))
    shown = (
        language.text("nothing") if threshold is None else language.beside(threshold, [threshold], least=0)
    )
    clock = clock_name(str(objective.get("clock") or ""), language)
    key = f"objectives.{kind}" if language.has(f"objectives.{kind}") else "objectives.other"
    return language.text(key, kind=printable(kind), clock=clock, threshold=shown)


def conditions(objective: Mapping[str, Any], language: Language) -> list[str]:
    """Return the conditions under which a request falls under the objective, one text each."""
    lines = []
    period = objective.get("during")
    if period:
        outside = str(period).startswith("not ")
        lines.append(
            language.text(
                "objectives.outside_period" if outside else "objectives.during",
                period=printable(str(period).removeprefix("not ")),
            )
        )
    where = objective.get("where")
    if where:
        lines.append(language.text("objectives.where", condition=_condition(where, language)))
    return lines


def _condition(where: object, language: Language) -> str:
    if not isinstance(where, Mapping):
        return printable(str(where))
    parts = [
        text
        for field, limit in where.items()
        for text in _comparisons(printable(str(field)), limit, language)
    ]
    whole = parts[0]
    for part in parts[1:]:
        whole = language.text("objectives.joined_conditions", first=whole, second=part)
    return whole


def _comparisons(field: str, limit: object, language: Language) -> list[str]:
    if isinstance(limit, Mapping):
        return [
            language.text(
                f"objectives.{word}" if word in _COMPARISONS else "objectives.is",
                field=field,
                value=printable(str(value)),
            )
            for word, value in limit.items()
        ]
    if isinstance(limit, list):
        shown = language.text("list_comma").join(printable(str(each)) for each in limit)
    else:
        shown = str(limit).lower() if isinstance(limit, bool) else printable(str(limit))
    return [language.text("objectives.is", field=field, value=shown)]


def _delivered(objective: Mapping[str, Any], language: Language) -> str:
    threshold = number(objective.get("threshold"))
    if _is_availability(objective):
        ratio = _delivered_ratio(objective)
        if ratio is None:
            return language.text("nothing")
        return language.percent(ratio, thresholds=_given(threshold), least=PERCENT_LEAST_PLACES)
    value = number(objective.get("value"))
    if value is not None:
        return seconds(value, language, threshold=threshold)
    return language.text("unanswered" if _is_unanswered(objective) else "nothing")


def value_in_words(objective: Mapping[str, Any], value: object, other: object, language: Language) -> str:
    """Return a value of an objective so that it can be told from another one."""
    limits = _given(number(objective.get("threshold"))) + _given(number(other))
    found = number(value)
    if found is None:
        return language.text("unanswered" if _is_unanswered({**objective, "value": None}) else "nothing")
    if _is_availability(objective):
        return language.percent(found, thresholds=limits, least=PERCENT_LEAST_PLACES)
    return language.beside(found, limits, least=SECONDS_LEAST_PLACES)


def _is_unanswered(objective: Mapping[str, Any]) -> bool:
    """Tell whether the percentile's rank falls on a request without a value."""
    return _is_latency(objective) and objective.get("value") is None and bool(count(objective.get("n")))


def _delivered_ratio(objective: Mapping[str, Any]) -> Fraction | None:
    """Return good / n from the counts, which are exact, or the value where they are not what decides."""
    good, bad = count(objective.get("good")), count(objective.get("bad"))
    if objective.get("formula") in BY_INTERVALS:
        return number(objective.get("value"))
    if good is not None and bad is not None:
        return Fraction(good, good + bad) if good + bad else None
    return number(objective.get("value"))


def _interval(objective: Mapping[str, Any], language: Language) -> str:
    bounds = objective.get("interval")
    if not bounds:
        return language.text("nothing")
    threshold = number(objective.get("threshold"))
    low, high = (
        None if value is None else seconds(value, language, threshold=threshold)
        for value in map(number, bounds)
    )
    return between(low, high, language)


def between(low: str | None, high: str | None, language: Language) -> str:
    """Return an interval in words; a side that nothing bounds (too few values, no answers) is open."""
    if low is None and high is None:
        return language.text("nothing")
    if high is None:
        return language.text("details.interval_or_more", low=low)
    if low is None:
        return language.text("details.interval_or_less", high=high)
    return language.text("details.interval_text", low=low, high=high)


def _verdict(objective: Mapping[str, Any], which: str, language: Language, *, issued: bool) -> Verdict:
    verdict = objective.get(which)
    if verdict is None or objective.get("reason") == "not_evaluated":
        return Verdict(key="none", words=language.text("not_evaluated"))
    key = str(verdict)
    return Verdict(key=key, words=verdict_in_words(key, language, issued=issued))


def verdict_in_words(verdict: str, language: Language, *, issued: bool) -> str:
    """Return a verdict in words; until a report is issued, a broken promise is a risk."""
    words = "at_risk" if verdict == "violated" and not issued else verdict
    return language.text(f"verdict.{words}")


def _reason(objective: Mapping[str, Any], language: Language) -> str:
    reason = objective.get("reason")
    key = f"reason.{reason}"
    notes = []
    if reason:
        notes.append(language.text(key) if language.has(key) else printable(str(reason)))
    carried = count(objective.get("carried"))
    if carried:
        notes.append(language.text("objectives.carried", n=carried))
    return language.text("clause_comma").join(notes)


def seconds(value: Fraction, language: Language, *, threshold: Fraction | None) -> str:
    """Return seconds at the source's resolution, finer where the threshold would be crossed."""
    return language.beside(value, _given(threshold), least=SECONDS_LEAST_PLACES)


def clock_name(clock: str, language: Language) -> str:
    """Return a clock in words; one that this version does not know keeps its key."""
    key = f"clocks.{clock}"
    return language.text(key) if language.has(key) else printable(clock)


def _given(threshold: Fraction | None) -> list[Fraction]:
    return [] if threshold is None else [threshold]


def _is_latency(objective: Mapping[str, Any]) -> bool:
    return objective.get("clock") is not None and objective.get("percentile") is not None


def _is_availability(objective: Mapping[str, Any]) -> bool:
    return str(objective.get("kind")).startswith("availability") or objective.get("kind") == "request_ratio"
