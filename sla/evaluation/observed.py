"""Own what was seen of each interval: time looked at, requests, whether it was read through, failed probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Interval, to_us
from fairclock.store.probes import probes_as_of
from sla.evaluation.counting import read_count
from sla.evaluation.promises import looked_at
from sla.grids import intersection
from sla.interval_formulas import Seen
from sla.probing import REACH, concerning, failed_times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sla.evaluation.cells import Row
    from sla.evaluation.coverage import Coverage
    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests
    from sla.evaluation.subject import Subject
    from sla.grids import Grid, Span


def failed_probes(store: Requests, subject: Subject, window: Interval, as_of: datetime) -> list[Interval]:
    """Return when probes of the contract's service failed in `window`, as it was known at `as_of`.

    From one failed probe to the next answered one is one interval, so that an outage covers the time between
    its probes.
    """
    probes = probes_as_of(store, Interval(start=window.start - REACH, end=window.end), as_of)
    return failed_times(concerning(subject.contract, probes), window)


def seen(
    subject: Subject,
    promise: Promise,
    *,
    window: Interval,
    grid: Grid,
    coverage: Coverage,
    probes: Sequence[Interval],
    rows: Mapping[int, Row],
    refused: Mapping[int, Row],
) -> list[Seen]:
    """Return every interval of `grid`, in time order, as availability by time judges it.

    An interval is what of it the objective looks at: its period's time, less what is excluded. It was read
    through if a gateway was over all of that.
    """
    instants = looked_at(subject.contract, promise.objective, window, subject.excluded)
    looked = [(grid.start_us, grid.end_us)] if instants is None else _spans(instants)
    times = grid.shares(looked)
    read = grid.shares(intersection(looked, _spans(coverage.gateway_intervals)))
    probed = grid.shares(intersection(looked, _spans(probes)))
    found: list[Seen] = []
    for place, (looked_at_us, read_us, failed_us) in enumerate(zip(times, read, probed, strict=True)):
        row = rows.get(place)
        count = None if row is None else read_count(promise, row)
        wrongly_refused = refused.get(place, {}).get(promise.key, 0)
        found.append(
            Seen(
                looked_at_us=looked_at_us,
                counted=(count.valued if count else 0) + wrongly_refused,
                bad=(count.valued_over if count else 0) + wrongly_refused,
                is_read=read_us == looked_at_us,
                probes_failed=failed_us > 0,
            )
        )
    return found


def _spans(intervals: Sequence[Interval]) -> list[Span]:
    return [(to_us(each.start), to_us(each.end)) for each in intervals]
