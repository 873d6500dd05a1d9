"""Own the words that every package shares: outcomes, clocks, intervals of time, frames."""

from fairclock.model.clocks import ENGINE_CLOCKS, Clock
from fairclock.model.frames import Frame, FrameKind
from fairclock.model.intervals import Interval, clip, merge, total_us
from fairclock.model.outcomes import Outcome

__all__ = ["ENGINE_CLOCKS", "Clock", "Frame", "FrameKind", "Interval", "Outcome", "clip", "merge", "total_us"]
