"""Own how fast budgets are spent, and how they went down: from slices, in the words of the alerts that watch them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Anchor, Basis
from fairclock.console.readings.models.figures import Burn, BurnDown, BurnDownPoint
from fairclock.console.readings.month_sums import added, tallies_of
from fairclock.console.readings.ranged import step_of
from fairclock.model import Interval
from fairclock.store.slice_buckets import bucket_sums
from fairclock.store.slices import SliceKey
from sla.contracts.versions import versions_of
from sla.prometheus_rules import share_of
from sla.tallies import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from fractions import Fraction

    from fairclock.console.readings.view import Versions, View
    from fairclock.store.slice_buckets import Sums
    from sla.contracts import Contract
    from sla.contracts.objectives import Objective

    Recent = tuple[Tally, ...]

WINDOWS = (timedelta(hours=1), timedelta(hours=6))
"""The stretches of which the pace is shown."""
_MINUTE = timedelta(minutes=1)
_MICROSECOND = timedelta(microseconds=1)
_NOTHING = Tally()


def key_of(contract: Contract) -> SliceKey:
    """Return whose slices a version's are."""
    return SliceKey(contract.id, contract.version_sha256)


def recent_sums(view: View, keys: Sequence[SliceKey]) -> dict[SliceKey, tuple[Recent, ...]]:
    """Return what each objective counted in each of `WINDOWS` up to the minute of the view, by version; one pass."""
    end = view.as_of.replace(second=0, microsecond=0)
    end = end if end == view.as_of else end + _MINUTE
    step = WINDOWS[0]
    buckets = WINDOWS[-1] // step
    found = bucket_sums(
        view.store,
        keys,
        Interval(start=end - WINDOWS[-1], end=end),
        step_us=step // _MICROSECOND,
        as_of=view.as_of,
    )
    by_key: dict[SliceKey, dict[int, Sums]] = {}
    for (key, bucket), sums in found.items():
        by_key.setdefault(key, {})[bucket] = sums
    return {
        key: tuple(
            tallies_of(added(inside)) if inside else ()
            for window in WINDOWS
            for inside in ([each[at] for at in range(buckets - window // step, buckets) if at in each],)
        )
        for key, each in by_key.items()
    }


def shares_of(view: View, key: SliceKey, contract: Contract) -> tuple[Fraction | None, ...]:
    """Return the share that may be bad of each objective of the version with that key; None where no share decides."""
    known = view.memory.shares.get(key)
    if known is None:
        known = view.memory.shares[key] = tuple(share_of(each) for each in contract.objectives)
    return known


def burns_of(
    contract: Contract,
    share: Fraction | None,
    place: int,
    sums: Sequence[Recent] | None,
    windows: Sequence[timedelta] = WINDOWS,
) -> tuple[Burn, ...]:
    """Return the pace of the objective at `place`, of which `share` may be bad, in each of `windows`; none without a share."""
    if share is None:
        return ()
    unknown_is_bad = contract.unmeasured.unknown_clock == "bad"
    found = []
    for number, window in enumerate(windows):
        tallies = sums[number] if sums else ()
        tally = tallies[place] if place < len(tallies) else _NOTHING
        n, spent = tally.counted(unknown_is_bad=unknown_is_bad), tally.spent(unknown_is_bad=unknown_is_bad)
        found.append(
            Burn(
                window_seconds=int(window.total_seconds()),
                n=n,
                spent=spent,
                rate=_rate(spent, n, share),
            )
        )
    return tuple(found)


def _rate(spent: int, n: int, share: Fraction) -> float | None:
    """Return `sla.budgets.burn_rate` as a float: of whole numbers, which are divided as exactly and much faster."""
    return spent * share.denominator / (n * share.numerator) if n else None


def allowed_of(n: int, share: Fraction) -> int:
    """Return how many of `n` may be bad, as the verdict has it: the share, cut down to whole requests."""
    return n * share.numerator // share.denominator


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


def remaining_ratio(allowed: int, spent: int) -> float | None:
    """Return the part of a budget of requests that is left, as `Budget` has it; None where nothing is allowed."""
    return (allowed - spent) / allowed if allowed else None


def _has_budget(objective: Objective) -> bool:
    return share_of(objective) is not None
