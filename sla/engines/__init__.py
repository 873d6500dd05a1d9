"""Own what engines' own series say of their lives: starts, ends, restarts, reloads, and which requests waited for them.

`events` is the vocabulary, `lives` finds processes and events in what was read (pure), `routing` which engine a
gateway's upstream is (pure), `reading` reads both from a store as of an instant, `noticing` keeps what was found
among the degradations.
"""

from sla.engines.events import EngineEvent, EventKind
from sla.engines.reading import engine_events

__all__ = ["EngineEvent", "EventKind", "engine_events"]
