"""Own how long to wait before something that failed is tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_DOUBLINGS = 32


class BackOff:
    """Count failures and say how long to wait: twice as long each time, up to a limit, never less than half of it.

    `random` returns numbers in [0, 1); they keep those who failed together from coming back together.
    """

    def __init__(self, *, first_seconds: float, most_seconds: float, random: Callable[[], float]) -> None:
        self._first_seconds = first_seconds
        self._most_seconds = most_seconds
        self._random = random
        self.failures = 0

    def failed(self) -> float:
        """Take note of a failure and return the seconds to wait."""
        self.failures += 1
        return retry_seconds(
            self.failures,
            first_seconds=self._first_seconds,
            most_seconds=self._most_seconds,
            random=self._random,
        )

    def succeeded(self) -> None:
        """Forget the failures."""
        self.failures = 0


def retry_seconds(
    failures: int, *, first_seconds: float, most_seconds: float, random: Callable[[], float]
) -> float:
    """Return how long to wait after so many failures, from 1."""
    longest = min(first_seconds * 2.0 ** min(failures - 1, _DOUBLINGS), most_seconds)
    return longest * (0.5 + random() / 2)
