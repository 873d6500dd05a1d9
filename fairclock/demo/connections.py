"""Own the client connections that simulated requests arrive on: kept alive, one request at a time."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

KEEPALIVE_REQUESTS = 1000
KEEPALIVE_MS = 75_000


@dataclass(slots=True)
class _Connection:
    accepted_ms: int
    requests: int
    idle_since_ms: int


def connections_of(
    *,
    tenant: Sequence[int],
    received_ms: Sequence[int],
    responded_ms: Sequence[int],
    handshake_ms: Sequence[int],
    closes: Sequence[bool],
) -> tuple[list[int], list[int]]:
    """Return for each request its connection's age at the end, in milliseconds, and its number on it.

    A new connection was accepted `handshake_ms` before its first request; `closes` says who leaves for good.
    """
    busy: list[tuple[int, int]] = []  # heap by (responded, request)
    idle: dict[int, list[_Connection]] = {}
    used: dict[int, _Connection] = {}
    ages: list[int] = []
    counts: list[int] = []
    for number, now in enumerate(received_ms):
        while busy and busy[0][0] < now:
            freed_ms, freed = heappop(busy)
            connection = used.pop(freed)
            if not closes[freed] and connection.requests < KEEPALIVE_REQUESTS:
                connection.idle_since_ms = freed_ms
                idle.setdefault(tenant[freed], []).append(connection)
        mine = idle.get(tenant[number])
        if mine and now - mine[-1].idle_since_ms < KEEPALIVE_MS:
            connection = mine.pop()
        else:
            if mine:
                mine.clear()  # the last one freed has idled for too long, and so have the others
            connection = _Connection(now - handshake_ms[number], 0, 0)
        connection.requests += 1
        used[number] = connection
        heappush(busy, (responded_ms[number], number))
        ages.append(responded_ms[number] - connection.accepted_ms)
        counts.append(connection.requests)
    return ages, counts
