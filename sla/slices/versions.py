"""Own which versions of contracts are counted: when each is in force, and what had been left out by an instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.contracts.versions import versions_of
from sla.evaluation.excluded import NOTHING, Excluded
from sla.evaluation.excluding import excluded_by, month_exclusions, said_of
from sla.evaluation.months import month_of, months_before
from sla.slices.counting import term_of
from sla.slices.evaluator import InForce

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.evaluation.excluding import Starts
    from sla.exclusions import Exclusion


def in_force(
    store: Store,
    contracts: Sequence[Contract],
    as_of: datetime,
    *,
    starts: Starts | None = None,
    said: Sequence[Exclusion] | None = None,
) -> list[InForce]:
    """Return the versions of one contract, each with when it is in force and what had been left out by `as_of`.

    `starts` stands for `sla.evaluation.excluding.engine_starts`, for those who ask every few seconds; `said` is
    what was said of the contract's exclusions, for those who know it already.
    """
    versions = versions_of(contracts)
    shares = len(versions) > 1
    known = said_of(store, versions[0].contract, as_of) if said is None else said
    return [
        InForce(
            contract=version.contract,
            within=version.in_force,
            excluded=_excluded(
                store,
                version.contract,
                version.in_force if shares else None,
                as_of,
                said=known,
                starts=starts,
            ),
        )
        for version in versions
    ]


def latest_month(contract: Contract, as_of: datetime, within: Interval | None = None) -> str | None:
    """Return the latest month of `contract` that had begun by `as_of`; None if none had."""
    term = term_of(contract)
    start, end = (term.start, term.end) if within is None else (within.start, within.end)
    if as_of <= start:
        return None
    first, last = start.astimezone(contract.zone), min(as_of, end).astimezone(contract.zone)
    year, number = last.year, last.month
    while (year, number) >= (first.year, first.month):
        label = f"{year:04d}-{number:02d}"
        whole = contract.whole_month(label)
        if whole.start < min(as_of, end) and whole.end > start:
            return label
        year, number = (year - 1, 12) if number == 1 else (year, number - 1)
    # an anniversary month that began before the term's first calendar month did
    return None


def _excluded(
    store: Store,
    contract: Contract,
    within: Interval | None,
    as_of: datetime,
    *,
    said: Sequence[Exclusion],
    starts: Starts | None,
) -> Excluded:
    latest = latest_month(contract, as_of, within)
    if latest is None or not (said or contract.exclusions.cold_start is not None):
        return NOTHING
    labels = [*reversed(months_before(contract, latest, within)), latest]
    plans = [
        month_exclusions(
            store,
            contract,
            month_of(contract, label, as_of, within),
            as_of,
            said=said,
            shares_month=within is not None,
            starts=starts,
        ).plan
        for label in labels
    ]
    return excluded_by(plans)
