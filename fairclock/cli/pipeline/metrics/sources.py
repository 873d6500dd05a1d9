"""Own which parts of the store are published, and how often each is read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from exporters.prometheus import Figure
from exporters.prometheus.bounds import Admitted, AdmittedPairs
from fairclock.cli.pipeline.metrics.layout import layout_of
from fairclock.cli.pipeline.metrics.machines import GpuEvents, engine_figures, gpu_gauges
from fairclock.cli.pipeline.metrics.publisher import Source
from fairclock.cli.pipeline.metrics.requests import RequestCounters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from exporters.prometheus import Published
    from exporters.prometheus.configuration import MetricsSection
    from exporters.prometheus.snapshot import Snapshots
    from fairclock.cli.configuration import Configuration
    from fairclock.cli.pipeline.looked import Looked
    from fairclock.cli.pipeline.metrics.position import Position
    from fairclock.store import Store
    from fairclock.store.request_sums import Measured

_INSTANTS_KEPT = 4
_CONTRACTS_KEPT_SECONDS = 600.0
_MONEY_EVERY_SECONDS = 60.0
_MONEY_KEPT_SECONDS = 3600.0


def sources_of(
    settings: Configuration, looked: Looked, snapshots: Snapshots, position: Position
) -> list[Source]:
    """Return the sources; those of contracts and money only where there may be some."""
    section = settings.metrics
    tenants = Admitted(section.max_tenants)
    counted = Counted(section=section, looked=looked, tenants=tenants, snapshots=snapshots, position=position)
    stale_after = timedelta(seconds=section.stale_after)
    snapshots.told = counted.told
    sources = [
        Source(name="requests", read=counted.read),
        Source(
            name="engines",
            read=lambda store, as_of: engine_figures(store, as_of, stale_after=stale_after),
            keep_seconds=section.stale_after,
        ),
        Source(
            name="gpus",
            read=lambda store, as_of: gpu_gauges(store, as_of, stale_after=stale_after),
            keep_seconds=section.stale_after,
        ),
        Source(name="gpu events", read=counted.read_gpu_events),
    ]
    if settings.sla.contracts:
        from fairclock.cli.pipeline.metrics.agreements import Agreements  # noqa: PLC0415 - only where there are some

        agreements = Agreements(settings.billing.cost_book())
        sources.append(
            Source(
                name="contracts",
                read=lambda store, as_of: agreements.figures(store, as_of, list(looked.contracts())),
                keep_seconds=_CONTRACTS_KEPT_SECONDS,
            )
        )
    if settings.billing.prices is not None:
        from fairclock.cli.pipeline.metrics.money import Money  # noqa: PLC0415 - only where there are prices

        money = Money(settings.billing.cost_book(), tenants)
        sources.append(
            Source(
                name="money",
                read=lambda store, as_of: money.figures(store, as_of, looked.prices()),
                every_seconds=_MONEY_EVERY_SECONDS,
                keep_seconds=_MONEY_KEPT_SECONDS,
                close=money.close,
            )
        )
    return sources


@dataclass(slots=True, kw_only=True)
class Counted:
    """The counters, from where an earlier process told them last; begun anew where their edges change."""

    section: MetricsSection
    looked: Looked
    tenants: Admitted
    snapshots: Snapshots
    position: Position
    _models: Admitted = field(init=False)
    _pairs: AdmittedPairs = field(init=False)
    _layout: tuple[Measured, ...] = ()
    _requests: RequestCounters | None = None
    _is_begun: bool = False
    _held_at: datetime | None = None
    _complete: datetime | None = None
    # as of when the latest counts were worked out, the oldest first
    _worked_out: deque[datetime] = field(default_factory=lambda: deque(maxlen=_INSTANTS_KEPT))
    _gpu_events: GpuEvents | None = None

    def __post_init__(self) -> None:
        """Make room for as many series as are allowed."""
        self._models = Admitted(self.section.max_models)
        self._pairs = AdmittedPairs(tenants=self.tenants, models=self._models, most=self.section.max_series)

    def read(self, store: Store, as_of: datetime) -> Sequence[Published]:
        """Return the counters over requests."""
        contracts = self.looked.contracts()
        layout = layout_of(self.section, contracts)
        if self._requests is None or layout != self._layout:
            self.tenants.admit(
                tenant for versions in contracts for each in versions for tenant in each.customer.tenants
            )
            # what was told of the counters before stays told: these go on from there
            since = self.position.read(as_of) if self._complete is None else self._complete
            self._requests = RequestCounters(clocks=layout, pairs=self._pairs, since=since)
            self._layout, self._is_begun, self._held_at = layout, False, None
            self._worked_out.clear()
        self._requests.read(store, as_of)
        scraped = self.snapshots.scraped
        if self._held_at is None:
            self._held_at = as_of
        elif scraped is not None and scraped >= self._held_at:
            self._is_begun = True
        figures = [*self._requests.figures(told=scraped), *self._bounds()]
        if self._is_begun:
            self._worked_out.append(as_of)
        return figures

    def told(self, at: datetime) -> None:
        """Keep that the figures as of `at` are heard, as far as these could be worked out.

        While all are told as 0, for the first time, that says nothing; and the next ones may be worked out by now.
        """
        found = [each for each in tuple(self._worked_out) if each <= at]
        if found:
            self._complete = found[-1]
            self.position.write(found[-1])

    def read_gpu_events(self, store: Store, as_of: datetime) -> Iterable[Published]:
        """Return the counters over GPU events."""
        if self._gpu_events is None:
            self._gpu_events = GpuEvents(self.position.read(as_of))
        self._gpu_events.read(store, as_of)
        return list(self._gpu_events.figures(told=self.snapshots.scraped))

    def _bounds(self) -> Iterator[Published]:
        for name, found in (("tenant", self.tenants), ("model", self._models)):
            yield Figure(
                name="fairclock_labels_refused",
                about="Values of a label without series of their own, as far as they were counted: their figures are under __other__.",
                value=found.refused, labels={"label": name},
            )  # fmt: skip
