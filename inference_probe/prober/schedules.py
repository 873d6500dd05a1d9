"""Own when probes are meant to be sent: an open loop, decided before the first answer and never changed by one."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from fairclock.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MOST_PROBES = 5_000_000
_MOST_TOKENS = 1 << 20
_LONGEST_SECONDS = 366 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One probe to be sent `at_seconds` after the start; lengths are None where the run's own apply."""

    at_seconds: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def constant(*, rate: float, duration_seconds: float) -> list[Arrival]:
    """Return arrivals at equal distances; the k-th lies at k / rate, so that no rounding adds up."""
    check_plan(rate, duration_seconds)
    return list(_within(duration_seconds, (number / rate for number in count())))


def poisson(*, rate: float, duration_seconds: float, seed: int) -> list[Arrival]:
    """Return arrivals that know nothing of each other, the same for the same seed."""
    check_plan(rate, duration_seconds)
    return list(_within(duration_seconds, _independent(rate, seed)))


def replay(path: Path, *, speed: float = 1.0, duration_seconds: float | None = None) -> list[Arrival]:
    """Return the arrivals of a trace file: JSON lines with `at` (seconds) and, where known, `prompt_tokens`, `completion_tokens`.

    The first one is sent at once, the others as far behind it as they were, divided by `speed`.
    """
    if not 0 < speed < math.inf:
        raise UsageError(
            "--speed", "a trace cannot be replayed at this speed", found=f"{speed:g}", remedy="write 1"
        )
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            str(path),
            "the trace cannot be read",
            found=str(error),
            remedy="name a file of JSON lines (UTF-8) by --trace",
        ) from error
    found = [_read(line, f"{path}:{number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if not found:
        raise InputError(str(path), "the trace has no arrivals", remedy='write lines such as {"at": 0.25}')
    found.sort(key=lambda each: each.at_seconds)
    first = found[0].at_seconds
    moved = [
        Arrival(
            at_seconds=(each.at_seconds - first) / speed,
            prompt_tokens=each.prompt_tokens,
            completion_tokens=each.completion_tokens,
        )
        for each in found
    ]
    kept = [each for each in moved if duration_seconds is None or each.at_seconds < duration_seconds]
    if len(kept) > MOST_PROBES or kept[-1].at_seconds > _LONGEST_SECONDS:
        raise InputError(
            str(path),
            "the trace is too long to be replayed",
            found=f"{len(kept):,} arrivals in {kept[-1].at_seconds:g} s",
            remedy=f"write --duration, or a larger --speed; {MOST_PROBES:,} arrivals and a year are the most",
        )
    return kept


def check_plan(rate: float, duration_seconds: float) -> None:
    """Raise UsageError where a rate and a duration make no run, or one that is too large."""
    if not 0 < rate * duration_seconds <= MOST_PROBES:
        raise UsageError(
            "--rate",
            "rate and duration make no run",
            found=f"{rate:g}/s for {duration_seconds:g} s",
            remedy=f"ask for 1 to {MOST_PROBES:,} probes",
        )


def _within(duration_seconds: float, instants: Iterable[float]) -> Iterator[Arrival]:
    for at_seconds in instants:
        if at_seconds >= duration_seconds:
            return
        yield Arrival(at_seconds=at_seconds)


def _independent(rate: float, seed: int) -> Iterator[float]:
    chance = random.Random(seed)  # noqa: S311 - a plan, not a secret
    at_seconds = 0.0
    while True:
        at_seconds += chance.expovariate(rate)
        yield at_seconds


def _read(line: str, where: str) -> Arrival:
    try:
        said = json.loads(line)
        at_seconds = float(said["at"])
        lengths = {
            name: None if said.get(name) is None else int(said[name])
            for name in ("prompt_tokens", "completion_tokens")
        }
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError(
            where, "not an arrival", found=line[:80], remedy='write {"at": seconds, "prompt_tokens": n}'
        ) from error
    if not 0 <= at_seconds < float("inf") or any(
        each is not None and not 1 <= each <= _MOST_TOKENS for each in lengths.values()
    ):
        raise InputError(
            where,
            "an arrival that cannot be",
            found=line[:80],
            remedy=f"write seconds from 0 on, and 1 to {_MOST_TOKENS:,} tokens",
        )
    return Arrival(at_seconds=at_seconds, **lengths)
