"""Own what `fairclock up` tells Prometheus of contracts: requests by objective, and time that was read through.

The figures are counters that never fall while the program runs: Prometheus would take a fall for a restart and
count everything again. So a request that is judged otherwise later (its engine's row came late) is added where
it now belongs, and taken away nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exporters.prometheus import Figure
from fairclock.model import Interval
from sla.slices import latest_month, sums_as_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from fairclock.store import Store
    from sla.slices import InForce, Slice

_REQUESTS = "fairclock_sli_requests"
_COVERED = "fairclock_sli_covered_seconds"
ABOUT = {
    _REQUESTS: "Requests that a contract's objective counted, by what they were.",
    _COVERED: "Time that was read through while a contract was in force, by side.",
}
_MICROSECONDS = 1_000_000
_Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class SliceCounters:
    """Counters over the slices of each contract's current month; a month's end is what the next goes on from."""

    _month: dict[str, str] = field(default_factory=dict)
    _before: dict[tuple[str, _Labels], float] = field(default_factory=dict)
    _now: dict[tuple[str, _Labels], float] = field(default_factory=dict)

    def read(self, store: Store, versions: Iterable[InForce], as_of: datetime) -> None:
        """Bring the counters up to the slices as they were known at `as_of`."""
        for version in versions:
            interval = version.interval
            if interval is None or as_of >= interval.end:
                continue
            month = latest_month(version.contract, as_of, interval)
            if month is None:
                continue
            window = Interval(
                start=max(version.contract.month(month).start, interval.start), end=min(as_of, interval.end)
            )
            sums = sums_as_of(store, [version.key], [window], as_of).get(version.key)
            if sums is not None:
                self._take(version, f"{version.key.version} {month}", sums[0])

    def figures(self) -> Iterator[Figure]:
        """Yield every counter; asked from another thread than the one that reads."""
        for (name, labels), value in list(self._now.items()):
            yield Figure(name=name, about=ABOUT[name], value=value, labels=dict(labels), kind="counter")

    def _take(self, version: InForce, month: str, found: Slice) -> None:
        contract = version.contract.id
        if self._month.get(contract) != month:
            self._month[contract] = month
            self._before |= {
                key: value for key, value in self._now.items() if ("contract", contract) in key[1]
            }
        for objective, tally in zip(version.contract.objectives, found.tallies, strict=False):
            for counted in ("good", "bad", "excluded", "unknown"):
                labels = (("contract", contract), ("objective", objective.name), ("counted", counted))
                self._raise(_REQUESTS, labels, getattr(tally, counted))
        for side, covered_us in (("gateway", found.gateway_us), ("engine", found.engine_us)):
            self._raise(_COVERED, (("contract", contract), ("side", side)), covered_us / _MICROSECONDS)

    def _raise(self, name: str, labels: _Labels, value: float) -> None:
        key = (name, labels)
        self._now[key] = max(self._now.get(key, 0.0), self._before.get(key, 0.0) + value)
