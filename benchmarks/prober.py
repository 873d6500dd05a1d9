"""Measure the prober against a trivial server: how late it is at 1,000 requests/s, and what it adds to the time to first token.

The server is a process of its own. The other client is a plain socket in a loop that does nothing but wait for the first
byte of the first token; both ask the same server at the same slow rate, in turns, so that neither queues.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.measuring import Figure
from inference_probe.prober.asking import Asker
from inference_probe.prober.connections import Connections
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.latencies import latencies
from inference_probe.prober.lateness import measured
from inference_probe.prober.plans import Asking
from inference_probe.prober.running import run_open
from inference_probe.prober.schedules import constant

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path

    from inference_probe.prober.endpoints import Endpoint
    from inference_probe.prober.running import Ran

_RATE, _SECONDS = 1_000, 10
_MEDIAN_LATENESS_SECONDS = 0.010
_TURNS = 1_000
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def _event(content: bytes) -> bytes:
    line = b"data: " + content + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(line), line)


_ANSWER = (
    _HEAD
    + _event(b'{"choices":[{"delta":{"role":"assistant","content":""}}],"usage":{"completion_tokens":0}}')
    + b"".join(
        _event(b'{"choices":[{"delta":{"content":"x"}}],"usage":{"completion_tokens":%d}}' % count)
        for count in range(1, 5)
    )
    + _event(b'{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}')
    + _event(b"[DONE]")
    + b"0\r\n\r\n"
)


class _Trivial(asyncio.Protocol):
    """Answer every request with the same bytes at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            at = self._buffer.find(b"Content-Length: ")
            length = int(self._buffer[at + 16 : self._buffer.find(b"\r\n", at)])
            if len(self._buffer) < end + 4 + length:
                return
            self._buffer = self._buffer[end + 4 + length :]
            self._transport.write(_ANSWER)  # type: ignore[attr-defined]


def _serve(told: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_Trivial, "127.0.0.1", 0, backlog=4096)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


def figures(folder: Path) -> list[Figure]:
    """Return the lateness at 1,000 requests/s, with connections kept and fresh, and the overhead on the first token."""
    del folder
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=_serve, args=(there,), daemon=True)
    server.start()
    try:
        port = here.recv()
        place = endpoint(f"http://127.0.0.1:{port}")
        found = [_lateness(place, fresh=False), _lateness(place, fresh=True)]
        return [*found, _overhead(place, port)]
    finally:
        server.terminate()
        server.join()


def _run(place: Endpoint, *, rate: float, seconds: float, fresh: bool) -> Ran:
    asking = Asking(run="benchmark", model="m", tenant="fairclock-probe")
    arrivals = constant(rate=rate, duration_seconds=seconds)
    questions = list(asking.questions(place, arrivals))

    async def run() -> Ran:
        connections = Connections(place, reuses=not fresh)
        try:
            started = asyncio.get_running_loop().time() + 0.1
            return await run_open(Asker(connections), arrivals, questions, started=started)
        finally:
            connections.close()

    return asyncio.run(run())


def _lateness(place: Endpoint, *, fresh: bool) -> Figure:
    cpu = time.process_time()
    ran = _run(place, rate=_RATE, seconds=_SECONDS, fresh=fresh)
    cpu = time.process_time() - cpu
    itself = measured(ran.seen, ran.lags, bound_seconds=1.0)
    late, lag = itself.lateness.tree(), itself.lag.tree()
    failed = sum(each.outcome.value != "ok" for each in ran.seen)
    return Figure(
        what=f"prober, {_RATE:,} requests/s for {_SECONDS} s, {'fresh' if fresh else 'kept'} connections: lateness",
        measured=f"median {late['p50'] * 1e3:.2f} ms, P99 {late['p99'] * 1e3:.2f} ms, loop lag P99 {lag['p99'] * 1e3:.2f} ms, "
        f"{failed} failed, {cpu / len(ran.seen) * 1e6:.0f} µs CPU a request",
        target="median < 10 ms",
        met=late["p50"] < _MEDIAN_LATENESS_SECONDS and not failed,
        rows_per_second=len(ran.seen) / _SECONDS,
    )


def _overhead(place: Endpoint, port: int) -> Figure:
    ran = _run(place, rate=200, seconds=_TURNS / 200, fresh=False)
    ours = latencies(ran.seen, "time_to_first_token")
    from_sent = statistics.median(
        each.first_token - each.sent
        for each in ran.seen
        if each.first_token is not None and each.sent is not None
    )
    plain = statistics.median(_plain(place, port))
    middle = ours.at("50") or 0.0
    return Figure(
        what="prober, time to first token against a plain socket",
        measured=f"median {middle * 1e3:.3f} ms from the intended start, {from_sent * 1e3:.3f} ms from sending; "
        f"plain socket {plain * 1e3:.3f} ms: {(middle - plain) * 1e3:+.3f} ms",
    )


def _plain(place: Endpoint, port: int) -> list[float]:
    asking = Asking(run="plain", model="m", tenant="fairclock-probe")
    request = asking.question(place, 0, prompt="x " * 50, completion_tokens=4).request
    found = []
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(_TURNS):
            time.sleep(1 / 200)
            begun = time.perf_counter()
            plain.sendall(request)
            data = b""
            while b'"content":"x"' not in data:
                data += plain.recv(65536)
            found.append(time.perf_counter() - begun)
            while not data.endswith(b"0\r\n\r\n"):
                data += plain.recv(65536)
    return found
