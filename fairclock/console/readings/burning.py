"""Own how fast budgets are spent, and how they went down: from slices, in the words of the alerts that watch them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Anchor, Basis
from fairclock.console.readings.models.figures import Burn, BurnDown, BurnDownPoint
from fairclock.console.readings.month_sums import tallies_of
from fairclock.console.readings.ranged import step_of
from fairclock.model import Interval
from fairclock.store.slice_buckets import bucket_sums
from fairclock.store.slices import SliceKey
from sla.budgets import Budget, burn_rate
from sla.contracts.versions import versions_of
from sla.prometheus_rules import share_of
from sla.slices import sums_as_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from fractions import Fraction

    from fairclock.console.readings.view import Versions, View
    from sla.contracts import Contract
    from sla.contracts.objectives import Objective
    from sla.slices import Slice
    from sla.tallies import Tally

WINDOWS = (timedelta(hours=1), timedelta(hours=6))
"""The stretches of which the pace is shown."""
_MINUTE = timedelta(minutes=1)
_MICROSECOND = timedelta(microseconds=1)


def key_of(contract: Contract) -> SliceKey:
    """Return whose slices a version's are."""
    return SliceKey(contract.id, contract.version_sha256)


def recent_sums(view: View, keys: Sequence[SliceKey]) -> dict[SliceKey, tuple[Slice, ...]]:
    """Return the sums of each of `WINDOWS` up to the minute of the view, by version."""
    end = view.as_of.replace(second=0, microsecond=0)
    end = end if end == view.as_of else end + _MINUTE
    windows = [Interval(start=end - each, end=end) for each in WINDOWS]
    return sums_as_of(view.store, list(keys), windows, view.as_of)


def burns_of(contract: Contract, place: int, sums: Sequence[Slice] | None) -> tuple[Burn, ...]:
    """Return the pace of the objective at `place` in each window; none where no share of requests decides."""
    share = share_of(contract.objectives[place])
    if share is None:
        return ()
    unknown_is_bad = contract.unmeasured.unknown_clock == "bad"
    found = []
    for number, window in enumerate(WINDOWS):
        tally = _tally(sums[number] if sums else None, place)
        n = 0 if tally is None else tally.counted(unknown_is_bad=unknown_is_bad)
        spent = 0 if tally is None else tally.spent(unknown_is_bad=unknown_is_bad)
        rate = burn_rate(spent, n, share)
        found.append(
            Burn(
                window_seconds=int(window.total_seconds()),
                n=n,
                spent=spent,
                rate=None if rate is None else float(rate),
            )
        )
    return tuple(found)


def burn_downs(view: View, versions: Versions, window: Interval) -> tuple[BurnDown, ...]:
    """Return the way of each budget of requests through `window`, of the version that is in force at its end."""
    inside = [
        each
        for each in versions_of(versions)
        if each.in_force.start < window.end and each.in_force.end > window.start
    ]
    if not inside:
        return ()
    version = inside[-1]
    contract = version.contract
    start = max(window.start, version.in_force.start).replace(second=0, microsecond=0)
    end = min(window.end, version.in_force.end, view.as_of)
    if end <= start:
        return ()
    span = Interval(start=start, end=end)
    step = step_of(span, most=60)
    sums = bucket_sums(view.store, [key_of(contract)], span, step_us=step // _MICROSECOND, as_of=view.as_of)
    measured = view.measured(Anchor.BUDGETS, Basis.SLICES)
    return tuple(
        BurnDown(contract=contract.id, objective=objective.name, points=points, measured=measured)
        for place, objective in enumerate(contract.objectives)
        if _has_budget(objective)
        and (
            points := _points(
                contract, place, span, step, {bucket: each for (_, bucket), each in sums.items()}
            )
        )
    )


def _points(
    contract: Contract,
    place: int,
    span: Interval,
    step: timedelta,
    sums: dict[int, tuple[tuple[int, ...], ...]],
) -> tuple[BurnDownPoint, ...]:
    unknown_is_bad = contract.unmeasured.unknown_clock == "bad"
    points = []
    n = spent = bucket = 0
    at: datetime = span.start
    while at < span.end:
        tallies = tallies_of(sums[bucket]) if bucket in sums else ()
        if place < len(tallies):
            n += tallies[place].counted(unknown_is_bad=unknown_is_bad)
            spent += tallies[place].spent(unknown_is_bad=unknown_is_bad)
        bucket += 1
        at = min(span.start + bucket * step, span.end)
        points.append(BurnDownPoint(at=at, n=n, spent=spent))
    return tuple(points)


def remaining_ratio(share: Fraction, n: int, spent: int) -> float | None:
    """Return the part of a budget of requests that is left; None where nothing is allowed."""
    ratio = Budget(kind="requests", share=share, counted=n, spent=spent).remaining_ratio
    return None if ratio is None else float(ratio)


def _has_budget(objective: Objective) -> bool:
    return share_of(objective) is not None


def _tally(found: Slice | None, place: int) -> Tally | None:
    return found.tallies[place] if found is not None and place < len(found.tallies) else None
