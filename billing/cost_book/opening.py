"""Own what of an engine's timeline a tenant is shown, and how its memory is held against what the GPUs report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from billing.cost_book.checking import Occupation
from billing.cost_book.reading import machines_known, sweep_of
from fairclock.model import Interval, from_us
from fairclock.store.engine_shares import kv_peaks, occupations
from fairclock.store.engine_sums import memory_used
from fairclock.store.engine_timelines import hour_edges, timeline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from billing.cost_book.machines import EngineMachine
    from billing.cost_book.settings import CostBookSettings
    from fairclock.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineTimeline:
    """All that ran on one engine while it had one machine; see `checking.checked_shares`."""

    machine: EngineMachine
    occupations: tuple[Occupation, ...]


def timeline_for(
    store: Store,
    window: Interval,
    as_of: datetime,
    settings: CostBookSettings,
    *,
    engine: str,
    tenant: str,
    cuts: Sequence[datetime] = (),
) -> list[MachineTimeline]:
    """Return the timeline of `engine` in the whole hours of `window`, in which only the requests of `tenant` have names.

    With a ceiling a request's share is at most that; shares of its hours before the window are in no timeline of the window.
    """
    edges = hour_edges(window)
    whole = Interval(start=from_us(edges[0]), end=from_us(edges[-1]))
    machines = machines_known(store, whole, as_of, settings)
    sweep = sweep_of(machines, settings, whole, cuts)
    found: dict[int, list[Occupation]] = {
        number: [] for number, each in enumerate(machines, start=1) if each.engine == engine
    }
    with timeline(store, whole, as_of, sweep) as ran:
        for lane, piece_us, begun_us, ended_us, weight, request in store.rows(
            occupations(ran, sweep, engine, tenant)
        ):
            found[int(lane)].append(
                Occupation(
                    piece_us=int(piece_us),
                    begun_us=int(begun_us),
                    ended_us=int(ended_us),
                    weight=int(weight),
                    request=request,
                )
            )
    return [
        MachineTimeline(machine=machines[number - 1], occupations=tuple(each))
        for number, each in found.items()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCheck:
    """An engine's KV memory in one hour, held against what its GPUs had in use.

    kv_bytes: at most, of all requests at one time, each with all its tokens. used_bytes: the most that each GPU had in use,
    added up. Both None where they are not known; of used_bytes also where a GPU was not seen.
    """

    engine: str
    hour: datetime
    kv_bytes: int | None
    used_bytes: int | None

    @property
    def is_possible(self) -> bool | None:
        """Return whether the GPUs had at least the memory in use that the requests are said to have had; None if unknown."""
        if self.kv_bytes is None or self.used_bytes is None:
            return None
        return self.kv_bytes <= self.used_bytes


def check_memory(
    store: Store, window: Interval, as_of: datetime, settings: CostBookSettings
) -> list[MemoryCheck]:
    """Return the check of each engine whose GPUs are named in the configuration, in each whole hour of `window`."""
    edges = hour_edges(window)
    whole = Interval(start=from_us(edges[0]), end=from_us(edges[-1]))
    machines = machines_known(store, whole, as_of, settings)
    sweep = sweep_of(machines, settings, whole)
    with timeline(store, whole, as_of, sweep) as ran:
        peaks = {(int(lane), int(piece)): int(peak) for lane, piece, peak in store.rows(kv_peaks(ran, sweep))}
    return [
        MemoryCheck(
            engine=machine.engine,
            hour=from_us(at_us),
            kv_bytes=_kv_bytes(machine, peaks, lane, at_us, sweep.edges_us),
            used_bytes=used.get(at_us),
        )
        for lane, machine in enumerate(machines, start=1)
        if machine.gpu_ids
        for used in [_used(store, machine, whole, as_of)]
        for at_us in edges[:-1]
    ]


def _kv_bytes(
    machine: EngineMachine,
    peaks: Mapping[tuple[int, int], int],
    lane: int,
    hour_us: int,
    edges_us: Sequence[int],
) -> int | None:
    if machine.kv_bytes_a_token is None:
        return None
    later = hour_edges(Interval(start=from_us(hour_us), end=from_us(hour_us + 1)))[-1]
    inside = (peaks.get((lane, edge), 0) for edge in edges_us if hour_us <= edge < later)
    return max(inside, default=0) * machine.kv_bytes_a_token


def _used(store: Store, machine: EngineMachine, window: Interval, as_of: datetime) -> dict[int, int]:
    """Return the bytes in use by hour, of hours in which every GPU of the machine was seen."""
    seen = store.rows(memory_used(machine.gpu_ids, window, as_of))
    return {int(hour): int(most) for hour, count, most in seen if int(count) == len(set(machine.gpu_ids))}
