"""Own the connections to an endpoint: as many as are wanted, each handshake with its instants, idle ones used again.

There is no limit on how many there are: a limit would make probes wait for each other, which is what an open loop is not.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from inference_probe.prober.endpoints import Endpoint

_MOST_IDLE_SECONDS = 4.0
"""Servers close idle connections after 5 s (uvicorn) and more; one that is about to be closed is not used."""


class Connection(asyncio.Protocol):
    """One connection; what comes goes to `take` with its instant, its end to `over`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._take: Callable[[bytes, float], None] | None = None
        self._over: Callable[[], None] | None = None
        self.is_open = True
        self.idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport  # type: ignore[assignment]  # a TCP or TLS transport

    def data_received(self, data: bytes) -> None:
        """Hand bytes on, with the instant at which the loop read them."""
        if self._take is None:
            self.close()  # nobody asked for anything
        else:
            self._take(data, self._loop.time())

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note of the end."""
        del exc
        self.is_open = False
        if self._over is not None:
            self._over()

    def send(self, data: bytes, *, take: Callable[[bytes, float], None], over: Callable[[], None]) -> None:
        """Send one request; what comes back goes to `take`, the connection's end to `over`."""
        self._take, self._over = take, over
        if not self.is_open or self._transport is None:
            self._loop.call_soon(over)
            return
        self._transport.write(data)

    def rest(self) -> None:
        """Stop listening: the answer is whole."""
        self._take = self._over = None

    def close(self) -> None:
        """Break it off at once; no answer is waited for."""
        self.is_open, self._take, self._over = False, None, None
        if self._transport is not None:
            self._transport.abort()


class Connections:
    """Connections to one endpoint; `reuses` idle ones, the one that was used last first."""

    def __init__(self, endpoint: Endpoint, *, reuses: bool) -> None:
        self._endpoint = endpoint
        self._reuses = reuses
        self._idle: deque[Connection] = deque()

    def idle(self) -> Connection | None:
        """Return a connection that is open and idle for a moment only; None where there is none."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and now - connection.idle_since < _MOST_IDLE_SECONDS:
                return connection
            connection.close()
        return None

    async def open(self, connected: Callable[[float], None]) -> tuple[Connection, float | None]:
        """Open one, tell `connected` when TCP was set up, and return it with when TLS was (None without); raises OSError."""
        loop = asyncio.get_running_loop()
        target = self._endpoint
        plain = socket.socket(target.family, socket.SOCK_STREAM)
        try:
            plain.setblocking(False)  # noqa: FBT003 - the standard library's
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(plain, (target.address, target.port))
            connected(loop.time())
            _, connection = await loop.create_connection(
                lambda: Connection(loop),
                sock=plain,
                ssl=target.tls,
                server_hostname=target.host if target.tls else None,
            )
        except BaseException:
            plain.close()
            raise
        return connection, loop.time() if target.tls else None

    def give_back(self, connection: Connection) -> None:
        """Keep a connection whose answer is whole for the next probe."""
        connection.rest()
        if not self._reuses:
            connection.close()
            return
        now = connection.idle_since = asyncio.get_running_loop().time()
        self._idle.append(connection)
        while self._idle and now - self._idle[0].idle_since >= _MOST_IDLE_SECONDS:
            self._idle.popleft().close()  # what a burst has opened is not held for ever

    def close(self) -> None:
        """Close all that are idle."""
        while self._idle:
            self._idle.pop().close()
