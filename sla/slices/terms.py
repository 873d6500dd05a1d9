"""Own what of a contract's version is written down beside its slices, so that who reads these knows what they count."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.store.contract_terms import ContractTerms, keep_terms
from sla.contracts.objectives import LatencyObjective
from sla.prometheus_rules import share_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairclock.store import Store
    from sla.slices.evaluator import InForce

_NOTHING = Fraction(0)


def keep_terms_of(store: Store, versions: Iterable[InForce]) -> int:
    """Write down what all versions of some contracts promise, where it is not known; return how many rows that was."""
    return keep_terms(store, (terms for each in versions if (terms := terms_of(each)) is not None))


def terms_of(version: InForce) -> ContractTerms | None:
    """Return what a version promises; None if it never judges."""
    contract, interval = version.contract, version.interval
    if interval is None:
        return None
    shares = [share_of(each) or _NOTHING for each in contract.objectives]
    return ContractTerms(
        contract=contract.id,
        version=contract.version_sha256,
        title_en=contract.title.in_language("en"),
        title_zh=contract.title.in_language("zh"),
        tenants=contract.customer.tenants,
        models=contract.scope.models,
        routes=contract.scope.routes,
        regions=contract.scope.regions,
        time_zone=contract.term.time_zone,
        clock_start=contract.clock.start,
        unknown_is_bad=contract.unmeasured.unknown_clock == "bad",
        in_force_from=interval.start,
        in_force_to=interval.end,
        outcome_statuses=tuple(each.status or 0 for each in contract.outcomes),
        outcome_error_codes=tuple(each.error_code or "" for each in contract.outcomes),
        outcome_names=tuple(str(each.outcome) for each in contract.outcomes),
        objectives=tuple(each.name for each in contract.objectives),
        kinds=tuple(each.kind for each in contract.objectives),
        clocks=tuple(
            str(each.latency.clock) if isinstance(each, LatencyObjective) else ""
            for each in contract.objectives
        ),
        at_most_us=tuple(
            each.latency.at_most_us if isinstance(each, LatencyObjective) else 0
            for each in contract.objectives
        ),
        share_of=tuple(each.numerator for each in shares),
        share_in=tuple(each.denominator for each in shares),
    )
