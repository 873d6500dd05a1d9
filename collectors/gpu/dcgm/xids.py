"""Own what can be learnt of XIDs from a gauge that holds the last one.

A second XID with the same number does not change the gauge, and of two between scrapes only the later is seen. So
this is less than what NVML's events tell, and rows say which collector they come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.gpu.events import EventKind, GpuEvent

if TYPE_CHECKING:
    from collectors.gpu.devices import Gpu

_HIDES = "the exporter's gauge; the same XID again would not show"


class XidGauges:
    """The last value of each device's gauge."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def read(self, gpu: Gpu, xid: int, *, at_us: int) -> GpuEvent | None:
        """Return the event that a value amounts to, if it is one."""
        before = self._last.get(gpu.uuid)
        self._last[gpu.uuid] = xid
        if not xid or xid == before:
            return None
        is_standing = before is None
        return GpuEvent(
            kind=EventKind.XID_STANDING if is_standing else EventKind.XID,
            at_us=at_us,
            gpu=gpu.uuid,
            parent=gpu.parent,
            gpu_instance=gpu.gpu_instance,
            code=xid,
            detail="it was there at the first scrape; when it happened is not known"
            if is_standing
            else _HIDES,
        )
