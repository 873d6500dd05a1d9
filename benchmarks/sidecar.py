"""Own what a sidecar and an ``up`` cost: memory and CPU at rest, and how fast a backlog is forwarded."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import Figure
from benchmarks.sample import gateway_line, requests
from exporters.forwarding.batches import decode_batch

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).parents[1]
_SIDECAR_BYTES = 80_000_000
_UP_BYTES = 500_000_000
_REST_SECONDS = 10.0
_LINES = 300_000
_PATIENCE_SECONDS = 120.0
_EVERYTHING = ("--syslog-udp", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")


class _Taker(BaseHTTPRequestHandler):
    """Take every batch as `fairclock up` does, and keep nothing."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Stay quiet."""

    def do_POST(self) -> None:
        """Confirm the frames."""
        frames = decode_batch(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.taken:
            self.server.lines += sum(frame.payload.count(b"\n") for frame in frames)
            self.server.taken.notify_all()
        body = b'{"frames": %d}' % len(frames)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taker)
        self.taken = threading.Condition()
        self.lines = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


def figures(folder: Path) -> list[Figure]:
    """Return the rows of the table."""
    log = folder / "access.log"
    log.touch()
    server = _Server()
    following = ("collect", "gateway", "--file", log, "--to", server.url)
    everything = ("collect", "gateway", "otlp", *following[2:], *_EVERYTHING, "--listen", "127.0.0.1:0")
    rows = [
        *_at_rest("a sidecar that follows a log", following, folder / "a", _SIDECAR_BYTES),
        *_at_rest("a sidecar with syslog, OTLP and figures", everything, folder / "b", _SIDECAR_BYTES),
        *_at_rest(
            "up on an empty store", ("up", *_EVERYTHING, "--listen", "127.0.0.1:0"), folder / "c", _UP_BYTES
        ),
        _backlog(server, following, log, folder / "d"),
    ]
    server.shutdown()
    return rows


@contextmanager
def _running(words: tuple[object, ...], folder: Path) -> Iterator[int]:
    """Run a command and yield its process id."""
    folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FAIRCLOCK_")}
    environment |= {"XDG_DATA_HOME": str(folder), "FAIRCLOCK_TOKEN": "fct_none", "PYTHONPATH": str(_ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "fairclock", *map(str, words)],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        assert process.stderr.readline(), "it did not start"
        yield process.pid
    finally:
        process.terminate()
        process.communicate()


def _at_rest(name: str, words: tuple[object, ...], folder: Path, most_bytes: int) -> list[Figure]:
    with _running(words, folder) as pid:
        time.sleep(_REST_SECONDS / 2)
        before = _cpu_seconds(pid)
        time.sleep(_REST_SECONDS)
        share = (_cpu_seconds(pid) - before) / _REST_SECONDS
        used = _resident_bytes(pid)
    return [
        Figure(
            what=f"memory at rest: {name}",
            measured=f"{used / 1e6:.0f} MB",
            target=f"<= {most_bytes / 1e6:.0f} MB",
            met=used <= most_bytes,
        ),
        Figure(what=f"CPU at rest: {name}", measured=f"{share:.1%} of a core"),
    ]


def _backlog(server: _Server, words: tuple[object, ...], log: Path, folder: Path) -> Figure:
    log.write_bytes(b"".join(gateway_line(request) + b"\n" for request in requests(_LINES, seed=5)))
    server.lines, started = 0, time.perf_counter()
    with _running(words, folder) as pid:
        with server.taken:
            done = server.taken.wait_for(lambda: server.lines >= _LINES, _PATIENCE_SECONDS)
        seconds, cpu_seconds = time.perf_counter() - started, _cpu_seconds(pid)
    measured = f"{_LINES / seconds:,.0f} lines/s, {_LINES / cpu_seconds:,.0f} a second of CPU"
    return Figure(
        what="a log forwarded, start of the sidecar included", measured=measured if done else "not in time"
    )


def _resident_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    line = next(each for each in status.splitlines() if each.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
