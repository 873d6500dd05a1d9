"""Own what the tests with real gateways share: an engine that dawdles on demand, clients that measure, and the rows in the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from collectors.gateway.files import read_gateway_files
from fairclock.store import IngestCounts, Query

PATIENCE_SECONDS = 120
SLOW_SECONDS = 0.3
HEAD_SECONDS = 0.05
"""What an engine takes at least. To one that answers while the request is still being handed over Caddy's connection may be
closed after its head, as Go's server and client have it: nothing of the answer comes, and its log says so."""
CHUNK_SECONDS = 0.05
CHUNKS = 4


class _Engine(BaseHTTPRequestHandler):
    """Answers by what the path says: slow, bad, stream, dies, hangs, held (until it is told to go on)."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.path, dict(self.headers.items())))
        with contextlib.suppress(OSError):  # the gateway may be gone
            self._answer()

    do_GET = do_POST  # noqa: N815 - as http.server calls it

    def _answer(self):
        time.sleep(HEAD_SECONDS)
        if "slow" in self.path:
            time.sleep(SLOW_SECONDS)
        if "held" in self.path:
            self.server.release.wait(PATIENCE_SECONDS)
        if "stream" not in self.path:
            self.send_response(500 if "bad" in self.path else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(CHUNKS):
            self._chunk(b"data: 1\n")
            time.sleep(CHUNK_SECONDS)
        if "dies" in self.path:
            self.close_connection = True
            return
        if "hangs" in self.path:
            self.server.release.wait(PATIENCE_SECONDS)
        self._chunk(b"")

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *_):
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Engine)
        self.seen, self.release = [], threading.Event()

    def handle_error(self, request, client_address):
        """Say nothing of gateways that leave: they are what is tested."""


@contextlib.contextmanager
def engine():
    """Run the engine; it has `seen` (path, headers) and `release`, an event for those that are held."""
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def program(name):
    """Return the path of a program that scripts/debian-packages brings."""
    found = shutil.which(name, path=os.environ.get("PATH", os.defpath) + os.pathsep + "/usr/sbin")
    assert found, f"{name} is missing: run scripts/debian-packages test"
    return found


@dataclass
class Traffic:
    """Requests through a gateway, each on a connection of its own, and what their clients measured."""

    url: str
    engine: ThreadingHTTPServer
    measured: dict = field(default_factory=dict)
    statuses: dict = field(default_factory=dict)

    def send(self, path, **headers):
        """Send a request and wait for its whole answer; remember (sent, seconds) on this host's clocks."""
        sent, begun = time.time(), time.perf_counter()
        with contextlib.suppress(httpx.RemoteProtocolError, httpx.ReadError):
            answer = httpx.post(
                self.url + path + "?q=hunter2",
                content=b"{}",
                headers=headers,
                timeout=PATIENCE_SECONDS,
                trust_env=False,
            )
            self.statuses[path] = answer.status_code
        self.measured[path] = (sent, time.perf_counter() - begun)

    def begin(self, started):
        """Send the first request once the gateway listens: one that is slow to answer is not asked a second time."""

        def is_answered():
            assert started.process.poll() is None, started.program.output.read_text(errors="replace")
            try:
                self.send("/ready")
            except httpx.ConnectError:
                return False
            return True

        self.until(is_answered)

    def behind(self, path):
        """Send a request from another thread and return it once the engine has the request."""
        thread = threading.Thread(target=self.send, args=(path,), daemon=True)
        thread.start()
        self.until(lambda: self._arrived(path))
        return thread

    def leave(self, path, *, after=b""):
        """Send a request, wait until the engine has it and `after` has come back, then leave.

        Who leaves in the middle of an answer does so with a reset, as where some of it is not read.
        """
        host, port = self.url.removeprefix("http://").split(":")
        sent, begun = time.time(), time.perf_counter()
        with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as client:
            client.sendall(
                f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 2\r\n\r\n{{}}".encode()
            )
            self.until(lambda: self._arrived(path))
            got = b""
            while after not in got:
                more = client.recv(65536)
                assert more, got
                got += more
            if after:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.measured[path] = (sent, time.perf_counter() - begun)

    def _arrived(self, path):
        return any(seen.partition("?")[0] == path for seen, _ in self.engine.seen)

    @staticmethod
    def until(true):
        """Wait until `true` is, or fail."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not true():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.01)


COLUMNS = (
    "route", "status", "outcome", "error_code", "responded_us", "forwarded_us", "request_id", "tenant", "stream", "server",
    "upstream", "method", "attempts",
)  # fmt: skip


@dataclass(kw_only=True)
class Read:
    """A log as `ingest gateway` read it: what of it, in which format, its rows and its fields by route."""

    counts: IngestCounts
    formats: list[str]
    rows: dict[str, dict[str, object]]
    fields: dict[str, dict[str, str]]
    dead_letters: list[tuple[object, ...]]


def read_log(store, log, *, source):
    """Ingest a log, recognising its format."""
    told = []
    (reading,) = read_gateway_files(
        store, [str(log)], source=source, tell=lambda _, found: told.append(found.form)
    )
    sql = f"SELECT {', '.join(COLUMNS)}, toInt64(toUnixTimestamp64Micro(received_at)), lower(hex(trace_id)) FROM gateway_requests WHERE source = {{source:String}}"
    rows = [
        dict(zip((*COLUMNS, "received_us", "trace"), row, strict=True))
        for row in store.rows(Query(sql=sql, parameters={"source": source}))
    ]
    by_route = {row["route"]: row for row in rows}
    assert len(by_route) == len(rows)
    (form,) = told
    fields = [
        form.read(line) for line in log.read_bytes().splitlines() if line.strip() and not form.ignores(line)
    ]
    return Read(
        counts=reading.counts,
        formats=[form.name],
        rows=by_route,
        fields={each["uri"].partition("?")[0]: each for each in fields},
        dead_letters=store.rows(Query(sql="SELECT reason FROM dead_letters")),
    )
