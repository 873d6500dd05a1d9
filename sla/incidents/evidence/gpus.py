"""Own what GPUs went through: errors that drivers report, and clocks held down."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sla.incidents.evidence.finding import Evidence, part, seconds

if TYPE_CHECKING:
    from sla.incidents.observations import Observed

TROUBLE = frozenset(
    {"xid", "ecc_uncorrected", "rows_remapped", "remap_failed", "nvlink_errors", "nvlink_down", "lost", "hung",
     "driver_away", "too_few", "poison", "recovery_action"}
)  # fmt: skip
"""Events that are told: `xid_standing` and corrected errors are not, they are of another time or of no effect."""
_LEAST_SHARE = Fraction(1, 20)


def gpu_errors(seen: Observed) -> Evidence | None:
    """Tell what went wrong with GPUs, the first of it with its code."""
    found = sorted(
        (each for each in seen.gpu_events if each.event in TROUBLE),
        key=lambda each: (each.first_us, each.gpu, each.event, each.code or 0),
    )
    if not found:
        return None
    first = found[0]
    xids = sorted({each.code for each in found if each.event == "xid" and each.code is not None})
    return Evidence(
        kind="gpu_errors",
        numbers={
            "events": sum(each.times for each in found),
            "gpus": len({each.gpu for each in found}),
            "kinds": tuple(sorted({each.event for each in found})),
            "xids": tuple(str(code) for code in xids),
            "gpu": first.gpu,
            "after_seconds": seconds(first.first_us - seen.start_us),
        },
        sources=("gpu_events",),
    )


def gpu_throttle(seen: Observed) -> Evidence | None:
    """Tell that a GPU's clocks were held down for a twentieth of the time or more, and at least twice as much as before."""
    worst = None
    for each in seen.throttled:
        share = part(each.seconds, each.measured)
        before = part(each.seconds_before, each.measured_before)
        if share is None or share < _LEAST_SHARE or (before is not None and share < 2 * before):
            continue
        if worst is None or (share, each.gpu) > (worst[0], worst[2].gpu):
            worst = (share, before, each)
    if worst is None:
        return None
    share, before, gpu = worst
    return Evidence(
        kind="gpu_throttle",
        numbers={
            "gpu": gpu.gpu,
            "throttled": gpu.seconds,
            "measured": gpu.measured,
            "share_ratio": share,
            "before_ratio": before,
        },
        sources=("gpu_samples",),
    )
