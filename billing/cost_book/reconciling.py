"""Own how both sides of the reconciliation are read: engines' counters, and the rows of sequences."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from billing.cost_book.reading import machines_known, sweep_of
from billing.cost_book.reconciliation import COUNTERS, Quantity, Reconciled, counted
from fairclock.model import Interval, from_us
from fairclock.store.engine_series import points_of, values_query
from fairclock.store.engine_sums import copied_tokens, owned_tokens, reported_tokens
from fairclock.store.engine_timelines import days, earliest_us, hour_edges, timeline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from billing.cost_book.settings import CostBookSettings
    from fairclock.model.counter_streams import Point
    from fairclock.model.counters import Increase
    from fairclock.store import Store

_READINGS_AROUND = timedelta(minutes=10)
_REQUESTS_AROUND = timedelta(minutes=30)
_QUANTITIES = tuple(Quantity)


def reconcile(
    store: Store, window: Interval, as_of: datetime, settings: CostBookSettings
) -> list[Reconciled]:
    """Return every quantity of every engine in every whole hour that `window` touches, as known at `as_of`, day after day.

    Engines that are configured, that told of their start, or that reported sequences. An engine's counters are those of the
    scraped address that the configuration names, else that is called as the engine is.
    """
    return [each for day in days(window) for each in _reconcile_day(store, day, as_of, settings)]


def _reconcile_day(
    store: Store, window: Interval, as_of: datetime, settings: CostBookSettings
) -> list[Reconciled]:
    edges = hour_edges(window)
    whole = Interval(start=from_us(edges[0]), end=from_us(edges[-1]))
    machines = machines_known(store, whole, as_of, settings)
    targets = {each.engine: each.target or each.engine for each in machines}
    reported = {
        (str(row[0]), int(row[1])): row[2:] for row in store.rows(reported_tokens(store, whole, as_of))
    }
    with timeline(store, whole, as_of, sweep_of(machines, settings, whole)) as ran:
        owned = {
            (str(row[0]), int(row[1]), bool(row[2])): row[3:] for row in store.rows(owned_tokens(ran, whole))
        }
        first = from_us(earliest_us(store, whole, as_of)) - _REQUESTS_AROUND
        joined = store.requests_as_of(Interval(start=first, end=whole.end + _REQUESTS_AROUND), as_of)
        copied = {
            (str(row[0]), int(row[1])): row[2:] for row in store.rows(copied_tokens(ran, joined, whole))
        }
    engines = sorted({*targets, *(engine for engine, _ in reported)})
    increases = _increases(store, whole, as_of, edges)
    nothing = (0, 0, 0, 0)
    return [
        _line(
            engine,
            at_us,
            quantity,
            said=int(reported.get((engine, at_us), nothing)[place]),
            requests=int(owned.get((engine, at_us, False), nothing)[place]),
            left=int(owned.get((engine, at_us, True), nothing)[place]),
            copied=int((*copied.get((engine, at_us), (0, 0, 0)), 0)[place]),
            increase=increases.get((targets.get(engine, engine), quantity), {}).get(at_us),
        )
        for engine in engines
        for at_us in edges[:-1]
        for place, quantity in enumerate(_QUANTITIES)
    ]


def _line(
    engine: str,
    at_us: int,
    quantity: Quantity,
    *,
    said: int,
    requests: int,
    left: int,
    copied: int,
    increase: Increase | None,
) -> Reconciled:
    read = increase is not None and increase.counted is not None
    return Reconciled(
        engine=engine,
        hour=from_us(at_us),
        quantity=quantity,
        counted=round(increase.counted) if read else None,  # type: ignore[union-attr, arg-type]
        at_least=round(increase.at_least) if increase is not None else 0,
        at_most=None if increase is None or increase.at_most is None else round(increase.at_most),
        requests=requests,
        nobodys=said - requests,
        left=left,
        copied=copied,
    )


def _increases(
    store: Store, window: Interval, as_of: datetime, edges_us: Sequence[int]
) -> Mapping[tuple[str, Quantity], Mapping[int, Increase]]:
    """Return the increase of each target's counters in each hour, all ranks, models and labels together."""
    around = Interval(start=window.start - _READINGS_AROUND, end=window.end + _READINGS_AROUND)
    found: dict[tuple[str, Quantity], Mapping[int, Increase]] = {}
    for quantity, name in COUNTERS.items():
        by_target: defaultdict[str, list[list[Point]]] = defaultdict(list)
        for key, points in points_of(store.rows(values_query(name, around, as_of))).items():
            by_target[key.target].append(points)
        for target, series in by_target.items():
            total = counted(series, edges_us)
            if total is not None:
                found[(target, quantity)] = dict(zip(edges_us, total, strict=False))
    return found
