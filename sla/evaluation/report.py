"""Own the evaluation of one contract and month: what is read, counted, judged, and put under which key."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from fairclock.errors import NotEvaluable
from fairclock.model import Interval, Outcome, utc_text
from sla.contracts import Contract
from sla.contracts.objectives import CostObjective
from sla.contracts.versions import versions_of
from sla.evaluation.breakdown import read_breakdown
from sla.evaluation.budgets_section import error_budgets_section
from sla.evaluation.carried import carried_counts, with_carried
from sla.evaluation.charged import Charges, charged_of
from sla.evaluation.cost_objectives import judge_cost
from sla.evaluation.cost_section import amounts_section, cost_section
from sla.evaluation.coverage import coverage_of
from sla.evaluation.credits_section import credits_of, credits_section, with_differences
from sla.evaluation.curve import curve_ranks, curve_section
from sla.evaluation.daily import daily
from sla.evaluation.dataset import rows_of
from sla.evaluation.evidence import rows_sha256
from sla.evaluation.excluded import NOTHING, Excluded
from sla.evaluation.exclusions_section import degradations_section
from sla.evaluation.facts import Facts, Tally, facts_of
from sla.evaluation.judged import Judged, judge
from sla.evaluation.months import month_of, months_before
from sla.evaluation.once import once
from sla.evaluation.parts import parts_of
from sla.evaluation.printed import printed
from sla.evaluation.ranking import values_at_ranks
from sla.evaluation.remedied import Remedied, remedied
from sla.evaluation.sections import (
    breakdown_section,
    contract_section,
    coverage_section,
    daily_section,
    latency_section,
    period_section,
    traffic_section,
    unmeasured_section,
)
from sla.evaluation.subject import Subject, subject_of
from sla.evaluation.together import together
from sla.evaluation.traffic import read_traffic
from sla.evaluation.values import (
    clock_ranks,
    objective_ranks,
    read_clock_table,
    read_delivered,
)
from sla.evaluation.verdict_rows import objectives_section, version_section
from sla.measurement.section import measurement_section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from billing.credits import CreditEntry
    from fairclock.store import Query
    from sla.evaluation.cost_objectives import CostJudged
    from sla.evaluation.coverage import Coverage
    from sla.evaluation.rows import Requests
    from sla.evaluation.values import Delivered

SCHEMA = "fairclock.report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one version of a contract says about its part of a month."""

    facts: Facts
    judged: Mapping[str, Judged]
    carried: Mapping[str, Tally]
    delivered: Mapping[str, Delivered]
    costs: Mapping[int, CostJudged]
    credits: Sequence[CreditEntry]


def evaluate(
    store: Requests,
    contract: Contract | Sequence[Contract],
    *,
    month: str,
    as_of: datetime | None = None,
    software_version: str,
    fonts: Sequence[Mapping[str, Any]] = (),
    excluded: Excluded | None = None,
) -> dict[str, Any]:
    """Return the content of ``report.json`` for `month` (``2026-10``) as it was known at `as_of`.

    `contract` may be several versions of one contract: each judges the requests received while it was in
    force. Without `as_of` it is the store's watermark. The same store, contract, `as_of`, version and fonts
    give the same content. `excluded` replaces what the store's exclusions leave out. Raises NotEvaluable for a month outside the term or not yet begun, ContractError
    for versions that disagree.
    """
    known = store.checked_as_of(as_of)
    return once(
        store,
        contract,
        month,
        known,
        lambda: _evaluate(
            store,
            contract,
            month=month,
            instant_known=known,
            software_version=software_version,
            fonts=fonts,
            excluded=excluded,
        ),
    )


