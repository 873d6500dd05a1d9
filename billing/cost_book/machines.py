"""Own which machine an engine had when, and what the cost book is to be told of engines."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ALWAYS_FROM_US = 0
ALWAYS_TO_US = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineMachine:
    """An engine's GPUs in ``[from_us, to_us)``.

    machine: as the price book names it, "" where that is not known. gpus: a MIG slice is a fraction of one.
    max_num_seqs: sequences that run at most; None where nobody says. target: which of the scraped addresses is this engine.
    """

    engine: str
    machine: str
    gpus: Fraction
    max_num_seqs: int | None = None
    upstreams: tuple[str, ...] = ()
    target: str | None = None
    gpu_ids: tuple[str, ...] = ()
    kv_bytes_a_token: int | None = None
    from_us: int = ALWAYS_FROM_US
    to_us: int = ALWAYS_TO_US


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStart:
    """What an engine said of itself when it started; gpus is of all its ranks, 0 on a CPU."""

    engine: str
    at_us: int
    gpus: int
    max_num_seqs: int | None


def overlapping(machines: Iterable[EngineMachine]) -> tuple[EngineMachine, EngineMachine] | None:
    """Return two machines that one engine would have at one time, if there are such."""
    ordered = sorted(machines, key=lambda each: (each.engine, each.from_us, each.to_us))
    for earlier, later in pairwise(ordered):
        if earlier.engine == later.engine and later.from_us < earlier.to_us:
            return earlier, later
    return None


def machines_of(
    configured: Iterable[EngineMachine], started: Iterable[EngineStart]
) -> tuple[EngineMachine, ...]:
    """Return the machines in order of engine and time.

    What the configuration says of an engine is all that counts of it. Of another, each start tells until the next; how
    long it was there before its first start and whether it is there after its last is not known: from the first start on.
    """
    known = sorted(configured, key=lambda each: (each.engine, each.from_us))
    names = {each.engine for each in known}
    told = sorted(
        (each for each in started if each.engine not in names and each.gpus > 0),
        key=lambda each: (each.engine, each.at_us),
    )
    for index, start in enumerate(told):
        later = (each.at_us for each in told[index + 1 :] if each.engine == start.engine)
        machine = EngineMachine(
            engine=start.engine,
            machine="",
            gpus=Fraction(start.gpus),
            max_num_seqs=start.max_num_seqs,
            from_us=start.at_us,
            to_us=next(later, ALWAYS_TO_US),
        )
        if machine.from_us < machine.to_us:
            known.append(machine)
    return tuple(sorted(known, key=lambda each: (each.engine, each.from_us)))
