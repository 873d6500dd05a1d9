"""Own what is known when a pass is made: coverage, and the windows of every contract, added up from its slices."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from fairclock.model import EPOCH, Interval, clip, from_us, to_us, total_us
from fairclock.store import Query
from fairclock.store.slices import MINUTE_US, SliceKey
from sla.alerts import Measured, Window
from sla.evaluation.promises import needs_engine
from sla.slices import latest_month, sums_as_of
from sla.slices.reading import Slice
from sla.tallies import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from fairclock.store import Store
    from sla.evaluation.promises import Evaluated
    from sla.slices import InForce

LAG = timedelta(seconds=60)
"""How old the newest data may be before its age counts as a gap: lines are written, tailed and stored meanwhile."""

_LONG_US = 6 * 3_600_000_000
_REFRESHED = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """Up to where, and from when on, gateways and engines were read through; None: never."""

    gateway_from: datetime | None = None
    gateway_to: datetime | None = None
    engine_from: datetime | None = None
    engine_to: datetime | None = None


def newest_as_of(store: Store, as_of: datetime) -> Newest:
    """Return the ends of what was read through by `as_of`."""
    found = store.rows(
        Query(
            sql="SELECT kind, min(covered_from), max(covered_to) FROM covered WHERE kind IN ('gateway', 'engine')"
            " AND toUnixTimestamp64Micro(stored_at) <= {as_of:Int64} GROUP BY kind",
            parameters={"as_of": to_us(as_of)},
        )
    )
    ends = {
        f"{kind}_{name}": at for kind, *both in found for name, at in zip(("from", "to"), both, strict=True)
    }
    return Newest(**ends)


@dataclass(slots=True, kw_only=True)
class Moment:
    """One pass: the store as of one instant, what is in force now, and how far the data reaches.

    quiet: whether the logs are known to be read to their ends, so that time since their last line is quiet time.
    """

    store: Store
    as_of: datetime
    now: datetime
    newest: Newest
    quiet: bool = False
    _covered: dict[Interval, list[Interval]] = field(default_factory=dict)
    _began_at: dict[SliceKey, datetime] = field(default_factory=dict)
    _windows: dict[tuple[SliceKey, int, bool], tuple[Interval, int]] = field(default_factory=dict)

    def covered(self, window: Interval) -> list[Interval]:
        """Return what of `window` gateways were read through; asked once for all contracts."""
        if window not in self._covered:
            self._covered[window] = self.store.covered("gateway", window, self.as_of)
        return self._covered[window]

    def until(self, *, engine: bool) -> datetime:
        """Return up to where windows reach: to the newest data, unless it is older than `LAG`."""
        newest = self._newest_to(engine=engine)
        return min(self.now, max(newest or EPOCH, self.now - LAG))

    def measured(
        self, version: InForce, objective: Evaluated | None, *, coverage_floor: Fraction
    ) -> Measured:
        """Return what an alert on one objective, or on all of a contract, is judged by."""
        newest = self._newest_to(engine=_looks_at_engines(objective))
        return Measured(
            now=self.now,
            began_at=EPOCH,  # windows are cut to where measurement began
            newest_at=newest,
            unknown_is_bad=version.contract.unmeasured.unknown_clock == "bad",
            coverage_floor=coverage_floor,
        )

    def began_at(self, version: InForce) -> datetime:
        """Return when the version came into force, or the first data arrived, whichever was later."""
        known = self._began_at.get(version.key)
        if known is None:
            interval = version.interval
            starts = [] if interval is None else [interval.start]
            if self.newest.gateway_from is not None:
                starts.append(self.newest.gateway_from)
            known = self._began_at[version.key] = max(starts, default=self.now)
        return known

    def window(self, version: InForce, place: int | None, length_us: int, found: Slice) -> Window:
        """Return the sums `found` over the last `length_us` as the window of the objective at `place`.

        It begins no earlier than measurement did, and ends where the newest data does.
        """
        engine = place is not None and _looks_at_engines(version.contract.objectives[place])
        interval, quiet_us = self._bounds(version, length_us, engine=engine)
        covered_us = min(found.gateway_us, found.engine_us) if engine else found.gateway_us
        tally = found.tallies[place] if place is not None and place < len(found.tallies) else Tally()
        return Window(
            interval=interval,
            tally=tally,
            covered_us=min(covered_us + quiet_us, interval.length_us),
            requests=found.requests,
            queue_us=found.queue_us,
            queue_of_us=found.queue_of_us,
        )

    def _bounds(self, version: InForce, length_us: int, *, engine: bool) -> tuple[Interval, int]:
        """Return a window's instants, and how much of it is quiet time; the same for many objectives."""
        key = (version.key, length_us, engine)
        if key not in self._windows:
            end = self.until(engine=engine)
            start = min(max(self._start(length_us), self.began_at(version)), end)
            interval = Interval(start=start, end=end)
            self._windows[key] = (interval, total_us(self.quiet_time(interval, engine=engine)))
        return self._windows[key]

    def quiet_time(self, interval: Interval, *, engine: bool = False) -> list[Interval]:
        """Return what of `interval` lies behind the last line of logs that are read to their ends.

        engine: of engines too, unless these have said nothing while there still were lines.
        """
        newest = self.newest.gateway_to
        if not self._is_quiet(engine=engine) or newest is None:
            return []
        return clip([Interval(start=min(newest, self.now), end=self.now)], interval)

    def minutes(self, length_us: int) -> Interval:
        """Return the whole minutes that a window of `length_us` is made of, the running one among them."""
        end = from_us(-(-to_us(self.now) // MINUTE_US) * MINUTE_US)
        return Interval(start=self._start(length_us), end=max(end, self._start(length_us)))

    def _start(self, length_us: int) -> datetime:
        # the minute in which the window begins belongs to it
        return from_us((to_us(self.until(engine=False)) - length_us) // MINUTE_US * MINUTE_US)

    def _newest_to(self, *, engine: bool) -> datetime | None:
        if self._is_quiet(engine=engine):
            return self.now
        both = [
            self.now if self.quiet else self.newest.gateway_to,
            *([self.newest.engine_to] if engine else []),
        ]
        known = [each for each in both if each is not None]
        return min(known) if len(known) == len(both) else None

    def _is_quiet(self, *, engine: bool) -> bool:
        """Return whether nothing came since the last line; a silent engine behind a busy log is not quiet."""
        if not self.quiet or not engine:
            return self.quiet
        gateway_to, engine_to = self.newest.gateway_to, self.newest.engine_to
        return gateway_to is None or (engine_to is not None and gateway_to - engine_to <= LAG)


@dataclass(slots=True)
class Sums:
    """The sums of many windows of many contracts; long windows are added up once a minute."""

    _long: dict[tuple[SliceKey, int], Slice] = field(default_factory=dict)
    _refreshed_at: datetime | None = None

    def read(
        self, moment: Moment, wanted: Mapping[SliceKey, Iterable[int]]
    ) -> dict[tuple[SliceKey, int], Slice]:
        """Return the sum over the last so many microseconds for each version that `wanted` names; absent is nothing."""
        lengths = {key: set(each) for key, each in wanted.items()}
        found = _sums(moment, {key: {us for us in each if us <= _LONG_US} for key, each in lengths.items()})
        long = {key: {us for us in each if us > _LONG_US} for key, each in lengths.items()}
        known = {(key, us) for key, each in long.items() for us in each}
        age = None if self._refreshed_at is None else moment.now - self._refreshed_at
        if age is None or not timedelta() <= age < _REFRESHED or known - set(self._long):
            self._long = {each: nothing(moment.minutes(each[1])) for each in known} | _sums(moment, long)
            self._refreshed_at = moment.now
        return found | self._long


def nothing(minutes: Interval) -> Slice:
    """Return the sum over minutes that have no slice."""
    return Slice(window=minutes, tallies=())


def month_sums(moment: Moment, version: InForce) -> Slice | None:
    """Return the sums over the month that runs, of this version's part of it; None where it has none."""
    period = period_of(version, moment.now)
    if period is None:
        return None
    window = Interval(start=period.start, end=max(period.start, min(period.end, moment.minutes(0).end)))
    found = sums_as_of(moment.store, [version.key], [window], moment.as_of).get(version.key)
    return found[0] if found else None


def period_of(version: InForce, now: datetime) -> Interval | None:
    """Return the month of the contract that runs, cut to its term; thresholds are scaled to it."""
    label = latest_month(version.contract, now, version.interval)
    return None if label is None else version.contract.month(label)


def _sums(moment: Moment, lengths_of: Mapping[SliceKey, set[int]]) -> dict[tuple[SliceKey, int], Slice]:
    """Ask once for all versions that look at the same windows."""
    groups: dict[tuple[int, ...], list[SliceKey]] = {}
    for key, lengths in lengths_of.items():
        if lengths:
            groups.setdefault(tuple(sorted(lengths)), []).append(key)
    found: dict[tuple[SliceKey, int], Slice] = {}
    for same, keys in groups.items():
        windows: Sequence[Interval] = [moment.minutes(length) for length in same]
        for key, sums in sums_as_of(moment.store, keys, windows, moment.as_of).items():
            found |= {(key, length): each for length, each in zip(same, sums, strict=True)}
    return found


def _looks_at_engines(objective: Any) -> bool:
    from sla.contracts.objectives import AvailabilityObjective, LatencyObjective, RateObjective  # noqa: PLC0415

    known = isinstance(objective, LatencyObjective | AvailabilityObjective | RateObjective)
    return known and needs_engine(objective)
