"""Own which events follow from two rows of the same device: errors that grew, links that went down, throttling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from collectors.gpu.events import EventKind, GpuEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from collectors.gpu.devices import Gpu

_US_PER_SECOND = 1_000_000
THROTTLES = {
    1 << 2: "software power cap",
    1 << 3: "hardware slowdown",
    1 << 5: "software thermal slowdown",
    1 << 6: "hardware thermal slowdown",
    1 << 7: "hardware power brake",
    1 << 9: "board limit",
    1 << 10: "reliability",
}
"""The reasons for lower clocks that somebody wants to know; idleness and clocks that were asked for are none."""
_HARMFUL = sum(THROTTLES)
_QUIET_SECONDS = 10
_GROWING = {
    "ecc_corrected_volatile": EventKind.ECC_CORRECTED,
    "ecc_uncorrected_volatile": EventKind.ECC_UNCORRECTED,
    "retired_pages_corrected": EventKind.PAGES_RETIRED,
    "retired_pages_uncorrected": EventKind.PAGES_RETIRED,
    "remapped_rows_corrected": EventKind.ROWS_REMAPPED,
    "remapped_rows_uncorrected": EventKind.ROWS_REMAPPED,
    "remapped_rows_pending": EventKind.REMAP_PENDING,
    "remapped_rows_failed": EventKind.REMAP_FAILED,
    "nvlink_crc_errors": EventKind.NVLINK_ERRORS,
    "nvlink_replay_errors": EventKind.NVLINK_ERRORS,
    "nvlink_recovery_errors": EventKind.NVLINK_ERRORS,
    "nvlinks_inactive": EventKind.NVLINK_DOWN,
}


@dataclass(slots=True)
class ChangeWatch:
    """What the rows of one device said so far; the first reading of a counter is no event."""

    _counters: dict[str, float] = field(default_factory=dict)
    _throttled_since: int | None = None
    _throttled_last: int = 0
    _throttle_bits: int = 0

    def read(self, gpu: Gpu, second: int, columns: Mapping[str, float]) -> Iterator[GpuEvent]:
        """Yield what happened up to this row; rows come in order of time."""
        for name, kind in _GROWING.items():
            value = columns.get(name)
            if value is None:
                continue
            before = self._counters.get(name)
            self._counters[name] = value
            if before is not None and value > before:
                yield self._event(gpu, second, kind, count=int(value - before), detail=name)
        yield from self._throttling(gpu, second, columns)

    def _throttling(self, gpu: Gpu, second: int, columns: Mapping[str, float]) -> Iterator[GpuEvent]:
        reasons = columns.get("throttle_reasons")
        if reasons is None:
            return
        harmful = int(reasons) & _HARMFUL
        if harmful:
            new = harmful & ~self._throttle_bits
            if self._throttled_since is None:
                self._throttled_since = second
            self._throttled_last = second
            self._throttle_bits |= harmful
            if new:
                yield self._event(gpu, second, EventKind.THROTTLE_BEGAN, code=new, detail=throttles(new))
        elif self._throttled_since is not None and second - self._throttled_last >= _QUIET_SECONDS:
            lasted = self._throttled_last - self._throttled_since + 1
            bits, self._throttle_bits, self._throttled_since = self._throttle_bits, 0, None
            yield self._event(
                gpu, second, EventKind.THROTTLE_ENDED, code=bits, count=lasted, detail=throttles(bits)
            )

    @staticmethod
    def _event(
        gpu: Gpu,
        second: int,
        kind: EventKind,
        *,
        detail: str,
        code: int | None = None,
        count: int | None = None,
    ) -> GpuEvent:
        return GpuEvent(
            kind=kind, at_us=second * _US_PER_SECOND, gpu=gpu.uuid, parent=gpu.parent, code=code, count=count,
            detail=detail, is_simulated=gpu.is_simulated,
        )  # fmt: skip


def throttles(bits: int) -> str:
    """Return the names of the reasons in `bits`."""
    return ", ".join(name for bit, name in THROTTLES.items() if bits & bit)
