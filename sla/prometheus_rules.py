"""Own Prometheus rules for contracts: error ratios recorded by window, alerts with the contract's own thresholds.

They read `fairclock_sli_requests_total`, which ``fairclock up`` counts from slices. Everything is a plain tree,
to be written as YAML; texts from contracts go into labels and annotations, quoted, never into expressions bare.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from sla.alerts.burning import default_rules
from sla.contracts.objectives import AvailabilityObjective, LatencyObjective

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from fairclock.model import Interval
    from sla.alerts.burning import BurnRule, RefusedRule
    from sla.contracts import Contract
    from sla.contracts.objectives import Objective

METRIC = "fairclock_sli_requests_total"
COVERED = "fairclock_sli_covered_seconds_total"
RATIO = "fairclock:sli_error:ratio"
RUNBOOKS = {"FairclockBudgetBurn": "budget-burn", "FairclockNotMeasured": "measurement-gap"}
"""Which page of docs/runbooks an alert has."""

_MICROSECONDS = 1_000_000
_SILENT = "10m"
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def rule_groups(
    contract: Contract, period: Interval, *, runbooks: str | None = None
) -> tuple[list[dict[str, Any]], list[RefusedRule]]:
    """Return the rule groups of one contract, thresholds scaled to `period`, and the rules that could not be made.

    `runbooks` is the address under which the pages of docs/runbooks are. Objectives that are judged by single requests get alerts; those judged by time or windows are left to
    Fairclock's own.
    """
    recorded: list[dict[str, Any]] = []
    alerts: list[dict[str, Any]] = [_silent(contract)]
    refused: list[RefusedRule] = []
    unknown_is_bad = contract.unmeasured.unknown_clock == "bad"
    for objective in contract.objectives:
        share = share_of(objective)
        if share is None:
            continue
        rules, left_out = default_rules(share, period)
        refused += left_out
        selector = _selector(contract.id, objective.name)
        windows = sorted({us for rule in rules for us in (rule.short_us, rule.long_us)})
        recorded += [
            {
                "record": f"{RATIO}{_duration(window_us)}",
                "expr": _ratio(selector, _duration(window_us), unknown_is_bad=unknown_is_bad),
                # the series has them anyway; without them promtool takes the rules of two objectives for one
                "labels": {"contract": contract.id, "objective": objective.name},
            }
            for window_us in windows
        ]
        alerts += [
            _burning(contract, objective, rule, share, unknown_is_bad=unknown_is_bad) for rule in rules
        ]
    for alert in alerts:
        alert["annotations"] |= runbook(runbooks, RUNBOOKS[alert["alert"]])
    name = _NAME.sub("-", contract.id)
    groups = [
        {"name": f"fairclock-{name}-ratios", "rules": recorded},
        {"name": f"fairclock-{name}-alerts", "rules": alerts},
    ]
    return [group for group in groups if group["rules"]], refused


def runbook(base: str | None, page: str) -> dict[str, str]:
    """Return the annotation that leads to a page: its address, or where nobody said where pages are its path in this repository."""
    if base is None:
        return {"runbook": f"docs/runbooks/{page}.md"}
    return {"runbook_url": f"{base.rstrip('/')}/{page}.md"}


def share_of(objective: Objective) -> Fraction | None:
    """Return the share of requests that may be bad; None where requests do not decide, or none may."""
    match objective:
        case LatencyObjective(latency=latency) if latency.window_us is None:
            share = 1 - latency.percentile / 100
        case AvailabilityObjective(availability=availability) if availability.formula == "request_ratio":
            share = 1 - availability.target
        case _:
            return None
    return share if 0 < share < 1 else None


def alertmanager_tree(contracts: Sequence[Contract], receiver_url: str) -> dict[str, Any]:
    """Return an Alertmanager configuration that groups by contract and hands everything to one receiver."""
    return {
        "route": {
            "receiver": "fairclock",
            "group_by": ["contract", "objective"],
            "group_wait": "10s",
            "group_interval": "1m",
            "repeat_interval": "12h",
            "routes": [
                {"receiver": "fairclock", "matchers": [f"contract={_quoted(contract.id)}"]}
                for contract in contracts
            ],
        },
        "inhibit_rules": [
            {
                "source_matchers": ['severity="critical"', 'alertname="FairclockBudgetBurn"'],
                "target_matchers": ['severity="warning"', 'alertname="FairclockBudgetBurn"'],
                "equal": ["contract", "objective"],
            }
        ],
        "receivers": [
            {"name": "fairclock", "webhook_configs": [{"url": receiver_url, "send_resolved": True}]}
        ],
    }


def _burning(
    contract: Contract, objective: Objective, rule: BurnRule, share: Fraction, *, unknown_is_bad: bool
) -> dict[str, Any]:
    selector = _selector(contract.id, objective.name)
    long, short = _duration(rule.long_us), _duration(rule.short_us)
    limit = float(rule.threshold * share)
    bad = _counted(unknown_is_bad=unknown_is_bad, bad_only=True)
    counted = _counted(unknown_is_bad=unknown_is_bad, bad_only=False)
    expression = (
        f"{RATIO}{long}{{{selector}}} >= {limit!r}"
        f" and {RATIO}{short}{{{selector}}} >= {limit!r}"
        f" and {_increase(selector, counted, long)} >= {rule.min_requests}"
        f" and {_increase(selector, bad, long)} >= {rule.min_bad}"
    )
    return {
        "alert": "FairclockBudgetBurn",
        "expr": expression,
        "labels": {
            "contract": _literal(contract.id),
            "objective": _literal(objective.name),
            "severity": rule.severity,
            "rule": rule.name,
        },
        "annotations": {
            "summary": f"{_literal(objective.name)} of {_literal(contract.id)} burns its budget at"
            f" {float(rule.threshold):.4g} times the pace that the contract allows, or faster",
            "description": f"Of the requests of the last {long} and the last {short},"
            f" {limit:.4%} or more are bad; {float(share):.4%} may be.",
        },
    }


def _silent(contract: Contract) -> dict[str, Any]:
    """Return the alert that pages where nothing is read through: a gap is not good news."""
    selector = f'contract={_quoted(contract.id)},side="gateway"'
    return {
        "alert": "FairclockNotMeasured",
        "expr": f"absent({COVERED}{{{selector}}}) or sum by (contract) (increase({COVERED}{{{selector}}}[{_SILENT}])) == 0",
        "for": "5m",
        "labels": {"contract": _literal(contract.id), "severity": "critical"},
        "annotations": {
            "summary": f"nothing that {_literal(contract.id)} is judged by was read through for {_SILENT}"
        },
    }


def _ratio(selector: str, window: str, *, unknown_is_bad: bool) -> str:
    bad = _counted(unknown_is_bad=unknown_is_bad, bad_only=True)
    counted = _counted(unknown_is_bad=unknown_is_bad, bad_only=False)
    # without traffic there is no ratio, rather than one of 0/0
    return f"{_increase(selector, bad, window)} / ({_increase(selector, counted, window)} > 0)"


def _increase(selector: str, counted: str, window: str) -> str:
    return f'sum by (contract, objective) (increase({METRIC}{{{selector},counted=~"{counted}"}}[{window}]))'


def _counted(*, unknown_is_bad: bool, bad_only: bool) -> str:
    return "|".join([*([] if bad_only else ["good"]), "bad", *(["unknown"] if unknown_is_bad else [])])


def _selector(contract: str, objective: str) -> str:
    return f"contract={_quoted(contract)},objective={_quoted(objective)}"


def _quoted(text: str) -> str:
    """Return a text as a string of PromQL, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _literal(text: str) -> str:
    """Return a text that Prometheus' templates print as it is."""
    return text.replace("{{", '{{"{{"}}') if "{{" in text else text


def _duration(microseconds: int) -> str:
    seconds = microseconds // _MICROSECONDS
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
