"""Own parts that are tried again and again: what one raises is counted and said, and stops no other."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.errors import FairclockError

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """How failures are said: in which log, of whose parts, and what a failure means for one."""

    log: logging.Logger
    whose: str
    failing: str


@dataclass(slots=True, kw_only=True)
class Tried:
    """A part and how it fares: failures so far, the present one's sentence (empty where there is none), the last try's seconds."""

    name: str
    failures: int = 0
    problem: str = ""
    seconds: float = 0.0

    def run(
        self, work: Callable[[], None], voice: Voice, *, monotonic: Callable[[], float] = time.monotonic
    ) -> bool:
        """Do `work`, and return whether it went well; whatever it raises is counted and said."""
        begun = monotonic()
        try:
            work()
        except FairclockError as error:
            self.failed(str(error), voice)
        # whatever it is, it is no reason to leave the other parts out
        except Exception as error:  # noqa: BLE001
            self.failed(f"{type(error).__name__}: {error}", voice, error)
        else:
            if self.problem:
                voice.log.info("%s: %s works again", voice.whose, self.name)
            self.problem = ""
        self.seconds = monotonic() - begun
        return not self.problem

    def failed(self, problem: str, voice: Voice, error: Exception | None = None) -> None:
        """Count a failure, and say it once for as long as it is the same."""
        self.failures += 1
        if problem != self.problem:
            voice.log.warning("%s: %s %s: %s", voice.whose, self.name, voice.failing, problem, exc_info=error)
        self.problem = problem