def _evaluate(
    store: Requests,
    contract: Contract | Sequence[Contract],
    *,
    month: str,
    instant_known: datetime,
    software_version: str,
    fonts: Sequence[Mapping[str, Any]],
    excluded: Excluded | None,
) -> dict[str, Any]:
    subjects = _subjects(contract, month, instant_known, excluded or NOTHING)
    remedies = [remedied(store, each, month, instant_known) for each in subjects] if excluded is None else []
    subjects = [each.subject for each in remedies] or subjects
    charges = Charges(store=store, label=month, as_of=instant_known)
    results = [_result(store, subject, month, instant_known, charges) for subject in subjects]
    without = [_without(store, *each) for each in zip_longest(results, remedies)]
    facts = [each.facts for each in results]
    latest = subjects[-1].contract
    period = Interval(start=facts[0].month.period.start, end=facts[-1].month.period.end)
    elapsed = Interval(start=period.start, end=facts[-1].month.elapsed.end)
    everything = together(facts)
    traffic = read_traffic(everything.others)
    ranked = values_at_ranks(
        store, everything.source, {**clock_ranks(everything.others), **curve_ranks(everything.others)}
    )
    charged = charges.of(latest, period)
    credited = credits_section(
        store, latest, month, [credit for each in results for credit in each.credits], instant_known
    )
    return {
        "schema": SCHEMA,
        "contract": {
            **contract_section(latest),
            "versions": [version_section(each) for each in facts],
        },
        "period": period_section(latest, month, period),
        "as_of": utc_text(instant_known),
        "revision": None,
        "status": "draft",
        "traffic": traffic_section(traffic),
        "coverage": coverage_section(
            coverage_of(store, elapsed, instant_known), traffic, traffic.outcomes[Outcome.OK]
        ),
        "latency": latency_section(read_clock_table(everything.others, ranked)),
        "percentile_curve": curve_section(everything.others, ranked),
        "breakdown": breakdown_section(read_breakdown(everything.others)),
        "objectives": [
            row
            for each, verdicts in zip(results, without, strict=True)
            for row in objectives_section(
                each.facts, each.judged, each.delivered, each.carried, verdicts, costs=each.costs
            )
        ],
        "error_budgets": [
            row
            for each in results
            for row in error_budgets_section(store, each.facts, each.judged, each.carried)
        ],
        "exclusions": [
            row
            for result, each in zip(results, remedies, strict=False)
            for row in each.section(store, result.facts.subject.promises, result.judged)
        ],
        "degradations": degradations_section(store, everything.source, latest, elapsed, instant_known),
        **_incidents(store, subjects, elapsed, instant_known),
        "changes": [],
        "cost": cost_section(charged),
        "credits": credited,
        "amounts": amounts_section(charged, credited),
        "evidence": {
            "rows": traffic.admitted,
            "rows_sha256": rows_sha256(store, everything.source, period, traffic.admitted),
            "seals": len(store.seals_as_of(period, instant_known)),
            "software_version": software_version,
            "fonts": [dict(font) for font in fonts],
        },
        "simulated": traffic.simulated > 0,
        "daily": daily_section(daily(store, everything.source, period, latest.zone)),
        "unmeasured": unmeasured_section(latest),
        "measurement": measurement_section(
            store, [each.contract for each in subjects], elapsed, instant_known
        ),
        "not_evaluated": list(
            dict.fromkeys(
                path
                for each in results
                for path in each.facts.subject.contract.not_evaluated()
                if not _rests_on_the_ledger(path, each, is_rated=charged is not None)
            )
        ),
    }


def _incidents(
    store: Requests, subjects: Sequence[Subject], elapsed: Interval, as_of: datetime
) -> dict[str, Any]:
    # both count in this package's words, and so cannot be imported before it
    from sla.incidents.section import incident_rule, incidents_section  # noqa: PLC0415
    from sla.slices.evaluator import InForce  # noqa: PLC0415

    versions = [
        InForce(contract=each.contract, within=each.in_force, excluded=each.excluded) for each in subjects
    ]
    return {
        "incidents": incidents_section(store, versions, elapsed, as_of),
        "incident_rule": incident_rule(),
    }


def verdicts(
    store: Requests, contract: Contract | Sequence[Contract], *, month: str, as_of: datetime | None = None
) -> list[Judged]:
    """Return what `evaluate` would say of every promise in `month`, without what is printed beside it."""
    known = store.checked_as_of(as_of)
    return once(store, contract, month, known, lambda: _verdicts(store, contract, month, known))


def _verdicts(
    store: Requests, contract: Contract | Sequence[Contract], month: str, known: datetime
) -> list[Judged]:
    found: list[Judged] = []
    for subject in _subjects(contract, month, known, NOTHING):
        each = remedied(store, subject, month, known)
        found += _judged(store, each.subject, month, known, lambda _: {})[1].values()
    return found


def cost_verdicts(
    store: Requests, contract: Contract | Sequence[Contract], *, month: str, as_of: datetime | None = None
) -> list[tuple[CostObjective, CostJudged | None]]:
    """Return what `evaluate` would say of every promise about cost in `month`; None where it is not measured."""
    known = store.checked_as_of(as_of)
    found: list[tuple[CostObjective, CostJudged | None]] = []
    for subject in _subjects(contract, month, known, NOTHING):
        promised = [each for each in subject.contract.objectives if isinstance(each, CostObjective)]
        if not promised:
            continue
        begun = month_of(subject.contract, month, known, subject.in_force)
        charged = charged_of(store, subject.contract, month, begun.period, known)
        coverage = coverage_of(store, begun.elapsed, known)
        found += [(each, judge_cost(subject.contract, each, charged, coverage)) for each in promised]
    return found


def computed_credits(
    store: Requests, contract: Contract | Sequence[Contract], *, month: str, as_of: datetime | None = None
) -> list[CreditEntry]:
    """Return the credits that `evaluate` would say a month comes to, as they are written down; with what is further to granted ones."""
    known = store.checked_as_of(as_of)
    return once(store, contract, month, known, lambda: _credits(store, contract, month, known))


