"""Own the evaluation of the configured contracts, as ``evaluate`` and ``up`` run it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fairclock import __version__
from fairclock.model import Interval
from sla.contracts.versions import load_versions
from sla.engines.noticing import notice_engines
from sla.evaluation import cost_verdicts, evaluate, verdicts
from sla.evaluation.excluding import said_of_all
from sla.incidents.noticing import notice_incidents
from sla.revisions import due_months, keep_revision, months_within
from sla.slices import evaluate_slices, in_force, keep_terms_of, latest_month

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.evaluation.excluding import Starts
    from sla.revisions import DueMonth, Kept
    from sla.slices import InForce, Pass

Contracts = list[list["Contract"]]
"""The versions of each contract."""
_A_MONTH = timedelta(days=32)


def load_contracts(paths: Sequence[Path]) -> Contracts:
    """Read the configured contracts; ContractError names what is wrong with one."""
    return [load_versions(path) for path in paths]


def versions_of_all(
    store: Store, contracts: Contracts, as_of: datetime, *, starts: Starts | None = None
) -> list[InForce]:
    """Return every version of all contracts, with what had been left out by `as_of`; for `starts` see `in_force`."""
    said = said_of_all(store, as_of)
    return [
        each
        for versions in contracts
        for each in in_force(store, versions, as_of, starts=starts, said=said.get(versions[0].id, []))
    ]


def count_slices(
    store: Store, versions: Sequence[InForce], *, as_of: datetime, window: Interval | None = None
) -> Pass:
    """Bring the slices of `versions` up to `as_of`, or those of `window`, and what these promise."""
    keep_terms_of(store, versions)
    return evaluate_slices(store, versions, window=window, as_of=as_of)


def by_contract(versions: Iterable[InForce]) -> list[list[InForce]]:
    """Return the versions of each contract together, in the order given."""
    found: dict[str, list[InForce]] = {}
    for each in versions:
        found.setdefault(each.contract.id, []).append(each)
    return list(found.values())


def keep_months(
    store: Store, versions: Sequence[InForce], *, as_of: datetime, window: Interval | None = None
) -> list[Kept]:
    """Keep what the contracts' months came to: those in `window`, or those that rest on something new."""
    contracts = by_contract(versions)
    if window is None:
        months = due_months(store, contracts, as_of, {})
    else:
        months = [month for each in contracts for month in months_within(each, window, as_of)]
    return [keep_month(store, month, as_of) for month in months]


def keep_month(store: Store, due: DueMonth, as_of: datetime) -> Kept:
    """Evaluate one month as of `as_of`, and keep it where it is another revision."""
    report = evaluate(store, due.contracts, month=due.month, as_of=as_of, software_version=__version__)
    return keep_revision(store, report, inputs=due.inputs)


def note_engines(store: Store, *, window: Interval | None = None) -> int:
    """Note what happened to engines in `window`, or in the last month; return how many rows said something new."""
    as_of = store.watermark()
    return notice_engines(store, window or Interval(start=as_of - _A_MONTH, end=as_of), as_of)


def note_incidents(store: Store, versions: Sequence[InForce], *, window: Interval | None = None) -> int:
    """Find the incidents in the slices that changed, or in `window`; return how many rows said something new."""
    return notice_incidents(store, versions, window=window)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one promise stands in one month; `month` None where the contract has not begun."""

    contract: str
    month: str | None
    objective: str
    part: str
    counted: int | None
    over: int | None
    allowed: int | None
    verdict: str

    def tree(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "contract": self.contract, "month": self.month, "objective": self.objective, "part": self.part or None,
            "n": self.counted, "violations": self.over, "allowed": self.allowed, "verdict": self.verdict,
        }  # fmt: skip


def standings(store: Store, contracts: Contracts, as_of: datetime, until: datetime) -> list[Standing]:
    """Return how every promise stands, as of `as_of`, in its contract's latest month that had begun before `until`."""
    found: list[Standing] = []
    for versions in contracts:
        latest = versions[-1]
        months = [label for each in versions if (label := latest_month(each, min(as_of, until)))]
        if not months:
            found += [_not_begun(latest, objective.name) for objective in latest.objectives]
            continue
        month = max(months)
        for judged in verdicts(store, versions, month=month, as_of=as_of):
            part = judged.promise.part
            values = (part.model, part.region) if part is not None else ()
            found.append(
                Standing(
                    contract=latest.id,
                    month=month,
                    objective=judged.promise.objective.name,
                    part=" ".join(value for value in values if value is not None),
                    counted=judged.counted,
                    over=judged.over,
                    allowed=judged.allowed,
                    verdict=str(judged.judgement.verdict),
                )
            )
        for objective, cost in cost_verdicts(store, versions, month=month, as_of=as_of):
            found.append(
                Standing(
                    contract=latest.id, month=month, objective=objective.name, part="",
                    counted=None if cost is None else cost.requests, over=None, allowed=None,
                    verdict="not_measured" if cost is None else str(cost.judgement.verdict),
                )
            )  # fmt: skip
    return found


def exit_code(found: Sequence[Standing]) -> int:
    """Return 1 where a promise is broken, else 3 where one could not be judged, else 0."""
    said = {each.verdict for each in found}
    if "violated" in said:
        return 1
    return 3 if said & {"insufficient_data", "not_measured"} else 0


def _not_begun(contract: Contract, objective: str) -> Standing:
    return Standing(
        contract=contract.id, month=None, objective=objective, part="", counted=None, over=None, allowed=None,
        verdict="not_measured",
    )  # fmt: skip
