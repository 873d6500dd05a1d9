"""Own the words that every package shares: outcomes, clocks, intervals of time, frames."""

from fairclock.model.clocks import ENGINE_CLOCKS, Clock
from fairclock.model.frames import Frame, FrameKind
from fairclock.model.instants import EPOCH, from_us, to_us, utc_text
from fairclock.model.intervals import Interval, clip, merge, shared, total_us
from fairclock.model.outcomes import Outcome

__all__ = [
    "ENGINE_CLOCKS",
    "EPOCH",
    "Clock",
    "Frame",
    "FrameKind",
    "Interval",
    "Outcome",
    "clip",
    "from_us",
    "merge",
    "shared",
    "to_us",
    "total_us",
    "utc_text",
]
