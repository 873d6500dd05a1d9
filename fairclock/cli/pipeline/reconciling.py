"""Own when ``fairclock up`` holds probes against what every source said of them."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from exporters.prometheus import Figure
from fairclock.model import Interval
from inference_probe.reconciliation.reconciling import reconcile
from sla.measurement import measured

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from fairclock.model.sightings import Source
    from fairclock.store import Store
    from inference_probe.reconciliation.configuration import ReconcileSection
    from sla.measurement import Measurement

_LOG = logging.getLogger(__name__)
_FIRST = timedelta(days=1)


@dataclass(slots=True)
class ReconcileStep:
    """Reconcile the probes of late, every so often; the first time those of the last day."""

    _store: Callable[[], Store]
    _section: ReconcileSection
    _own: Collection[str] = ()
    _done_at: datetime | None = None
    _last: Measurement | None = None
    _repeated: Mapping[Source, int] = field(default_factory=dict)
    _taken_for: Mapping[str, int] = field(default_factory=dict)

    def step(self, now: datetime) -> None:
        """Reconcile where it is due; raises `StoreError`."""
        every = timedelta(seconds=self._section.every)
        if self._done_at is not None and timedelta() <= now - self._done_at < every:
            return
        back = timedelta(seconds=self._section.again_for) if self._done_at is not None else _FIRST
        window = Interval(start=now - back, end=now - timedelta(seconds=self._section.settle))
        store = self._store()
        found = reconcile(store, window, as_of=store.watermark(), now=now, own=self._own)
        self._last = measured(found.probes, found.found)
        self._done_at = now
        if found.taken_for != self._taken_for:
            for tenant, count in found.taken_for.items():
                _LOG.warning("%d probes are in the figures and on the bill of the tenant %s", count, tenant)
            self._taken_for = found.taken_for
        if found.repeated != self._repeated:
            for source, count in found.repeated.items():
                _LOG.warning(
                    "%s told of %d probes more than once: is a request logged by two gateways?", source, count
                )
            self._repeated = found.repeated
        if found.kept:
            _LOG.info("reconciled %d probes", found.kept)

    def figures(self) -> Iterator[Figure]:
        """Yield what the last pass found of the probes it looked at."""
        last = self._last
        if last is None or not last.reconciled:
            return
        for each in last.sources:
            for what, count in (("expected", each.expected), ("seen", each.seen)):
                yield Figure(
                    name="fairclock_probes_reconciled",
                    about="Probes of late that a source should have seen, and saw.",
                    value=count,
                    labels={"source": each.source.value, "are": what},
                )
        for difference in last.differences:
            compared = difference.comparison
            yield Figure(
                name="fairclock_measurement_difference_seconds",
                about="By how much two sources differ about a duration of probes of late, P99 of the sizes.",
                value=difference.size_p99_us / 1_000_000,
                labels={
                    "clock": compared.clock,
                    "source": compared.source.value,
                    "against": compared.against.value,
                },
            )
