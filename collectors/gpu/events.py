"""Own what happens to GPUs, as opposed to what is measured of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EventKind(StrEnum):
    """What happened."""

    XID = "xid"
    XID_STANDING = "xid_standing"
    ECC_CORRECTED = "ecc_corrected"
    ECC_UNCORRECTED = "ecc_uncorrected"
    PAGES_RETIRED = "pages_retired"
    ROWS_REMAPPED = "rows_remapped"
    REMAP_PENDING = "remap_pending"
    REMAP_FAILED = "remap_failed"
    NVLINK_ERRORS = "nvlink_errors"
    NVLINK_DOWN = "nvlink_down"
    THROTTLE_BEGAN = "throttle_began"
    THROTTLE_ENDED = "throttle_ended"
    POISON = "poison"
    RECOVERY_ACTION = "recovery_action"
    ADDED = "added"
    REMOVED = "removed"
    LOST = "lost"
    HUNG = "hung"
    RETURNED = "returned"
    MIG_CHANGED = "mig_changed"
    DRIVER_AWAY = "driver_away"
    DRIVER_BACK = "driver_back"
    TOO_FEW = "too_few"
    ENOUGH = "enough"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuEvent:
    """One event.

    at_us: when it was noticed, µs since 1970 on the collector's clock.
    gpu: the UUID of the device or MIG instance, empty where it concerns none in particular.
    code: an XID, a bit mask, the number of what it is about; count: how many at once, or how many seconds.
    """

    kind: EventKind
    at_us: int
    gpu: str = ""
    parent: str = ""
    gpu_instance: int | None = None
    compute_instance: int | None = None
    code: int | None = None
    count: int | None = None
    detail: str = ""
    is_simulated: bool = False
