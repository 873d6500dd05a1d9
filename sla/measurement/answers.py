"""Own what probes with fixed questions say of the answers' worth, by how the engine ran: a mode that answers worse is seen."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairclock.model.probes import Probe

_MILLION = 1_000_000


def answers_by_mode(probes: Iterable[Probe]) -> list[dict[str, Any]]:
    """Return a row an inference mode: how many answers were judged, and the means over them; None where nothing was counted."""
    modes: defaultdict[str, list[Probe]] = defaultdict(list)
    for each in probes:
        if each.invalid_output is not None:
            modes[each.inference_mode].append(each)
    return [
        {
            "inference_mode": mode,
            "answers": len(found),
            "repetition_ratio": _mean(each.repetition_ratio for each in found),
            "numbers_copied_ratio": _mean(each.numbers_copied_ratio for each in found),
            "invalid_ratio": _mean(float(bool(each.invalid_output)) for each in found),
        }
        for mode, found in sorted(modes.items())
    ]


def _mean(ratios: Iterable[float | None]) -> float | None:
    """Return the mean in whole millionths, half of one upwards: the same wherever it is counted."""
    known = [round(each * _MILLION) for each in ratios if each is not None]
    return (2 * sum(known) + len(known)) // (2 * len(known)) / _MILLION if known else None
