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
_HOLDS_SECONDS = 15.0  # longer than collectors rest between their tries


class Intake:
    """Hand frames to `append`, and say so, once a minute at most, when it stops and when it goes on taking them.

    `frames` counts what was taken.
    """

    def __init__(
        self, append: Callable[[Sequence[Frame]], None], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._append = append
        self._monotonic = monotonic
        self._said: tuple[float, str] | None = None
        self._guard = Lock()
        self._problem: tuple[float, str] | None = None
        self.frames = 0

    @property
    def problem(self) -> str:
        """Return why nothing is taken right now, or an empty text.

        What went wrong a while ago, and was not tried since, is no problem: whoever waits for it to pass would
        wait for ever.
        """
        with self._guard:
            known = self._problem
        return "" if known is None or self._monotonic() - known[0] > _HOLDS_SECONDS else known[1]

    def __call__(self, frames: Sequence[Frame], /) -> None:
        """Return once the spool has `frames`; raises `SpoolError`."""
        try:
            self._append(frames)
        except SpoolError as error:
            self._closed(str(error))
            raise
        with self._guard:
            self.frames += len(frames)
            was_closed, self._problem = self._problem, None
        if was_closed is not None and self._said is not None and self._said[1]:
            self._said = self._said[0], ""
            _LOG.warning("collection goes on")

    def _closed(self, problem: str) -> None:
        with self._guard:
            now = self._monotonic()
            self._problem = now, problem
            is_news = self._said is None or now - self._said[0] >= _SAY_AGAIN_SECONDS
            if is_news:
                self._said = now, problem
        if is_news:
            _LOG.error("collection stops, senders are told to wait: %s", problem)
