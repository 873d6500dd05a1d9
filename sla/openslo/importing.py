"""Own how OpenSLO v1 documents become the objectives of a contract that someone has to complete.

Documents that were exported from a contract come back as they went. Of others, what their numbers say is
taken over: OpenSLO does not say on which clock, of which requests, and what is not measured, so each of these
is a question that the file leaves open and `contract lint` asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import yaml

from fairclock.errors import InputError
from sla.openslo.exporting import API_VERSION, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ = frozenset({"apiVersion", "kind", "metadata", "spec"})
_HEAD = """\
# Made from OpenSLO by `fairclock contract import-openslo`; not a contract yet.
# OpenSLO does not say the following. Answer it here, then run `fairclock contract lint`.
apiVersion: fairclock/v1
kind: Contract
id: imported
title: {title}
# provider: {{name: …}}
# customer: {{name: …, tenants: […]}}
# term: {term}
# clock: {{start: received}}  or connected
# insufficient: {{below: …, verdict: …}}
# unmeasured: {{time: …, coverage_floor: …, below_floor: …, unknown_clock: …}}
"""


@dataclass(slots=True, kw_only=True)
class Imported:
    """The text of a contract to be completed, and what of the documents it does not carry."""

    text: str = ""
    objectives: list[dict[str, Any]] = field(default_factory=list)
    not_carried: list[str] = field(default_factory=list)


def import_openslo(text: str | bytes, *, where: str = "OpenSLO") -> Imported:
    """Return what a YAML stream of OpenSLO v1 documents says of objectives; InputError if it is none."""
    try:
        documents = [each for each in yaml.load_all(text, Loader=_AsWritten) if each is not None]
    except yaml.YAMLError as error:
        raise InputError(where, "not YAML", found=str(error).replace("\n", " ")) from error
    found = Imported()
    title, term = "imported from OpenSLO", "{from: …, to: …, time_zone: …}"
    for number, document in enumerate(documents):
        name = f"document {number + 1}"
        if not isinstance(document, dict) or document.get("apiVersion") != API_VERSION:
            raise InputError(
                where,
                f"{name} is not OpenSLO v1",
                found=str(document.get("apiVersion"))
                if isinstance(document, dict)
                else type(document).__name__,
                remedy=f"write apiVersion: {API_VERSION}",
            )
        if document.get("kind") != "SLO":
            found.not_carried.append(f"{name}: kind {document.get('kind')}")
            continue
        spec = _mapping(document.get("spec"))
        title = str(spec.get("description") or title)
        term = _term(spec) or term
        _add(found, document, spec, name)
    if not found.objectives:
        raise InputError(
            where, "there is no objective in it", remedy="name a file with documents of kind SLO"
        )
    body = yaml.safe_dump({"objectives": found.objectives}, allow_unicode=True, sort_keys=False)
    shown = yaml.safe_dump(title, allow_unicode=True).splitlines()[0]
    lost = "".join(f"# not carried: {each}\n" for each in found.not_carried)
    found.text = f"{_HEAD.format(title=shown, term=term)}{lost}{body}"
    return found


class _AsWritten(yaml.SafeLoader):
    """Reads every value as the text it was written as: no number becomes binary, no word a truth value."""


_AsWritten.yaml_implicit_resolvers = {}


def _add(found: Imported, document: dict[str, Any], spec: dict[str, Any], name: str) -> None:
    indicator = _mapping(_mapping(spec.get("indicator")).get("spec"))
    carried = _exported(indicator)
    if carried is not None:
        found.objectives.append(carried)
        return
    found.not_carried += [f"{name}: {path}" for path in _beyond(document, spec)]
    metadata = _mapping(document.get("metadata"))
    shown = str(metadata.get("displayName") or metadata.get("name") or name)
    promised = spec.get("objectives")
    entries = [each for each in promised if isinstance(each, dict)] if isinstance(promised, list) else []
    for number, entry in enumerate(entries):
        title = shown if len(entries) == 1 else f"{shown} {number + 1}"
        objective = _objective(entry, spec, title, is_ratio="ratioMetric" in indicator)
        if objective is None:
            found.not_carried.append(f"{name}: objectives[{number}]")
        else:
            found.objectives.append(objective)


def _exported(indicator: dict[str, Any]) -> dict[str, Any] | None:
    """Return the objective that an exported document holds as the contract had it."""
    ratio = _mapping(indicator.get("ratioMetric"))
    for metric in (ratio.get("total"), indicator.get("thresholdMetric")):
        source = _mapping(_mapping(metric).get("metricSource"))
        if source.get("type") == SOURCE and isinstance(source.get("spec"), dict):
            return dict(source["spec"])
    return None


def _objective(
    entry: dict[str, Any], spec: dict[str, Any], title: str, *, is_ratio: bool
) -> dict[str, Any] | None:
    target = _decimal(entry.get("target"))
    percent = _decimal(entry.get("targetPercent")) or (None if target is None else target * 100)
    if percent is None:
        return None
    method, window = spec.get("budgetingMethod"), entry.get("timeSliceWindow")
    if is_ratio and method == "Occurrences":
        return {"name": title, "availability": {"formula": "request_ratio", "target": f"{_plain(percent)}%"}}
    if is_ratio and method == "RatioTimeslices" and window:
        return {
            "name": title,
            "availability": {
                "formula": "mean_interval_error",
                "interval": str(window),
                "target": f"{_plain(percent)}%",
            },
        }
    slice_target = _decimal(entry.get("timeSliceTarget"))
    if is_ratio and method == "Timeslices" and window and slice_target is not None:
        return {
            "name": title,
            "availability": {
                "formula": "downtime",
                "interval": str(window),
                "bad_above": f"{_plain((1 - slice_target) * 100)}%",
                "target": f"{_plain(percent)}%",
            },
        }
    value = _decimal(entry.get("value"))
    if not is_ratio and method == "Occurrences" and entry.get("op") == "lte" and value is not None:
        # OpenSLO has no units; the clock is left open, so that nobody signs one that was guessed
        return {"name": title, "latency": {"percentile": _plain(percent), "at_most": f"{_plain(value)}s"}}
    return None


def _beyond(document: dict[str, Any], spec: dict[str, Any]) -> Iterator[str]:
    yield from (key for key in document if key not in _READ)
    if "indicator" in spec or "indicatorRef" in spec:
        yield "spec.indicator (queries of a metric source; say which requests by scope and where)"
    yield from (f"spec.{key}" for key in ("alertPolicies", "service") if spec.get(key))
    for window in spec.get("timeWindow") or []:
        if _mapping(window).get("duration") != "1M" or _mapping(window).get("isRolling") == "true":
            yield f"spec.timeWindow {_mapping(window).get('duration')} (contracts are judged by months)"


def _term(spec: dict[str, Any]) -> str | None:
    for window in spec.get("timeWindow") or []:
        calendar = _mapping(_mapping(window).get("calendar"))
        if calendar.get("startTime") and calendar.get("timeZone"):
            day = str(calendar["startTime"])[:10]
            return f"{{from: {day}, to: …, time_zone: {calendar['timeZone']}}}"
    return None


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _decimal(value: Any) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except ArithmeticError:
        return None
    return number if number.is_finite() else None


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
