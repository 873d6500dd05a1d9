"""Own the sockets that syslog arrives at."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from collectors.otlp.addresses import Address

_DATAGRAM_BYTES = 65_536
_RECEIVE_BUFFER_BYTES = 8 << 20
_SO_RXQ_OVFL = 40  # Linux: say with each datagram how many were dropped before it
_COUNT = struct.Struct("=I")
_COUNT_MODULUS = 1 << 32


class DatagramSocket:
    """A bound UDP socket, and how many datagrams the system dropped because nobody read them in time."""

    def __init__(self, address: Address, *, option: str) -> None:
        """Take `address`; raises `UsageError` where it is not free."""
        try:
            family, kind, protocol, _, target = socket.getaddrinfo(
                address.host, address.port, type=socket.SOCK_DGRAM, flags=socket.AI_PASSIVE
            )[0]
        except OSError as error:
            raise UsageError(
                option,
                "the host is not known here",
                found=address.host,
                remedy="write an address of this machine",
            ) from error
        self.socket = socket.socket(family, kind, protocol)
        self._dropped = self._told = 0
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
            self.socket.bind(target)
            self.socket.settimeout(0)
        except OSError as error:
            self.socket.close()
            raise UsageError(
                option,
                f"cannot listen on {address}",
                found=error.strerror,
                remedy=f"stop the program that listens there, or choose another address with {option} HOST:PORT",
            ) from error
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, _SO_RXQ_OVFL, 1)
        except OSError:  # a system that does not count
            return

    def receive(self, most: int) -> Iterator[bytes]:
        """Yield the datagrams that are there, `most` at most."""
        for _ in range(most):
            try:
                datagram, notes, _, _ = self.socket.recvmsg(_DATAGRAM_BYTES, socket.CMSG_SPACE(_COUNT.size))
            except (BlockingIOError, ConnectionError):
                return
            for level, kind, data in notes:
                if (level, kind) == (socket.SOL_SOCKET, _SO_RXQ_OVFL) and len(data) >= _COUNT.size:
                    self._dropped = _COUNT.unpack_from(data)[0]
            yield datagram

    def newly_dropped(self) -> int:
        """Return how many datagrams the system dropped since the last call, as far as it said so by now."""
        newly = (self._dropped - self._told) % _COUNT_MODULUS
        self._told = self._dropped
        return newly
