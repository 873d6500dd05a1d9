"""Own what of a bundle was said by people and noticed of engines: exclusions, degradations, incidents that were told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import Interval
from fairclock.store.incidents import first_known, incidents_as_of
from fairclock.store.remedies import degradations_as_of, exclusion_entries
from sla.bundle.written import lines_bytes, tree_of
from sla.evaluation.excluding import engine_starts, rules_of
from sla.exclusions import exclusions_at
from sla.exclusions.recurrence import Recurrence, occurrences
from sla.exclusions.rules import COLD_START

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.bundle.reach import Judging
    from sla.evaluation.months import Month
    from sla.exclusions import Exclusion


def said_files(store: Store, judges: Sequence[Judging], as_of: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield what had been said by `as_of`, whole: every entry with its notice, its acceptance, and who said it."""
    contract = judges[-1].contract
    entries = exclusion_entries(store, as_of=as_of, contract=contract.id)
    yield "exclusions.jsonl", lines_bytes(tree_of(each) for each in entries)
    yield "exclusion_windows.jsonl", lines_bytes(_windows(exclusions_at(entries, as_of), judges))
    yield "engine_starts.jsonl", lines_bytes(_starts(store, judges, as_of))
    tenants = set(contract.customer.tenants)
    yield (
        "degradations.jsonl",
        lines_bytes(
            # whom else it touched is not this customer's to know
            {**tree_of(each), "tenants": sorted(tenants & set(each.tenants))}
            for each in degradations_as_of(store, as_of)
            if not each.tenants or tenants & set(each.tenants)
        ),
    )
    first = first_known(store, [contract.id], as_of)
    yield (
        "incidents_told.jsonl",
        lines_bytes(
            {
                "id": each.id,
                "objective": each.objective,
                "from": each.starts_at,
                "to": each.ends_at,
                "state": each.state,
                "first_told_at": first[each.id],
            }
            for each in incidents_as_of(store, contract.id, as_of, withdrawn=True)
        ),
    )


def _months(judges: Sequence[Judging]) -> list[Month]:
    return [month for each in judges for month in each.months]


def _windows(exclusions: Sequence[Exclusion], judges: Sequence[Judging]) -> Iterator[dict[str, Any]]:
    """Yield the windows of what recurs, month by month: the only thing of exclusions that is not in their entries."""
    for each in exclusions:
        proposal = each.proposal
        if not proposal.recurrence or proposal.ends_at is None:
            continue
        for month in _months(judges):
            found = occurrences(
                Recurrence.parse(proposal.recurrence),
                first=Interval(start=proposal.starts_at, end=proposal.ends_at),
                zone_name=proposal.time_zone,
                window=month.elapsed,
            )
            yield {
                "id": each.id,
                "within": month.elapsed,
                "windows": [
                    {
                        "from": one.time.start,
                        "to": one.time.end,
                        "change": None if one.change is None else str(one.change),
                    }
                    for one in found
                ],
            }


def _starts(store: Store, judges: Sequence[Judging], as_of: datetime) -> Iterator[dict[str, Any]]:
    """Yield the starts of engines that may touch a month; nobody need ask where no contract excludes them."""
    for each in judges:
        if COLD_START not in rules_of(each.contract):
            continue
        for month in each.months:
            for start in engine_starts(store, month.elapsed, as_of):
                yield {"within": month.elapsed, **tree_of(start)}
