"""Own how the evaluator of ``up`` is put together: which steps a pass has, in which order.

Contracts, seals, slices; then whatever reads slices. A step behind `SlicesStep` asks it what the pass counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairclock import __version__
from fairclock.cli.evaluating import count_slices, versions_of_all
from fairclock.cli.pipeline.passes import Passes
from fairclock.cli.pipeline.revising import RevisionsStep
from fairclock.cli.pipeline.sealing import SealStep
from fairclock.cli.slice_figures import SliceCounters
from sla.engines.noticing import EnginesStep
from sla.incidents.noticing import IncidentStep
from sla.issuing.noticing import DaySealsStep
from sla.slices.remembered import RememberedStarts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from exporters.prometheus import Figure
    from fairclock.cli.pipeline.contracts import FollowedContracts
    from fairclock.cli.pipeline.passes import Step
    from fairclock.cli.pipeline.rating import RatingStep
    from fairclock.store import Store
    from sla.slices import InForce


def evaluator(
    store: Callable[[], Store],
    contracts: FollowedContracts,
    alerts: Callable[[Callable[[], Sequence[InForce] | None]], Step],
    *,
    seal_deliveries: Step | None = None,
    rating: RatingStep | None = None,
    reconciling: Step | None = None,
) -> Passes:
    """Return the steps of a pass; `store` returns the open store or raises `StoreError`.

    alerts: returns the step that alerts, given what returns the versions that were counted. seal_deliveries: the step
    that sends the seals of days, where somebody is to have them. rating: the step that rates, last of all, where there is
    a price book. reconciling: the step that holds probes against what was said of them.
    """
    passes = Passes()
    passes.add("contracts", contracts)
    if rating is not None:
        passes.add("prices", rating.prices)
    passes.add("seals", SealStep(store))
    slices = SlicesStep(store, contracts)
    passes.add("slices", slices)

    def versions() -> Sequence[InForce] | None:
        return slices.counted.versions if slices.counted else None

    passes.add("incidents", IncidentStep(store, versions))
    if reconciling is not None:
        passes.add("reconciliation", reconciling)
    passes.add("alerts", alerts(versions))
    passes.add("engines", EnginesStep(store))
    passes.add("revisions", RevisionsStep(store, slices))
    passes.add("day-seals", DaySealsStep(store, versions, __version__))
    if seal_deliveries is not None:
        passes.add("seal-deliveries", seal_deliveries)
    if rating is not None:
        passes.add("rating", rating)
    return passes


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Up to where the slices hold, and the versions of contracts that they are of."""

    as_of: datetime
    versions: tuple[InForce, ...]


@dataclass(slots=True)
class SlicesStep:
    """Bring the slices up to the present; `counted` is what the last pass that came through did."""

    _store: Callable[[], Store]
    _contracts: FollowedContracts
    counted: Counted | None = None
    _counters: SliceCounters = field(default_factory=SliceCounters)
    _starts: RememberedStarts = field(default_factory=RememberedStarts)

    def step(self, now: datetime) -> None:
        """Count what changed since the last pass."""
        del now
        store = self._store()
        as_of = store.watermark()
        versions = versions_of_all(store, self._contracts.current, as_of, starts=self._starts)
        written = count_slices(store, versions, as_of=as_of).written
        self.counted = Counted(as_of=as_of, versions=tuple(versions))
        if written:
            self._counters.read(store, versions, store.watermark())

    def figures(self) -> Iterator[Figure]:
        """Return the counters over the slices."""
        return iter(list(self._counters.figures()))
