"""Own what is published of contracts: budgets, burn, verdicts and coverage as the overview has them, from slices and notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from exporters.prometheus import Figure
from exporters.prometheus.bounds import label_text
from fairclock.cli.pipeline.metrics.layout import thresholds_of
from fairclock.console.access.callers import LOCAL, Caller
from fairclock.console.readings.kept_reports import KeptReports
from fairclock.console.readings.overview import overview
from fairclock.console.readings.view import Memory, View
from fairclock.store.evaluations import newest_evaluations
from fairclock.store.tokens import Scope
from sla.contracts.objectives import LatencyObjective
from sla.contracts.versions import version_in_force
from sla.revisions.figures import read_figures
from sla.verdicts import WORST_FIRST, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from billing.cost_book.settings import CostBookSettings
    from exporters.prometheus import Published
    from fairclock.console.readings.models.overview import ContractCard, StandingFigures
    from fairclock.store import Store
    from sla.contracts import Contract

VERDICTS = tuple(map(str, Verdict))
SEVERITIES = ("critical", "warning", "info")
WINDOWS = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1), "6h": timedelta(hours=6)}
INFO = "fairclock_contract_info"
THRESHOLD = "fairclock_objective_threshold_seconds"
VERDICT = "fairclock_objective_verdict"
REMAINING, SPENT = "fairclock_error_budget_remaining_ratio", "fairclock_error_budget_spent_ratio"
BURN = "fairclock_error_budget_burn_rate"
COVERAGE = "fairclock_coverage_ratio"
INCIDENTS, ALERTS = "fairclock_incidents_open", "fairclock_alerts_firing"
ABOUT = {
    INFO: "1 for each tenant of a contract, with the version that is in force.",
    THRESHOLD: "What a latency objective promises at most.",
    VERDICT: "1 for the verdict that holds in the month so far, 0 for the others.",
    REMAINING: "What is left of a budget of requests in the month so far; below 0 where it is overspent.",
    SPENT: "What is spent of it.",
    BURN: "How fast a budget of requests is spent: 1 is as fast as the contract allows.",
    COVERAGE: "How much of the month so far was read through; joined: of the answered requests, those with an engine's row.",
    INCIDENTS: "Incidents that go on.",
    ALERTS: "Alerts that fire, or did when their data was lost; of no contract those about machines and sources.",
}
_CALLER = Caller(name=LOCAL, scope=Scope.ADMIN)


@dataclass(slots=True)
class Agreements:
    """What contracts come to; remembers the sums of days from one reading to the next."""

    _settings: CostBookSettings
    _memory: Memory = field(default_factory=lambda: Memory(reports=KeptReports(software_version="")))

    def figures(
        self, store: Store, as_of: datetime, contracts: Sequence[list[Contract]]
    ) -> Iterator[Published]:
        """Yield what is known of each contract that is in force, and which alerts fire; what is not known is absent."""
        if not contracts:
            return
        view = View(
            store=store, caller=_CALLER, as_of=as_of, now=as_of, contracts=contracts, prices=None,
            cost_book=self._settings, memory=self._memory,
        )  # fmt: skip
        seen = overview(view, windows=list(WINDOWS.values()))
        firing = Counter((each.contract, each.severity) for each in seen.alerts)
        cards = {each.contract: each for each in seen.contracts}
        months = {
            (each.contract, each.month): each.figures
            for each in newest_evaluations(store, list(cards), as_of)
        }
        for versions in contracts:
            card = cards[versions[0].id]
            contract = version_in_force(versions, as_of)
            # what a contract came to in its last month is a report's to say, and no alert's for ever
            if contract is not None:
                yield from _of_contract(contract)
                yield from _of_card(card, months.get((card.contract, card.month or "")))
                yield from _burning(card)
            for severity in SEVERITIES:
                yield _gauge(
                    ALERTS, firing[card.contract, severity], contract=card.contract, severity=severity
                )
        # what concerns machines and sources is no single contract's
        for severity in SEVERITIES:
            yield _gauge(ALERTS, firing[None, severity], contract="", severity=severity)


def _of_contract(contract: Contract) -> Iterator[Published]:
    for tenant in contract.customer.tenants:
        yield _gauge(
            INFO, 1, contract=contract.id, tenant=label_text(tenant), version=contract.version_sha256[:12]
        )
    named = [each.name for each in contract.objectives if isinstance(each, LatencyObjective)]
    for name, (clock, threshold_us) in zip(named, thresholds_of(contract), strict=True):
        yield _gauge(
            THRESHOLD, threshold_us / 1_000_000, contract=contract.id, objective=name, clock=clock.value
        )


def _of_card(card: ContractCard, kept: str | None) -> Iterator[Published]:
    found: dict[str, list[StandingFigures]] = {}
    for standing in (*card.standings, *card.earlier):
        found.setdefault(standing.objective, []).append(standing)
    for objective, standings in found.items():
        yield from _of_objective(card.contract, objective, standings)
    if card.month is not None:
        yield _gauge(INCIDENTS, card.ongoing_incidents, contract=card.contract)
    joined = None if kept is None else read_figures(kept)["coverage"].get("joined")
    coverage = card.coverage
    for kind, value in (
        ("gateway", None if coverage is None else coverage.gateway_ratio),
        ("engine", None if coverage is None else coverage.engine_ratio),
        ("joined", joined),
    ):
        if value is not None:
            yield _gauge(COVERAGE, value, contract=card.contract, kind=kind)


def _burning(card: ContractCard) -> Iterator[Published]:
    named = {int(length.total_seconds()): name for name, length in WINDOWS.items()}
    for standing in card.standings:
        for burn in standing.burns:
            if burn.rate is not None:
                yield _gauge(
                    BURN, burn.rate, contract=card.contract, objective=standing.objective,
                    window=named[burn.window_seconds],
                )  # fmt: skip


def _of_objective(contract: str, objective: str, standings: Sequence[StandingFigures]) -> Iterator[Published]:
    """Yield the worst of what every version of the month that promised it comes to: each part is owed."""
    verdicts = [each.verdict for each in standings if each.verdict is not None]
    if verdicts:
        worst = min(verdicts, key=WORST_FIRST.index)
        for verdict in VERDICTS:
            yield _gauge(VERDICT, worst == verdict, contract=contract, objective=objective, verdict=verdict)
    left = [each.remaining_ratio for each in standings if each.remaining_ratio is not None]
    if left:
        yield _gauge(REMAINING, min(left), contract=contract, objective=objective)
        yield _gauge(SPENT, 1 - min(left), contract=contract, objective=objective)


def _gauge(name: str, value: float, **labels: str) -> Figure:
    return Figure(name=name, about=ABOUT[name], value=value, labels=labels)
