"""Own the kinds of evidence: each a pure function of what was read, which tells something or nothing.

None of them names a cause. They are told together, in this order, with their numbers and with those of the time before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.incidents.evidence.endings import outcomes
from sla.incidents.evidence.engines import cold_start, kv_cache, preemptions, restarts
from sla.incidents.evidence.finding import Evidence
from sla.incidents.evidence.gpus import gpu_errors, gpu_throttle
from sla.incidents.evidence.load import burst, idle_waiting, long_prompts, retry_storm
from sla.incidents.evidence.phases import inference, outside, queue
from sla.incidents.evidence.shapes import climbing, spikes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sla.incidents.observations import Observed

__all__ = ["KINDS", "Evidence", "evidence_of"]

KINDS: Mapping[str, Callable[[Observed], Evidence | None]] = {
    "queue": queue,
    "inference": inference,
    "outside": outside,
    "outcomes": outcomes,
    "burst": burst,
    "long_prompts": long_prompts,
    "retry_storm": retry_storm,
    "idle_waiting": idle_waiting,
    "kv_cache": kv_cache,
    "preemptions": preemptions,
    "cold_start": cold_start,
    "restarts": restarts,
    "gpu_errors": gpu_errors,
    "gpu_throttle": gpu_throttle,
    "climbing": climbing,
    "spikes": spikes,
}


def evidence_of(seen: Observed) -> list[Evidence]:
    """Return what can be told of an incident."""
    return [found for tell in KINDS.values() if (found := tell(seen)) is not None]
