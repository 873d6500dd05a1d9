"""Own which devices there are: GPUs and MIG instances, known by UUID."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a device fares."""

    OK = "ok"
    LOST = "lost"
    HUNG = "hung"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A device; what is not known is empty or None.

    uuid: the GPU's, or the MIG instance's own; `parent` is then the UUID of its GPU.
    index: the driver's number of the GPU, which may change when it is loaded anew.
    profile: of a MIG instance, for example 1g.10gb.
    """

    uuid: str
    host: str
    parent: str = ""
    index: int | None = None
    gpu_instance: int | None = None
    compute_instance: int | None = None
    name: str = ""
    bus: str = ""
    driver: str = ""
    profile: str = ""
    is_simulated: bool = False

    @property
    def is_instance(self) -> bool:
        """Return whether it is a MIG instance."""
        return bool(self.parent)
