"""Engines to scrape: a real HTTP server whose answers a test decides."""

from __future__ import annotations

import gzip
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 60.0
METRICS = b'# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0"} 3.0\n'
PLAIN = "text/plain; version=0.0.4; charset=utf-8"


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds; fail where it does not within a minute."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.005)


@dataclass
class Engine:
    """A server and what it does: `answer` is called with the handler."""

    url: str
    answer: Callable[[Any], None]
    requests: list[dict[str, str]] = field(default_factory=list)


def answering(
    content: bytes = METRICS,
    *,
    status: int = 200,
    content_type: str = PLAIN,
    packed: bool = False,
    **headers: str,
) -> Callable[[Any], None]:
    """Answer with `content`."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = gzip.compress(content) if packed else content
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(body)))
        if packed:
            handler.send_header("Content-Encoding", "gzip")
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@pytest.fixture
def make_engine() -> Iterator[Callable[..., Engine]]:
    """Start servers on ports of their own."""
    servers: list[ThreadingHTTPServer] = []

    def make(answer: Callable[[Any], None] | None = None, *, context: Any = None) -> Engine:
        engine = Engine(url="", answer=answer or answering())

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                engine.requests.append({"path": self.path, **{k.lower(): v for k, v in self.headers.items()}})
                engine.answer(self)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        engine.url = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}/metrics"
        return engine

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()
