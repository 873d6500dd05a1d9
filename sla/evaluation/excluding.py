"""Own what of a contract's month is left out: read as of an instant, planned by `sla.exclusions`, as conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.store.remedies import exclusion_entries
from sla.engines.reading import LONGEST, starts_within
from sla.evaluation.excluded import Excluded
from sla.evaluation.fragments import NEVER, all_of, separated, sql
from sla.evaluation.instants import inside
from sla.exclusions import (
    Cap,
    ClauseRule,
    EngineStart,
    MonthSpan,
    Plan,
    claims_of,
    cold_start_claims,
    exclusions_at,
    plan_of,
)
from sla.exclusions.rules import CLIENT_NETWORK, COLD_START, MAINTENANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.model.remedies import ExclusionEntry
    from fairclock.store import Query
    from fairclock.store.engine_lives import Rows
    from sla.contracts import Contract
    from sla.contracts.remedies import Cap as CapClause
    from sla.evaluation.months import Month
    from sla.evaluation.rows import Requests
    from sla.exclusions import Claim, Exclusion

    Starts = Callable[[Rows, Interval, datetime], Sequence[EngineStart]]

_NOTHING_AT_ALL = Cap(duration_us=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthExclusions:
    """What was claimed of a month, by which rules, and what is left out of it (`plan`)."""

    span: MonthSpan
    rules: Mapping[str, ClauseRule]
    claims: tuple[Claim, ...]
    plan: Plan

    def without(self, ids: set[str]) -> Plan:
        """Return what would be left out had the claims `ids` not been granted; caps are dealt anew."""
        return self._of([each for each in self.claims if each.is_granted and each.id not in ids])

    def along_with(self, id_: str) -> Plan:
        """Return what would be left out had the claim `id_` been granted as well."""
        return self._of([each for each in self.claims if each.is_granted or each.id == id_])

    def _of(self, claims: list[Claim]) -> Plan:
        return plan_of(claims, self.rules, self.span)


def said_of(store: Requests, contract: Contract, as_of: datetime) -> list[Exclusion]:
    """Return the contract's exclusions, whichever version they were entered under, as they stood at `as_of`."""
    return exclusions_at(exclusion_entries(store, as_of=as_of, contract=contract.id), as_of)


def said_of_all(store: Requests, as_of: datetime) -> dict[str, list[Exclusion]]:
    """Return the exclusions of every contract that has some, in one query: for those who ask for many at once."""
    entries: dict[str, list[ExclusionEntry]] = {}
    for entry in exclusion_entries(store, as_of=as_of):
        entries.setdefault(entry.contract, []).append(entry)
    return {contract: exclusions_at(found, as_of) for contract, found in entries.items()}


def month_exclusions(
    store: Requests,
    contract: Contract,
    month: Month,
    as_of: datetime,
    *,
    said: Sequence[Exclusion],
    shares_month: bool = False,
    starts: Starts | None = None,
) -> MonthExclusions:
    """Return what of `month` is left out, as it was known at `as_of`.

    A version that `shares_month` with others has its part of each cap, whatever it says of cut months. `starts`
    stands for `engine_starts`.
    """
    rules = rules_of(contract)
    span = MonthSpan(
        period=month.period,
        elapsed=month.elapsed,
        whole_us=contract.whole_month(month.label).length_us,
        is_prorated=shares_month or contract.period.partial == "prorated",
    )
    # most contracts have no such clause, and then nobody need ask the engines
    started = (starts or engine_starts)(store, month.elapsed, as_of) if COLD_START in rules else ()
    automatic = cold_start_claims(started, rules, span)
    claims = (*claims_of(said, rules, span), *automatic)
    granted = [each for each in claims if each.is_granted]
    return MonthExclusions(span=span, rules=rules, claims=claims, plan=plan_of(granted, rules, span))


def engine_starts(store: Rows, window: Interval, as_of: datetime) -> Sequence[EngineStart]:
    """Return the engines' starts that may touch `window`, with their first served requests, as known at `as_of`.

    Only those of which it is known what gateways call the engine; the others leave nothing out.
    """
    around = Interval(start=window.start - LONGEST, end=window.end)
    return [
        EngineStart(
            instance=each.life.engine,
            upstream=each.route.upstream,
            started_at=each.life.began,
            first_served_at=each.first_served,
            evidence=each.evidence,
        )
        for each in starts_within(store, around, as_of)
        if each.route.upstream
    ]


def rules_of(contract: Contract) -> dict[str, ClauseRule]:
    """Return the contract's clauses of exclusion as numbers; a clause that needs a cap and has none gets nothing."""
    clauses = contract.exclusions
    rules: dict[str, ClauseRule] = {}
    if clauses.maintenance is not None:
        rules[MAINTENANCE] = ClauseRule(
            name=MAINTENANCE,
            cap=_cap(clauses.maintenance.cap_per_month),
            notice_us=clauses.maintenance.notice_us or 0,
            notice_to=clauses.maintenance.notice_to,
            late_counts=clauses.maintenance.emergency == "counts",
        )
    if clauses.cold_start is not None:
        rules[COLD_START] = ClauseRule(name=COLD_START, cap=_cap(clauses.cold_start.cap_per_month))
    if clauses.client_network is not None:
        rules[CLIENT_NETWORK] = ClauseRule(
            name=CLIENT_NETWORK, cap=_cap(clauses.client_network.cap_per_month), needs_evidence=True
        )
    return rules | {name: ClauseRule(name=name) for name in clauses.named if name not in rules}


def excluded_by(plans: Iterable[Plan], *, name: str = "excluded") -> Excluded:
    """Return what `plans` leave out, as the evaluation asks for it; `name` begins the names of parameters."""
    together = Plan(pieces=tuple(piece for plan in plans for piece in plan.pieces))
    return Excluded(instants=tuple(together.times), requests=_routed(together, name=name))


def left_out(excluded: Excluded, *, name: str) -> Query:
    """Return the condition that a row of the dataset is left out; `name` begins its parameters' names."""
    return _any_of([inside(excluded.instants, name=name), excluded.requests])


def _routed(plan: Plan, *, name: str) -> Query:
    conditions = []
    for number, upstream in enumerate(sorted({each.upstream for each in plan.pieces if each.upstream})):
        times = [each.time for each in plan.pieces if each.upstream == upstream]
        parameter = f"{name}_upstream_{number}"
        conditions.append(
            all_of(
                [
                    sql(f"upstream = {{{parameter}:String}}", **{parameter: upstream}),
                    inside(times, name=f"{name}_routed_{number}"),
                ]
            )
        )
    return _any_of(conditions)


def _any_of(conditions: Sequence[Query]) -> Query:
    real = [each for each in conditions if each != NEVER]
    if not real:
        return NEVER
    return separated(" OR ", [sql(f"({each.sql})", **each.parameters) for each in real])


def _cap(clause: CapClause | None) -> Cap:
    return _NOTHING_AT_ALL if clause is None else Cap(duration_us=clause.duration_us, share=clause.share)
