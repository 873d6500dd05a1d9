"""Own how often an address may come with a token that is none."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict, deque
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_FAILURES = 10
WINDOW_SECONDS = 60.0
_MOST_ADDRESSES = 10_000
_NETWORK_BITS = 64


class Failures:
    """Count failures by address; after `MOST_FAILURES` in a window an address waits until the window has passed.

    Whoever has one IPv6 address has 2**64 of them: those of one network are one.
    """

    def __init__(self, *, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._guard = Lock()
        self._at: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_seconds(self, address: str) -> float:
        """Return how long `address` has to wait; 0 where it need not."""
        with self._guard:
            times = self._recent(_counted_as(address))
            if times is None or len(times) < MOST_FAILURES:
                return 0.0
            return max(times[0] + WINDOW_SECONDS - self._monotonic(), 1.0)

    def count(self, address: str) -> None:
        """Note a failure of `address`."""
        address = _counted_as(address)
        with self._guard:
            times = self._recent(address) or deque(maxlen=MOST_FAILURES)
            times.append(self._monotonic())
            self._at[address] = times
            self._at.move_to_end(address)
            while len(self._at) > _MOST_ADDRESSES:
                self._at.popitem(last=False)

    def _recent(self, address: str) -> deque[float] | None:
        times = self._at.get(address)
        if times is None:
            return None
        since = self._monotonic() - WINDOW_SECONDS
        while times and times[0] <= since:
            times.popleft()
        if not times:
            del self._at[address]
            return None
        return times


def _counted_as(address: str) -> str:
    """Return what failures of `address` are counted under: its network of 64 bits where it is of IPv6."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), _NETWORK_BITS), strict=False))