def _credits(
    store: Requests, contract: Contract | Sequence[Contract], month: str, known: datetime
) -> list[CreditEntry]:
    found: list[CreditEntry] = []
    subjects = _subjects(contract, month, known, NOTHING)
    charges = Charges(store=store, label=month, as_of=known)
    for subject in subjects:
        each = remedied(store, subject, month, known)
        facts, judged, _ = _judged(store, each.subject, month, known, lambda _: {})
        found += _money(store, facts, judged, charges)[1]
    return with_differences(store, subjects[-1].contract, month, found, known)


def _money(
    store: Requests, facts: Facts, judged: Mapping[str, Judged], charges: Charges
) -> tuple[dict[int, CostJudged], list[CreditEntry]]:
    """Return what the ledger says of a version's promises about cost, by their place, and what its verdicts give back."""
    contract = facts.subject.contract
    costs: dict[int, CostJudged] = {}
    if contract.credits is None and not any(isinstance(each, CostObjective) for each in contract.objectives):
        return costs, []
    charged = charges.of(contract, facts.month.period)
    for number, objective in enumerate(contract.objectives):
        if isinstance(objective, CostObjective):
            found = judge_cost(contract, objective, charged, facts.coverage)
            if found is not None:
                costs[number] = found
    return costs, credits_of(store, facts, judged, costs, charged)


def _rests_on_the_ledger(path: str, result: Result, *, is_rated: bool) -> bool:
    """Tell whether a clause that no verdict by request rests on was evaluated all the same: by what was rated."""
    if path.startswith("objectives["):
        return int(path[len("objectives[") : -1]) in result.costs
    return is_rated and (path in {"credits", "prices"} or path.startswith("quality.levels["))


def _without(store: Requests, result: Result, each: Remedied | None) -> dict[str, str] | None:
    """Return the verdicts had nothing been left out; None where nothing was, or what is left out was given."""
    if each is None or each.subject.excluded == NOTHING:
        return None
    return each.without(store, result.facts.subject.promises)


def _subjects(
    contract: Contract | Sequence[Contract], label: str, as_of: datetime, excluded: Excluded
) -> list[Subject]:
    """Return the versions that are in force in a month and have been by `as_of`, in time order."""
    if isinstance(contract, Contract):
        return [subject_of(contract, excluded=excluded)]
    versions = versions_of(contract)
    if len(versions) == 1:
        return [subject_of(versions[0].contract, excluded=excluded)]
    found = []
    for version in versions:
        whole = version.contract.whole_month(label)
        if version.in_force.start < whole.end and version.in_force.end > whole.start:
            found.append(subject_of(version.contract, excluded=excluded, in_force=version.in_force))
    begun = [each for each in found if each.in_force is None or each.in_force.start < as_of]
    if not begun:
        raise NotEvaluable(
            f"month {label}",
            "no version of the contract was in force",
            found=", ".join(
                f"{each.contract.source_path}: {each.contract.term.first_day} to {each.contract.term.last_day}"
                for each in versions
            ),
            remedy="choose a month of the term that has begun",
        )
    return begun


def _result(store: Requests, subject: Subject, label: str, as_of: datetime, charges: Charges) -> Result:
    facts, judged, carried = _judged(
        store, subject, label, as_of, partial(printed, excluded=subject.excluded)
    )
    costs, credited = _money(store, facts, judged, charges)
    return Result(
        facts=facts,
        judged=judged,
        carried=carried,
        delivered=_delivered(store, facts, judged, carried),
        costs=costs,
        credits=credited,
    )


def _judged(
    store: Requests,
    subject: Subject,
    label: str,
    as_of: datetime,
    others: Callable[[Coverage], Mapping[str, Query]],
) -> tuple[Facts, dict[str, Judged], dict[str, Tally]]:
    """Return a version's counts, its promises' verdicts, and what was carried over to them."""
    month = month_of(subject.contract, label, as_of, subject.in_force)
    subject = subject.by(parts_of(store, subject.contract, rows_of(store, subject, month.period, as_of)))
    facts = facts_of(store, subject, month, as_of, others)
    carried = carried_counts(store, facts)
    judged = {
        key: judge(promise, facts, with_carried(facts.counts[key], carried[key]))
        for key, promise in subject.promises.items()
    }
    return facts, judged, carried


def _delivered(
    store: Requests, facts: Facts, judged: Mapping[str, Judged], carried: Mapping[str, Tally]
) -> dict[str, Delivered]:
    """Return each promise's value; carried requests are ranked with their own month."""
    alone = {key: each for key, each in judged.items() if carried[key] == type(carried[key])()}
    both = {key: each for key, each in judged.items() if key not in alone}
    values = values_at_ranks(store, facts.source, objective_ranks(alone))
    if objective_ranks(both):
        subject = facts.subject
        (before, *_) = months_before(subject.contract, facts.month.label, subject.in_force)
        start = month_of(subject.contract, before, facts.as_of, subject.in_force).period.start
        window = Interval(start=start, end=facts.month.period.end)
        source = rows_of(store, subject, window, facts.as_of)
        values |= values_at_ranks(store, source, objective_ranks(both))
    return {key: read_delivered(each, values) for key, each in judged.items()}
