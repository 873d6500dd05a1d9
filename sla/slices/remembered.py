"""Own the engines' starts for those who ask every few seconds: the latest are read once a minute, all once an hour."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval
from sla.evaluation.excluding import engine_starts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store.engine_lives import Rows
    from sla.exclusions import EngineStart

_RECENT_AGAIN_AFTER = timedelta(minutes=1)
_AGAIN_AFTER = timedelta(hours=1)
_RECENT = timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What was found of a window: all of it as of `asked`, and what began lately as of `asked_lately`."""

    end: datetime
    asked: datetime
    asked_lately: datetime
    starts: tuple[EngineStart, ...]


@dataclass(slots=True)
class RememberedStarts:
    """Stands for `engine_starts`; what it says may be a minute old, of starts more than two days ago an hour."""

    _known: dict[datetime, _Known] = field(default_factory=dict)

    def __call__(self, store: Rows, window: Interval, as_of: datetime) -> Sequence[EngineStart]:
        """Return the starts that may touch `window`, as they were known shortly before `as_of`."""
        known = self._known.get(window.start)
        if known is None or not timedelta() <= as_of - known.asked < _AGAIN_AFTER or window.end < known.end:
            found = tuple(engine_starts(store, window, as_of))
            known = _Known(end=window.end, asked=as_of, asked_lately=as_of, starts=found)
        elif as_of - known.asked_lately >= _RECENT_AGAIN_AFTER:
            known = self._refreshed(store, window, as_of, known)
        self._known[window.start] = known
        return known.starts

    @staticmethod
    def _refreshed(store: Rows, window: Interval, as_of: datetime, known: _Known) -> _Known:
        since = as_of - _RECENT
        if window.end <= since:
            return replace(known, asked_lately=as_of)
        lately = Interval(start=max(window.start, since), end=window.end)
        kept = [each for each in known.starts if each.started_at < since]
        found = [each for each in engine_starts(store, lately, as_of) if each.started_at >= since]
        return replace(known, end=window.end, asked_lately=as_of, starts=(*kept, *found))
