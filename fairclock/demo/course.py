"""Own what became of each simulated request on its way through the gateway."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from enum import IntEnum
from math import nan

from fairclock.demo.engine import Marks


class End(IntEnum):
    """How the gateway saw a request end."""

    ANSWERED = 0
    LEFT_EARLY = 1  # the client went before the first byte of the answer: nginx 499
    LEFT_MIDSTREAM = 2  # the client went in the middle of a stream: 200, not completed
    TIMED_OUT = 3  # the engine was silent for longer than the gateway waits: 504
    LIMITED = 4  # limit_req refused: 503, no upstream
    MALFORMED = 5  # the engine's front end refused: 400
    ENGINE_FULL = 6  # the engine's queue is at its limit: 503 from the upstream
    UNREACHABLE = 7  # every engine refused or lost the connection: 502
    CUT = 8  # the engine died in the middle of a stream: nginx logs 200 and OK


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTry:
    """An attempt after which the gateway went on to another engine, or gave up."""

    replica: int  # -1: no engine was left to try
    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One entry a request, by request number; seconds since the traffic's epoch, nan where not reached."""

    end: bytearray  # End
    replica: array[int]  # of the attempt that the gateway's answer came from; -1: none
    forwarded: array[float]  # of that attempt
    arrived: array[float]
    queued: array[float]
    responded: array[float]
    marks: Marks
    failed_tries: dict[int, list[FailedTry]] = field(default_factory=dict)

    @classmethod
    def of_size(cls, size: int) -> Course:
        """Return a course in which nothing has happened yet."""

        def unknown() -> array[float]:
            return array("d", [nan]) * size

        return cls(
            end=bytearray(size),
            replica=array("i", [-1]) * size,
            forwarded=unknown(),
            arrived=unknown(),
            queued=unknown(),
            responded=unknown(),
            marks=Marks(scheduled=unknown(), first_token=unknown(), last_token=unknown(), given_up=unknown()),
        )
