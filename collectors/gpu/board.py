"""Own what is known of every device right now: sources write on it, the collector reads one second after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from collectors.gpu.changes import ChangeWatch
from collectors.gpu.devices import State
from collectors.gpu.energy import Energy, EnergyMeter
from collectors.gpu.folding import Fold
from collectors.gpu.lines import event_line, row_line
from collectors.gpu.readings import EVERYTHING, Reason

if TYPE_CHECKING:
    from collections.abc import Collection

    from collectors.gpu.devices import Gpu
    from collectors.gpu.events import GpuEvent
    from collectors.gpu.readings import Readings

_US_PER_SECOND = 1_000_000
_MOST_OPEN_SECONDS = 120
_MOST_EVENTS = 10_000
_REASONS = {State.LOST: Reason.LOST, State.HUNG: Reason.HUNG, State.UNREACHABLE: Reason.UNREACHABLE}


@dataclass(slots=True)
class _Entry:
    gpu: Gpu
    state: State = State.OK
    folds: dict[int, Fold] = field(default_factory=dict)
    energy: EnergyMeter = field(default_factory=EnergyMeter)
    changes: ChangeWatch = field(default_factory=ChangeWatch)


class Board:
    """The devices of one source: their states, the readings of seconds that are not over, events not yet told.

    collector: which kind of source writes on it, for example nvml.
    is_steady: whether every device has a row in every second, also one without a reading.
    """

    def __init__(self, *, collector: str, host: str, is_steady: bool) -> None:
        self.collector = collector
        self.host = host
        self._is_steady = is_steady
        self._guard = Lock()
        self._entries: dict[str, _Entry] = {}
        self._events: list[GpuEvent] = []
        self._sequence = 0
        self.samples = 0
        self.dropped_events = 0

    def see(self, gpu: Gpu) -> None:
        """Note that a device is there, and what is known of it."""
        with self._guard:
            entry = self._entries.get(gpu.uuid)
            if entry is None:
                self._entries[gpu.uuid] = _Entry(gpu=gpu)
            else:
                entry.gpu = gpu

    def forget(self, uuid: str) -> None:
        """Note that a device is no longer there; what was read of it stays to be told."""
        with self._guard:
            self._entries.pop(uuid, None)

    def set_state(self, uuid: str, state: State) -> None:
        """Note how a device and its MIG instances fare."""
        with self._guard:
            for entry in self._entries.values():
                if uuid in (entry.gpu.uuid, entry.gpu.parent):
                    entry.state = state

    def add(self, gpu: Gpu, at_us: int, readings: Readings) -> None:
        """Keep one look at a device."""
        second = at_us // _US_PER_SECOND
        with self._guard:
            entry = self._entries.setdefault(gpu.uuid, _Entry(gpu=gpu))
            entry.folds.setdefault(second, Fold()).add(readings)
            if len(entry.folds) > _MOST_OPEN_SECONDS:  # nobody reads them, or the clock was set back
                del entry.folds[min(entry.folds)]
            self.samples += 1

    def tell(self, event: GpuEvent) -> None:
        """Keep an event."""
        with self._guard:
            if len(self._events) >= _MOST_EVENTS:
                self.dropped_events += 1
                return
            self._events.append(event)

    def devices(self) -> list[tuple[Gpu, State]]:
        """Return every device with its state."""
        with self._guard:
            return [(entry.gpu, entry.state) for entry in self._entries.values()]

    def visible(self) -> int:
        """Return how many GPUs, MIG instances aside, are there and answer."""
        return sum(state is State.OK and not gpu.is_instance for gpu, state in self.devices())

    def close(self, seconds: Collection[int]) -> list[bytes]:
        """Return the lines of `seconds`, in order, and of all events so far; readings of earlier ones are dropped."""
        lines: list[bytes] = []
        with self._guard:
            for second in sorted(seconds):
                for entry in self._entries.values():
                    fold = entry.folds.pop(second, None)
                    if fold is not None or self._is_steady:
                        lines.append(self._row(entry, second, fold or Fold()))
            for entry in self._entries.values():
                for late in [each for each in entry.folds if each <= max(seconds, default=0)]:
                    del entry.folds[late]
            events, self._events = self._events, []
            for event in events:
                self._sequence += 1
                lines.append(
                    event_line(event, host=self.host, collector=self.collector, sequence=self._sequence)
                )
        return lines

    def open_seconds(self) -> list[int]:
        """Return the seconds of which readings wait."""
        with self._guard:
            return sorted({second for entry in self._entries.values() for second in entry.folds})

    def _row(self, entry: _Entry, second: int, fold: Fold) -> bytes:
        columns, missing = fold.columns(), fold.reasons()
        energy = entry.energy.read((second + 1) * _US_PER_SECOND, columns)
        if isinstance(energy, Energy):
            columns["energy_millijoules"] = energy.millijoules
            columns["energy_seconds"] = energy.seconds
            columns["energy_is_integrated"] = int(energy.is_integrated)
        elif energy is not Reason.NOT_AVAILABLE:
            missing["energy_millijoules"] = energy
        self._events.extend(entry.changes.read(entry.gpu, second, columns))
        if EVERYTHING not in missing:
            nothing = Reason.NOT_OFFERED if columns else Reason.NOT_AVAILABLE
            missing[EVERYTHING] = _REASONS.get(entry.state, nothing)
        return row_line(
            entry.gpu, second, collector=self.collector, state=entry.state, samples=fold.samples,
            columns=columns, missing=missing, processes=fold.processes,
        )  # fmt: skip
