"""Own the figures of many probes, counted where they are kept: what `measured` says, without carrying a row out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import from_us
from fairclock.model.sightings import Source
from fairclock.store.probe_figures import (
    Probed,
    Service,
    clocks_query,
    differences_query,
    reconciled_query,
    sent_query,
    sources_query,
)
from sla.measurement.bounding import NESTED, PASSED_OVER, RESOLUTION_US, ClockBounds
from sla.measurement.differing import COMPARED, Difference
from sla.measurement.figures import Measurement
from sla.measurement.missing import SourceCount

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store.probes import Rows
    from sla.contracts import Contract


def measured_as_of(
    store: Rows, window: Interval, as_of: datetime, *, contracts: Sequence[Contract] | None = None
) -> Measurement:
    """Return what was known at `as_of` of the probes that were to be sent in `window`: all, or those of some contracts' service."""
    services = None if contracts is None else [_service(each) for each in contracts]
    probed = Probed(window=window, as_of=as_of, services=services)
    ((sent, answered, failed, *late),) = store.rows(sent_query(probed))
    reconciled = int(store.rows(reconciled_query(probed))[0][0]) if sent else 0
    p50, p99, greatest = map(int, late)
    return Measurement(
        sent=int(sent),
        answered=int(answered),
        failed=int(failed),
        reconciled=reconciled,
        lateness_us=(p50, p99, greatest) if sent else None,
        sources=tuple(_sources(store, probed)) if reconciled else (),
        differences=tuple(_differences(store, probed)) if reconciled else (),
        clocks=tuple(_clocks(store, probed)) if reconciled else (),
    )


def _service(contract: Contract) -> Service:
    return Service(
        tenants=contract.customer.tenants, models=contract.scope.models, regions=contract.scope.regions
    )


def _sources(store: Rows, probed: Probed) -> list[SourceCount]:
    rows = store.rows(sources_query(probed, [each.value for each in Source]))
    found = {source: rest for source, *rest in rows}
    return [_source_count(source, found[source.value]) for source in Source]


def _source_count(source: Source, row: Sequence[Any]) -> SourceCount:
    expected, saw, unseen, since_us = row
    return SourceCount(
        source=source,
        expected=int(expected),
        seen=int(saw),
        unseen_last=int(unseen),
        unseen_since=None if since_us is None else from_us(int(since_us)),
    )


def _differences(store: Rows, probed: Probed) -> list[Difference]:
    compared = [
        (each.clock, each.source.value, each.against.value, each.tolerance_us or 0) for each in COMPARED
    ]
    return [_difference(row) for row in store.rows(differences_query(probed, compared))]


def _difference(row: Sequence[Any]) -> Difference:
    number, count, least, median, greatest, p50, p95, p99, beyond = map(int, row)
    comparison = COMPARED[number - 1]
    return Difference(
        comparison=comparison,
        count=count,
        least_us=least,
        median_us=median,
        greatest_us=greatest,
        size_p50_us=p50,
        size_p95_us=p95,
        size_p99_us=p99,
        beyond=None if comparison.tolerance_us is None else beyond,
    )


def _clocks(store: Rows, probed: Probed) -> list[ClockBounds]:
    nested = [(inner.value, outer.value) for inner, outer in NESTED]
    return [
        _clock_bounds(row)
        for row in store.rows(
            clocks_query(probed, nested, resolution_us=RESOLUTION_US, passed_over=PASSED_OVER)
        )
    ]


def _clock_bounds(row: Sequence[Any]) -> ClockBounds:
    number, instance, against_instance, *numbers = row
    count, low, high, first_low, first_high, last_low, last_high = map(int, numbers)
    source, against = NESTED[int(number) - 1]
    return ClockBounds(
        source=source,
        instance=instance,
        against=against,
        against_instance=against_instance,
        count=count,
        low_us=low,
        high_us=high,
        first_us=(first_low, first_high),
        last_us=(last_low, last_high),
    )
