"""Own a version of a contract together with what was left out of its month, and what would be without it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval
from sla.evaluation.carried import carried_counts, earlier_months, with_carried
from sla.evaluation.dataset import rows_of
from sla.evaluation.excluded import NOTHING
from sla.evaluation.excluding import MonthExclusions, excluded_by, left_out, month_exclusions, said_of
from sla.evaluation.exclusions_section import exclusions_section
from sla.evaluation.facts import facts_of
from sla.evaluation.fragments import all_of, count_if, sql
from sla.evaluation.judged import judge
from sla.evaluation.months import month_of, months_before
from sla.evaluation.rows import single_row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sla.evaluation.carried import Earlier
    from sla.evaluation.excluded import Excluded
    from sla.evaluation.judged import Judged
    from sla.evaluation.months import Month
    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests
    from sla.evaluation.subject import Subject
    from sla.exclusions import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedied:
    """A subject of one month and its exclusions. before: what is left out of the months that carry over to it."""

    subject: Subject
    month: Month
    as_of: datetime
    exclusions: MonthExclusions
    before: tuple[Plan, ...] = ()
    _judged: dict[Any, dict[str, str]] = field(default_factory=dict)
    _earlier: dict[Any, Earlier] = field(default_factory=dict)

    def without(self, store: Requests, promises: Mapping[str, Promise]) -> dict[str, str]:
        """Return the verdicts had nothing been left out, in no month, by the promise's key."""
        return self._verdicts(store, promises, NOTHING)

    def section(
        self, store: Requests, promises: Mapping[str, Promise], now: Mapping[str, Judged]
    ) -> list[dict[str, Any]]:
        """Return the report's list of the exclusions, each with its effect; `now` is how the month was judged."""
        self._judged[_key(self.subject.excluded)] = {
            key: str(each.judgement.verdict) for key, each in now.items()
        }

        def verdicts(plan: Plan) -> list[tuple[dict[str, Any], str]]:
            found = self._verdicts(store, promises, excluded_by((plan, *self.before)))
            return [({"objective": _name(promises[key])}, verdict) for key, verdict in found.items()]

        return exclusions_section(
            self.exclusions,
            lambda pairs: self._counted(store, pairs),
            verdicts,
            version_sha256=self.subject.contract.version_sha256,
        )

    def _verdicts(
        self, store: Requests, promises: Mapping[str, Promise], excluded: Excluded
    ) -> dict[str, str]:
        key = _key(excluded)
        if key not in self._judged:
            subject = replace(self.subject, promises=promises, excluded=excluded)
            facts = facts_of(store, subject, self.month, self.as_of)
            carried = carried_counts(store, facts, self._months_before(store, promises, excluded))
            self._judged[key] = {
                each: str(
                    judge(promise, facts, with_carried(facts.counts[each], carried[each])).judgement.verdict
                )
                for each, promise in promises.items()
            }
        return self._judged[key]

    def _months_before(self, store: Requests, promises: Mapping[str, Promise], excluded: Excluded) -> Earlier:
        """Return the months before this one; what is left out of this one changes nothing in them."""
        of_them = NOTHING if excluded is NOTHING else excluded_by(self.before)
        key = _key(of_them)
        if key not in self._earlier:
            subject = replace(self.subject, promises=promises, excluded=of_them)
            self._earlier[key] = earlier_months(store, subject, self.as_of)
        return self._earlier[key]

    def _counted(self, store: Requests, pairs: Mapping[str, tuple[Plan, Plan]]) -> dict[str, int]:
        """Return how many requests each first plan leaves out and its second does not; read where they lie."""
        pieces = [each.time for more, _ in pairs.values() for each in more.pieces]
        if not pieces:
            return dict.fromkeys(pairs, 0)
        hull = Interval(start=min(each.start for each in pieces), end=max(each.end for each in pieces))
        subject = replace(self.subject, promises={}, excluded=NOTHING)
        columns = {}
        for number, (more, fewer) in enumerate(pairs.values()):
            kept = left_out(excluded_by((fewer,), name=f"fewer_{number}"), name=f"fewer_{number}")
            gone = left_out(excluded_by((more,), name=f"more_{number}"), name=f"more_{number}")
            columns[f"claim_{number}"] = count_if(all_of([gone, sql(f"NOT ({kept.sql})", **kept.parameters)]))
        row = single_row(store, columns, rows_of(store, subject, hull, self.as_of))
        return dict(zip(pairs, row.values(), strict=True))


def _key(excluded: Excluded) -> tuple[object, ...]:
    return (excluded.instants, excluded.requests.sql, repr(excluded.requests.parameters))


def remedied(store: Requests, subject: Subject, label: str, as_of: datetime) -> Remedied:
    """Return `subject` with what was left out of its month by `as_of`, and of the months before if they carry over."""
    contract = subject.contract
    said = said_of(store, contract, as_of)

    def exclusions_of(each: str) -> MonthExclusions:
        return month_exclusions(
            store,
            contract,
            month_of(contract, each, as_of, subject.in_force),
            as_of,
            said=said,
            shares_month=subject.in_force is not None,
        )

    exclusions = exclusions_of(label)
    carries = contract.insufficient.verdict == "carry_over"
    earlier = months_before(contract, label, subject.in_force) if carries else []
    before = tuple(exclusions_of(each).plan for each in earlier)
    return Remedied(
        subject=replace(subject, excluded=excluded_by((exclusions.plan, *before))),
        month=month_of(contract, label, as_of, subject.in_force),
        as_of=as_of,
        exclusions=exclusions,
        before=before,
    )


def _name(promise: Promise) -> str:
    """Return a promise's name, with its part where the contract judges parts."""
    part = promise.part
    if part is None:
        return promise.objective.name
    values = [value for value in (part.model, part.region) if value is not None]
    return f"{promise.objective.name} ({', '.join(values)})" if values else promise.objective.name
