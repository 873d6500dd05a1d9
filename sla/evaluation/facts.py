"""Own what is counted of one month: each promise's requests in one pass, its intervals in one more a length."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, to_us
from sla.contracts.objectives import AvailabilityObjective, Downtime
from sla.evaluation.cells import cell_aggregates, cell_rows, read_windows, refused_by_cell
from sla.evaluation.counting import add_refused_below_quota, promise_aggregates, read_count
from sla.evaluation.coverage import Coverage, coverage_of
from sla.evaluation.dataset import rows_of
from sla.evaluation.endings import QUOTA_REJECTED
from sla.evaluation.fragments import count_if
from sla.evaluation.observed import failed_probes, seen
from sla.evaluation.quota import WINDOW_US
from sla.evaluation.rows import single_row
from sla.grids import Grid
from sla.interval_formulas import Rules, TimeCount, downtime, mean_interval_error
from sla.verdicts import Count
from sla.windows import WindowCount

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.months import Month
    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests
    from sla.evaluation.subject import Subject
    from sla.interval_formulas import Seen

Tally = Count | WindowCount | TimeCount
"""What a promise counts: requests, windows, or time."""

_QUOTA_WINDOW = timedelta(microseconds=WINDOW_US)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One month of a contract: its rows (`source`), its coverage, each promise's count, other aggregates.

    with_minute_before: the rows that the quota is measured over; None where nothing was refused for quota.
    """

    subject: Subject
    month: Month
    as_of: datetime
    source: Query
    coverage: Coverage
    counts: Mapping[str, Tally]
    others: Mapping[str, Any]
    with_minute_before: Query | None = None


def facts_of(
    store: Requests,
    subject: Subject,
    month: Month,
    as_of: datetime,
    others: Callable[[Coverage], Mapping[str, Query]] = lambda _: {},
) -> Facts:
    """Count one month as it was known at `as_of`; `others` returns further aggregates for the same pass."""
    source = rows_of(store, subject, month.period, as_of)
    coverage = coverage_of(store, month.elapsed, as_of)
    further = others(coverage)
    whole = {key: promise for key, promise in subject.promises.items() if promise.step_us is None}
    aggregates = {**further, "refused_for_quota": count_if(QUOTA_REJECTED)}
    for promise in whole.values():
        aggregates |= promise_aggregates(promise)
    row = single_row(store, aggregates, source)
    by_request = {key: read_count(promise, row) for key, promise in whole.items()}
    wider = None
    if row["refused_for_quota"]:
        wider = _with_the_minute_before(store, subject, month, as_of)
        by_request = add_refused_below_quota(
            store, subject.contract, wider, period=month.period, promises=whole, counts=by_request
        )
    cells = _Cells(store, subject, month, as_of, source, wider, coverage)
    counts: dict[str, Tally] = {**by_request, **cells.counts()}
    return Facts(
        subject=subject,
        month=month,
        as_of=as_of,
        source=source,
        coverage=coverage,
        counts={key: counts[key] for key in subject.promises},
        others={name: row[name] for name in further},
        with_minute_before=wider,
    )


@dataclass(frozen=True, slots=True)
class _Cells:
    """The counting of what is judged by intervals; `wider` reaches back far enough for the quota."""

    store: Requests
    subject: Subject
    month: Month
    as_of: datetime
    source: Query
    wider: Query | None
    coverage: Coverage

    def counts(self) -> dict[str, Tally]:
        """Return the counts of all promises by interval; those of one length share a pass."""
        by_step: dict[int, list[Promise]] = {}
        for promise in self.subject.promises.values():
            if promise.step_us is not None:
                by_step.setdefault(promise.step_us, []).append(promise)
        found: dict[str, Tally] = {}
        for step_us, promises in by_step.items():
            found |= self._of_step(step_us, promises)
        return found

    def _of_step(self, step_us: int, promises: Sequence[Promise]) -> dict[str, Tally]:
        period = self.month.period
        unknown_is_bad = self.subject.contract.unmeasured.unknown_clock == "bad"
        grid = Grid(start_us=to_us(period.start), end_us=to_us(period.end), step_us=step_us)
        ended = grid.ended_by(to_us(self.as_of))
        aggregates: dict[str, Query] = {}
        for promise in promises:
            aggregates |= cell_aggregates(promise, unknown_is_bad=unknown_is_bad)
        rows = cell_rows(self.store, ended, aggregates, self.source)
        timed = [each for each in promises if isinstance(each.objective, AvailabilityObjective)]
        refused = (
            refused_by_cell(
                self.store, self.subject.contract, self.wider, period=period, grid=ended, promises=timed
            )
            if self.wider is not None and timed
            else {}
        )
        probes = failed_probes(self.store, self.subject, self.month.elapsed, self.as_of) if timed else []
        found: dict[str, Tally] = {}
        for promise in promises:
            if promise in timed:
                cells = seen(
                    self.subject,
                    promise,
                    window=period,
                    grid=ended,
                    coverage=self.coverage,
                    probes=probes,
                    rows=rows,
                    refused=refused,
                )
                found[promise.key] = _timed(self.subject.contract, promise, cells)
            else:
                found[promise.key] = read_windows(promise, rows, unknown_is_bad=unknown_is_bad)
        return found


def _timed(contract: Contract, promise: Promise, cells: Sequence[Seen]) -> TimeCount:
    assert isinstance(promise.objective, AvailabilityObjective)  # noqa: S101 - the caller's choice
    formula = promise.objective.availability
    unread = contract.unmeasured.time
    if isinstance(formula, Downtime):
        return downtime(
            cells,
            Rules(
                bad_above=formula.bad_above,
                consecutive=formula.consecutive,
                min_requests=formula.min_requests or 0,
                below_min=formula.below_min,
                empty=formula.empty,
                unread=unread,
            ),
        )
    assert formula.formula == "mean_interval_error"  # noqa: S101 - a ratio by requests has no intervals
    return mean_interval_error(cells, empty=formula.empty, unread=unread)


def _with_the_minute_before(store: Requests, subject: Subject, month: Month, as_of: datetime) -> Query:
    """Return the rows of the month and of the quota's window before it, within the term."""
    before = timedelta(0) if month.is_first else _QUOTA_WINDOW
    window = Interval(start=month.period.start - before, end=month.period.end)
    return rows_of(store, subject, window, as_of)
