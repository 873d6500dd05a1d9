"""Own the OTLP receiver: both transports in front of one committer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from collectors.otlp.addresses import Address, bind, parse_address
from collectors.otlp.committing import SpanCommitter
from collectors.otlp.grpc_server import GrpcServer
from collectors.otlp.http_server import HttpServer, http_app
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from collectors.otlp.committing import Deliver

DEFAULT_GRPC_ADDRESS = "127.0.0.1:4317"
DEFAULT_HTTP_ADDRESS = "127.0.0.1:4318"
DEFAULT_SOURCE = "otlp"


class OtlpReceiver:
    """Receive vLLM's spans and its plugin's records, and answer once `deliver` has returned for the frames that hold them.

    An address is HOST:PORT, or None for a transport that is not wanted; port 0 lets the system choose, and
    `grpc_address` and `http_address` say what was chosen. `note` is a file in which the receiver remembers what it
    covered, from one start to the next. Both addresses are taken when the receiver is made
    (`UsageError` where one is not free); requests are answered from `start` on.
    """

    def __init__(
        self,
        deliver: Deliver,
        grpc_address: str | None = DEFAULT_GRPC_ADDRESS,
        http_address: str | None = DEFAULT_HTTP_ADDRESS,
        source: str = DEFAULT_SOURCE,
        *,
        note: Path | None = None,
    ) -> None:
        if grpc_address is None and http_address is None:
            raise UsageError("collect otlp", "nothing to listen on", remedy="leave --grpc or --http on")
        self._committer = SpanCommitter(deliver, source=source, note=note)
        self._servers: list[HttpServer | GrpcServer] = []
        self.grpc_address: Address | None = None
        self.http_address: Address | None = None
        try:
            if http_address is not None:
                self._listen_http(parse_address(http_address, option="--http"))
            if grpc_address is not None:
                server = GrpcServer(
                    self._committer.commit, parse_address(grpc_address, option="--grpc"), option="--grpc"
                )
                self._servers.append(server)
                self.grpc_address = server.address
        except BaseException:
            self.stop()
            raise

    @property
    def ignored(self) -> int:
        """Return how many spans and log records were passed over, because no engine's requests are in them."""
        return self._committer.ignored

    def _listen_http(self, address: Address) -> None:
        bound = bind(address, option="--http")
        self._servers.append(HttpServer(http_app(self._committer.commit), bound))
        self.http_address = Address(host=address.host, port=bound.getsockname()[1])

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
        """Begin to answer."""
        self._committer.start()
        for server in self._servers:
            server.start()

    def stop(self) -> None:
        """Answer what was begun, once it is delivered; then close."""
        while self._servers:
            self._servers.pop().stop()
        self._committer.stop()
