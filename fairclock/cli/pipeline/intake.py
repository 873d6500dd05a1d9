"""Own the one way into the spool, and whether it is open."""

from __future__ import annotations

import logging
import time
from threading import Lock
from typing import TYPE_CHECKING

from fairclock.errors import SpoolError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairclock.model import Frame

_LOG = logging.getLogger(__name__)
_SAY_AGAIN_SECONDS = 60.0


class Intake:
    """Hand frames to `append`, and say so, once a minute at most, when it stops and when it goes on taking them.

    `problem` is why nothing is taken right now, or an empty string; `frames` counts what was.
    """

    def __init__(
        self, append: Callable[[Sequence[Frame]], None], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._append = append
        self._monotonic = monotonic
        self._said: tuple[float, str] | None = None
        self._guard = Lock()
        self.problem = ""
        self.frames = 0

    def __call__(self, frames: Sequence[Frame], /) -> None:
        """Return once the spool has `frames`; raises `SpoolError`."""
        try:
            self._append(frames)
        except SpoolError as error:
            self._closed(str(error))
            raise
        with self._guard:
            self.frames += len(frames)
            was_closed, self.problem = self.problem, ""
        if was_closed and self._said is not None and self._said[1]:
            self._said = self._said[0], ""
            _LOG.warning("collection goes on")

    def _closed(self, problem: str) -> None:
        with self._guard:
            self.problem = problem
            now = self._monotonic()
            is_news = self._said is None or now - self._said[0] >= _SAY_AGAIN_SECONDS
            if is_news:
                self._said = now, problem
        if is_news:
            _LOG.error("collection stops, senders are told to wait: %s", problem)
