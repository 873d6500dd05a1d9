"""Own what a bundle has to reach: which versions judge its month, and which earlier months hand requests on to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.errors import NotEvaluable
from fairclock.model import Interval
from sla.contracts.versions import versions_of
from sla.evaluation.dataset import rows_of
from sla.evaluation.facts import facts_of
from sla.evaluation.judged import is_left_open, is_void, judge
from sla.evaluation.months import Month, month_of, months_before
from sla.evaluation.parts import parts_of
from sla.evaluation.quota import WINDOW_US
from sla.evaluation.remedied import Remedied, remedied
from sla.evaluation.subject import Subject, subject_of
from sla.interval_formulas import TimeCount

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sla.contracts import Contract
    from sla.evaluation.rows import Requests

_QUOTA_WINDOW = timedelta(microseconds=WINDOW_US)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """One version that judges the month, with its exclusions, and the months whose requests it needs, the latest first."""

    remedied: Remedied
    months: tuple[Month, ...]

    @property
    def contract(self) -> Contract:
        """Return the version's contract."""
        return self.remedied.subject.contract

    @property
    def in_force(self) -> Interval | None:
        """Return when it is in force; None: during its whole term."""
        return self.remedied.subject.in_force

    def windows(self) -> list[Interval]:
        """Return the time whose requests are needed, a window a month: a minute more where a quota counts."""
        quota = self.contract.quota
        counts = quota is not None and quota.rejected_below == "bad"
        found: list[Interval] = []
        for month in self.months:
            before = _QUOTA_WINDOW if counts and not month.is_first else timedelta(0)
            start = month.period.start - before
            if found and found[-1].start < month.period.end:
                # the minute before a month is in the month before it
                found[-1] = Interval(start=month.period.end, end=found[-1].end)
            found.append(Interval(start=start, end=month.period.end))
        return found


def judging(store: Requests, versions: Sequence[Contract], label: str, as_of: datetime) -> list[Judging]:
    """Return the versions that judge a month, in time order, as `sla.evaluation.evaluate` chooses them."""
    return [_judging(store, subject, label, as_of) for subject in _subjects(versions, label, as_of)]


def spans_of(versions: Sequence[Contract], label: str, as_of: datetime) -> list[tuple[Contract, Interval]]:
    """Return the versions that judge a month, in time order, each with what had passed of its part by `as_of`."""
    return [
        (each.contract, month_of(each.contract, label, as_of, each.in_force).elapsed)
        for each in _subjects(versions, label, as_of)
    ]


def _subjects(versions: Sequence[Contract], label: str, as_of: datetime) -> list[Subject]:
    known = versions_of(versions)
    if len(known) == 1:
        return [subject_of(known[0].contract)]
    found = []
    for version in known:
        whole = version.contract.whole_month(label)
        inside = version.in_force
        if inside.start < whole.end and inside.end > whole.start and inside.start < as_of:
            found.append(subject_of(version.contract, in_force=inside))
    if not found:
        raise NotEvaluable(
            f"month {label}",
            "no version of the contract was in force",
            remedy="choose a month of the term that has begun",
        )
    return found


def _judging(store: Requests, subject: Subject, label: str, as_of: datetime) -> Judging:
    of_month = remedied(store, subject, label, as_of)
    return Judging(
        remedied=of_month,
        months=(of_month.month, *_handing_on(store, of_month, as_of)),
    )


def _handing_on(store: Requests, of_month: Remedied, as_of: datetime) -> list[Month]:
    """Return the months before that somebody has to count anew to know what was carried over.

    They go back to the first that leaves nothing open for any promise, and it is among them: that it left nothing open
    has to be seen, too.
    """
    subject, month = of_month.subject, of_month.month
    contract = subject.contract
    if contract.insufficient.verdict != "carry_over":
        return []
    subject = subject.by(parts_of(store, contract, rows_of(store, subject, month.period, as_of)))
    if contract.period.partial == "void" and month.is_partial:
        return []
    found: list[Month] = []
    still_open = set(subject.promises)
    for label in months_before(contract, month.label, subject.in_force):
        if not still_open:
            break
        before = month_of(contract, label, as_of, subject.in_force)
        facts = facts_of(store, subject, before, as_of)
        found.append(before)
        for key in sorted(still_open):
            count = facts.counts[key]
            empty = type(count)() if is_void(contract, facts) else count
            if isinstance(count, TimeCount) or not is_left_open(
                contract, judge(subject.promises[key], facts, empty)
            ):
                still_open.discard(key)
    return found
