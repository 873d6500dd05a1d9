"""Own when a long-running command seals hours."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairclock.store import Store

_LOG = logging.getLogger(__name__)
_SEAL_EVERY = timedelta(seconds=60)


@dataclass(slots=True)
class SealStep:
    """Seal the hours that changed, every minute."""

    _store: Callable[[], Store]
    _done_at: datetime | None = None

    def step(self, now: datetime) -> None:
        """Seal where it is due; an unsealed hour is joined live, so nothing is wrong until then."""
        if self._done_at is not None and timedelta() <= now - self._done_at < _SEAL_EVERY:
            return
        hours = self._store().seal()
        self._done_at = now
        if hours:
            _LOG.info("sealed %d hours", hours)
