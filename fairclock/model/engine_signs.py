"""Own the signs that engines give of their lives, as they are read back: from scrapes, the plugin and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime


class ProcessSeen(NamedTuple):
    """A process that scrapes of `target` saw: `series` says since when it runs or counts (µs), and when it answered."""

    target: str
    series: str
    began_us: int
    first_us: int
    last_us: int


class CounterFell(NamedTuple):
    """A counter that nothing dates fell between two scrapes (µs)."""

    target: str
    series: str
    before_us: int
    at_us: int
    before: float
    after: float


class Said(NamedTuple):
    """What an engine's plugin said: `event` is started or stopped."""

    instance: str
    event: str
    at: datetime
    rank: int


class LastSign(NamedTuple):
    """The last that was heard of an instance before an instant, and how full its KV cache was then (None: not said)."""

    at: datetime
    kv_cache_usage_ratio: float | None


class Outage(NamedTuple):
    """Scrapes of `target` that failed in a row; `ended_at` is the next answer, None while there is none."""

    target: str
    began_at: datetime
    ended_at: datetime | None
    tries: int
    reason: str


class Pair(NamedTuple):
    """How many requests to `upstream` were those of `instance`."""

    instance: str
    upstream: str
    requests: int
