"""Own the syslog receiver: one thread that reads datagrams and connections, in front of one that delivers."""

from __future__ import annotations

import logging
import selectors
import socket
import time
from threading import Thread
from typing import TYPE_CHECKING, Self

from collectors.gateway.formats import AUTO
from collectors.gateway.syslog.backlog import LIMIT_BYTES, Backlog
from collectors.gateway.syslog.connections import MessageSplitter
from collectors.gateway.syslog.sockets import DatagramSocket
from collectors.gateway.syslog.streams import Framing, Stream
from collectors.otlp.addresses import Address, bind, parse_address
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from collectors.gateway.syslog.statistics import SyslogStatistics
    from fairclock.model import Frame

_LOG = logging.getLogger(__name__)
_NS_PER_US = 1_000
_READ_BYTES = 256 << 10
_MOST_DATAGRAMS = 1_000
_MOST_CONNECTIONS = 256
_LAST_LOOKS = 64  # a sender that never rests must not keep the receiver from stopping


class _Connection:
    """One sender's connection, which is a stream of its own."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.stream = Stream()
        self.splitter = MessageSplitter()


class SyslogReceiver:
    """Receive a gateway's lines as syslog and hand frames of them to `deliver`.

    An address is HOST:PORT, or None for a transport that is not wanted; port 0 lets the system choose, and
    `udp_address` and `tcp_address` say what was chosen. Both are taken when the receiver is made (`UsageError`
    where one is not free). `deliver` returns once the frames are safe; `SpoolError` and `StoreError` let it be
    called again later, anything else ends the receiver and is kept in `failure`. Syslog knows no answer: what is
    under way when the process is killed is gone, and no time is covered for it.
    """

    def __init__(
        self,
        deliver: Callable[[Sequence[Frame]], object],
        *,
        source: str,
        udp: str | None = None,
        tcp: str | None = None,
        log_format: str = AUTO,
        now_us: Callable[[], int] = lambda: time.time_ns() // _NS_PER_US,
        monotonic: Callable[[], float] = time.monotonic,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        if udp is None and tcp is None:
            raise UsageError(
                "collect gateway", "nothing to listen on", remedy="leave --syslog-udp or --syslog-tcp on"
            )
        self.udp_address: Address | None = None
        self.tcp_address: Address | None = None
        self._failure: Exception | None = None
        self._stopping = False
        self._datagrams = Stream()
        self._connections: dict[socket.socket, _Connection] = {}
        self._held_up: list[_Connection] = []
        self._udp: DatagramSocket | None = None
        self._tcp: socket.socket | None = None
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._woken.settimeout(0)
        self._backlog = Backlog(
            deliver,
            Framing(source=source, log_format=log_format),
            now_us=now_us,
            monotonic=monotonic,
            drained=self._wake_up,
            limit_bytes=limit_bytes,
        )
        self._thread = Thread(target=self._run, name="syslog", daemon=True)
        try:
            if udp is not None:
                self._listen_udp(parse_address(udp, option="--syslog-udp"))
            if tcp is not None:
                self._listen_tcp(parse_address(tcp, option="--syslog-tcp"))
        except BaseException:
            self._close()
            raise

    def _listen_udp(self, address: Address) -> None:
        self._udp = DatagramSocket(address, option="--syslog-udp")
        self.udp_address = Address(host=address.host, port=self._udp.socket.getsockname()[1])

    def _listen_tcp(self, address: Address) -> None:
        self._tcp = bind(address, option="--syslog-tcp")
        self._tcp.settimeout(0)
        self.tcp_address = Address(host=address.host, port=self._tcp.getsockname()[1])

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def start(self) -> None:
        """Begin to receive."""
        self._backlog.start()
        self._thread.start()

    def stop(self) -> None:
        """Take what has arrived, deliver it, close."""
        self._stopping = True
        self._wake_up()
        if self._thread.ident is not None:
            self._thread.join()
        self._backlog.stop()
        self._close()

    @property
    def is_alive(self) -> bool:
        """Return whether both threads run and nothing ended one; a thread that failed takes a moment to end."""
        return self.failure is None and self._thread.is_alive() and self._backlog.is_alive

    @property
    def failure(self) -> Exception | None:
        """Return what ended the receiver, if something did."""
        return self._failure or self._backlog.failure

    def statistics(self) -> SyslogStatistics:
        """Return the counts and the state right now; any thread may ask."""
        return self._backlog.statistics(len(self._connections))

    def _wake_up(self) -> None:
        try:
            self._wake.send(b"\0")
        except OSError:  # closed already
            return

    def _run(self) -> None:
        try:
            self._selector.register(self._woken, selectors.EVENT_READ, self._on_wake)
            if self._udp is not None:
                self._selector.register(self._udp.socket, selectors.EVENT_READ, self._on_datagrams)
            if self._tcp is not None:
                self._selector.register(self._tcp, selectors.EVENT_READ, self._on_connection)
            while not self._stopping and self._backlog.failure is None:
                for key, _ in self._selector.select():
                    key.data()
            self._take_the_rest()
        except Exception as failure:  # noqa: BLE001 - kept for whoever runs this
            self._failure = failure
            _LOG.exception("syslog can no longer be received")

    def _on_wake(self) -> None:
        self._woken.recv(4096)
        held_up, self._held_up = self._held_up, []
        for connection in held_up:
            self._watch(connection)

    def _on_datagrams(self) -> bool:
        """Take the datagrams that are there; return whether there may be more."""
        if self._udp is None:
            return False
        messages = list(self._udp.receive(_MOST_DATAGRAMS))
        dropped = self._udp.newly_dropped()
        if dropped:
            self._backlog.lose(dropped)
        if self._backlog.is_full:
            self._backlog.lose(len(messages))
        elif messages:
            self._backlog.add(self._datagrams, messages, covers=not dropped)
        return len(messages) == _MOST_DATAGRAMS

    def _on_connection(self) -> None:
        if self._tcp is None:
            return
        try:
            connected, _ = self._tcp.accept()
        except OSError:  # gone again
            return
        if len(self._connections) >= _MOST_CONNECTIONS:
            _LOG.warning("a syslog connection is refused: %d are open", len(self._connections))
            connected.close()
            return
        connected.settimeout(0)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection = self._connections[connected] = _Connection(connected)
        self._watch(connection)

    def _watch(self, connection: _Connection) -> None:
        self._selector.register(connection.socket, selectors.EVENT_READ, lambda: self._on_data(connection))

    def _on_data(self, connection: _Connection) -> None:
        if self._backlog.hold_up():
            self._selector.unregister(connection.socket)
            self._held_up.append(connection)
        elif not self._read(connection):
            self._selector.unregister(connection.socket)
            del self._connections[connection.socket]
            connection.socket.close()

    def _read(self, connection: _Connection) -> bool:
        """Take what has arrived; return whether more can come."""
        try:
            data = connection.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:  # broken off: what the sender did not finish it will send again
            return False
        messages = connection.splitter.feed(data) if data else connection.splitter.finish()
        if messages:
            self._backlog.add(connection.stream, messages)
        return bool(data)

    def _take_the_rest(self) -> None:
        """Take what the system has received; syslog's senders will not send it again."""
        for _ in range(_LAST_LOOKS):
            if not self._on_datagrams():
                break
        for connection in self._connections.values():
            while not self._backlog.is_full and self._read_more(connection):
                pass

    def _read_more(self, connection: _Connection) -> bool:
        try:
            is_there = bool(connection.socket.recv(1, socket.MSG_PEEK))
        except OSError:
            return False
        return is_there and self._read(connection)

    def _close(self) -> None:
        for connection in self._connections.values():
            connection.socket.close()
        self._connections.clear()
        if self._udp is not None:
            self._udp.socket.close()
        if self._tcp is not None:
            self._tcp.close()
        self._wake.close()
        self._woken.close()
        self._selector.close()
