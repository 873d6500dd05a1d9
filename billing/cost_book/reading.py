"""Own how the cost book is read from the store: engines, their timelines, and what each tenant had of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from billing.cost_book.hours import PICOSECONDS_A_MICROSECOND, PICOSECONDS_A_SECOND, EngineTime, TenantTime
from billing.cost_book.machines import EngineStart, machines_of
from fairclock.errors import StoreError, UsageError
from fairclock.model import Interval, from_us, to_us
from fairclock.store.engine_shares import kv_totals, lane_totals
from fairclock.store.engine_sums import engine_starts, unknown_engines
from fairclock.store.engine_timelines import QUANTA, Lane, Sweep, days, earliest_us, hour_edges, timeline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from billing.cost_book.machines import EngineMachine
    from billing.cost_book.settings import CostBookSettings
    from fairclock.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEngine:
    """An engine that ran requests and of whose GPUs nobody says anything: its time is in no sum."""

    engine: str
    sequences: int
    running_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CostBook:
    """GPU time of all known engines, piece by piece, in order of engine and time; and the engines that are not known."""

    times: tuple[EngineTime, ...] = ()
    unknown: tuple[UnknownEngine, ...] = ()


def machines_known(
    store: Store, window: Interval, as_of: datetime, settings: CostBookSettings
) -> tuple[EngineMachine, ...]:
    """Return the machines that the configuration names, and those that engines told of when they started."""
    starts = [
        EngineStart(engine=engine, at_us=at_us, gpus=gpus, max_num_seqs=slots or None)
        for engine, at_us, gpus, slots in store.rows(engine_starts(window, as_of))
    ]
    return machines_of(settings.machines, starts)


def sweep_of(
    machines: Sequence[EngineMachine],
    settings: CostBookSettings,
    window: Interval,
    cuts: Sequence[datetime] = (),
) -> Sweep:
    """Return what is to be swept in the hours of `window`: cut at hours, at `cuts`, and where an engine changed its machine.

    Raises UsageError where shares go by slots and an engine's are not known.
    """
    changes = [
        from_us(edge)
        for each in machines
        for edge in (each.from_us, each.to_us)
        if 0 < edge < to_us(window.end)
    ]
    ceiling = settings.ceiling_seconds
    slotless = [each.engine for each in machines if each.max_num_seqs is None]
    if settings.division == "per_slot" and slotless:
        raise UsageError(
            "billing.gpu_time.division",
            "shares go by slots, and nobody says how many an engine has",
            found=slotless[0],
            remedy="write its max_num_seqs in billing.gpu_time.engines",
        )
    return Sweep(
        lanes=tuple(
            Lane(
                engine=each.engine,
                numerator=each.gpus.numerator,
                denominator=each.gpus.denominator,
                slots=each.max_num_seqs or 1,
                from_us=each.from_us,
                to_us=each.to_us,
            )
            for each in machines
        ),
        edges_us=hour_edges(window, [*cuts, *changes]),
        division=settings.division,
        ceiling_picoseconds=None if ceiling is None else int(ceiling * PICOSECONDS_A_SECOND),
        upstreams=tuple(sorted({(address, each.engine) for each in machines for address in each.upstreams})),
        owns_left=settings.owns_left,
    )


def swept_window(store: Store, window: Interval, as_of: datetime, settings: CostBookSettings) -> Interval:
    """Return the whole hours to be swept for those of `window`: with a ceiling, all that its requests ran in before, too."""
    edges = hour_edges(window)
    whole = Interval(start=from_us(edges[0]), end=from_us(edges[-1]))
    if settings.ceiling_seconds is None:
        return whole
    first = hour_edges(Interval(start=from_us(earliest_us(store, whole, as_of)), end=whole.end))[0]
    return replace(whole, start=from_us(first))


def read_cost_book(
    store: Store,
    window: Interval,
    as_of: datetime,
    settings: CostBookSettings,
    *,
    cuts: Sequence[datetime] = (),
) -> CostBook:
    """Return the cost book of the whole hours that `window` touches, as known at `as_of`, cut at `cuts` (price changes) too.

    Raises StoreError should the time of an engine not add up.
    """
    books = [_read_day(store, day, as_of, settings, cuts) for day in days(window)]
    unknown: dict[str, UnknownEngine] = {}
    for each in (each for book in books for each in book.unknown):
        before = unknown.get(each.engine, UnknownEngine(engine=each.engine, sequences=0, running_us=0))
        unknown[each.engine] = UnknownEngine(
            engine=each.engine,
            sequences=before.sequences + each.sequences,
            running_us=before.running_us + each.running_us,
        )
    return CostBook(
        times=tuple(
            sorted(
                (each for book in books for each in book.times),
                key=lambda each: (each.machine.engine, each.start),
            )
        ),
        unknown=tuple(unknown[engine] for engine in sorted(unknown)),
    )


def _read_day(
    store: Store, window: Interval, as_of: datetime, settings: CostBookSettings, cuts: Sequence[datetime]
) -> CostBook:
    swept = swept_window(store, window, as_of, settings)
    machines = machines_known(store, swept, as_of, settings)
    sweep = sweep_of(machines, settings, swept, cuts)
    with timeline(store, swept, as_of, sweep) as ran:
        unknown = tuple(
            UnknownEngine(engine=engine, sequences=int(sequences), running_us=int(running))
            for engine, sequences, running in store.rows(
                unknown_engines(ran, window, sorted({each.engine for each in machines}))
            )
        )
        if not machines:
            return CostBook(unknown=unknown)
        found = _collected(store.rows(lane_totals(ran, sweep)), store.rows(kv_totals(ran, sweep)), settings)
    first_us = hour_edges(window)[0]
    times = tuple(
        _time(machine, piece, found[(number, at_us)])
        for number, machine in enumerate(machines, start=1)
        for at_us, piece in _pieces(machine, sweep.edges_us)
        if at_us >= first_us
    )
    for each in times:
        if not each.is_whole:
            raise StoreError(
                f"{each.machine.engine} at {each.start.isoformat()}",
                "its GPU time does not add up to GPUs x wall time",
                remedy="this is a fault of Fairclock's: report it, and bill nothing of it",
            )
    return CostBook(times=times, unknown=unknown)


@dataclass(slots=True)
class _Found:
    """What the sweep says of one lane in one piece of time."""

    tenants: dict[str, TenantTime] = field(default_factory=dict)
    probes: dict[str, TenantTime] = field(default_factory=dict)
    nobody: int = 0
    over: int = 0
    busy_us: int = 0
    free: int = 0
    rest: int = 0


def _collected(
    totals: Sequence[tuple[object, ...]], memory: Sequence[tuple[object, ...]], settings: CostBookSettings
) -> defaultdict[tuple[int, int], _Found]:
    """Return what the sweep found, by lane and piece."""
    kv = {tuple(row[:4]): (int(str(row[4])), int(str(row[5]))) for row in memory}
    found: defaultdict[tuple[int, int], _Found] = defaultdict(_Found)
    for lane, piece_us, owned, tenant, *sums in totals:
        picoseconds, over, busy_us, free, rest = (int(str(each)) for each in sums)
        entry = found[(int(str(lane)), int(str(piece_us)))]
        entry.over += over
        entry.busy_us += busy_us
        entry.free += free
        entry.rest += rest
        if not owned:
            entry.nobody += picoseconds
            continue
        peak, token_us = kv.get((lane, piece_us, owned, tenant), (0, 0))
        whose = entry.probes if tenant in settings.probe_tenants else entry.tenants
        whose[str(tenant)] = TenantTime(
            gpu_picoseconds=picoseconds, peak_kv_tokens=peak, kv_token_us=token_us
        )
    return found


def _pieces(machine: EngineMachine, edges_us: Sequence[int]) -> list[tuple[int, Interval]]:
    """Return the pieces of time in which the engine had that machine; its changes are among the edges."""
    return [
        (start, Interval(start=from_us(start), end=from_us(end)))
        for start, end in pairwise(edges_us)
        if machine.from_us <= start and end <= machine.to_us
    ]


def _time(machine: EngineMachine, piece: Interval, found: _Found) -> EngineTime:
    """Return the line of one engine in one piece of time; nobody's slots are idle, what is less than a picosecond is rounding."""
    free, less = divmod(found.free, QUANTA)
    idle_exact = machine.gpus * (piece.length_us - found.busy_us) * PICOSECONDS_A_MICROSECOND
    idle = idle_exact.numerator // idle_exact.denominator
    return EngineTime(
        machine=machine,
        start=piece.start,
        end=piece.end,
        length_us=piece.length_us,
        busy_us=found.busy_us,
        tenants=found.tenants,
        probes=found.probes,
        idle_picoseconds=idle + free,
        nobody_picoseconds=found.nobody,
        over_picoseconds=found.over,
        rounding_picoseconds=Fraction(less, QUANTA)
        + Fraction(found.rest, QUANTA * machine.gpus.denominator)
        + (idle_exact - idle),
    )
