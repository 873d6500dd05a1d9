"""Own at which edges requests are counted: those of the configuration, and every threshold of a contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Clock
from fairclock.store.request_sums import CLOCKS, Measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exporters.prometheus.configuration import MetricsSection
    from sla.contracts import Contract

_US_PER_SECOND = 1_000_000


def layout_of(section: MetricsSection, contracts: Iterable[Sequence[Contract]]) -> tuple[Measured, ...]:
    """Return every clock, with its edges: the thresholds of all contracts for all tenants, while they are few enough.

    Only histograms of equal edges can be added up; where there are more thresholds than `section` allows, each tenant has
    those of its own contracts.
    """
    thresholds: dict[Clock, dict[int, set[str]]] = {}
    for versions in contracts:
        for contract in versions:
            for clock, threshold_us in thresholds_of(contract):
                at = thresholds.setdefault(clock, {})
                at.setdefault(threshold_us, set()).update(contract.customer.tenants)
    return tuple(_measured(section, clock, sql, thresholds.get(clock, {})) for clock, sql in CLOCKS.items())


def thresholds_of(contract: Contract) -> list[tuple[Clock, int]]:
    """Return the clock and the threshold (µs) of each latency objective."""
    return [
        (latency.clock, latency.at_most_us)
        for each in contract.objectives
        if (latency := getattr(each, "latency", None)) is not None
    ]


def _measured(
    section: MetricsSection, clock: Clock, sql: str, thresholds: Mapping[int, set[str]]
) -> Measured:
    configured = section.token_edges if clock is Clock.TIME_PER_OUTPUT_TOKEN else section.edges
    edges = {round(each * _US_PER_SECOND) for each in configured}
    if len(thresholds) <= section.max_thresholds:
        return Measured(clock=clock.value, expression=sql, edges=tuple(sorted(edges | set(thresholds))))
    own: dict[str, set[int]] = {}
    for threshold_us, tenants in thresholds.items():
        for tenant in tenants:
            own.setdefault(tenant, set()).add(threshold_us)
    return Measured(
        clock=clock.value,
        expression=sql,
        edges=tuple(sorted(edges)),
        tenant_edges={tenant: tuple(sorted(edges | found)) for tenant, found in sorted(own.items())},
    )
