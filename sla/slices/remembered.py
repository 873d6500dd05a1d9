"""Own the engines' starts for those who ask every few seconds: asked for anew once a minute, long ago once an hour."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from sla.evaluation.excluding import engine_starts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store.engine_lives import Rows
    from sla.exclusions import EngineStart

_AGAIN_AFTER = timedelta(minutes=1)
_OLD_AGAIN_AFTER = timedelta(hours=1)
_OLD = timedelta(days=2)


@dataclass(slots=True)
class RememberedStarts:
    """Stands for `engine_starts`; what it says of a window may be a minute old, or an hour if the window is over."""

    _known: dict[datetime, tuple[datetime, datetime, Sequence[EngineStart]]] = field(default_factory=dict)

    def __call__(self, store: Rows, window: Interval, as_of: datetime) -> Sequence[EngineStart]:
        """Return the starts that may touch `window`, as they were known shortly before `as_of`."""
        is_old = window.end <= as_of - _OLD
        after = _OLD_AGAIN_AFTER if is_old else _AGAIN_AFTER
        known = self._known.get(window.start)
        if known is not None:
            end, asked, starts = known
            is_whole = end >= window.end or not is_old
            if is_whole and timedelta() <= as_of - asked < after:
                return starts
        found = engine_starts(store, window, as_of)
        self._known[window.start] = (window.end, as_of, found)
        return found
