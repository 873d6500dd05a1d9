"""A ClickHouse server that behaves as it is told: the loopback front of a folder, on a fixed port, for one account.

As a process: ``python -m tests.faults.misbehaving_server FOLDER PORT``. What it is to do stands in
FOLDER/behaviour.json and is read anew for each request: ``{"do": NAME, "at": REGEX, "times": N, "order": ID}``.
The first N requests whose statement matches are answered as NAME says, all others as they should be; each of the
former adds a line to FOLDER/misbehaved.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from fairclock.store import connection, front

USER, PASSWORD = "fairclock", "not-a-secret"
BEHAVIOUR, MISBEHAVED, SERVING = "behaviour.json", "misbehaved", "serving"
SLOW_SECONDS, HANG_SECONDS = 0.2, 1.0
_STATEMENT_BYTES = 4_096
_ERRORS = {
    "too many parts": (252, "TOO_MANY_PARTS"),
    "read only": (164, "READONLY"),
    "no memory": (241, "MEMORY_LIMIT_EXCEEDED"),
}
_HALF_WAY = "cut in the middle"


def _reset(handler):
    """Leave without an answer, as a server that died does."""
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.wfile = io.BytesIO()
    handler.connection.close()


def _run_unheard(handler, body):
    """Do what was asked for, and keep the answer."""
    heard, handler.wfile = handler.wfile, io.BytesIO()
    handler.run_query(body)
    handler.wfile = heard


def _refuse(handler, body):
    _reset(handler)


def _hang(handler, body):
    time.sleep(HANG_SECONDS)
    _reset(handler)


def _slow(handler, body):
    time.sleep(SLOW_SECONDS)
    handler.run_query(body)


def _store_and_cut(handler, body):
    _run_unheard(handler, body)
    _reset(handler)


def _store_and_fail(handler, body):
    _run_unheard(handler, body)
    handler._answer(500, b"<html><h1>500 Internal Server Error</h1>a proxy says so</html>")


def _gateway_timeout(handler, body):
    handler._answer(504, b"<html><h1>504 Gateway Time-out</h1></html>")


def _error(name):
    number, text = _ERRORS[name]

    def answer(handler, body):
        handler._answer(
            500, f"Code: {number}. DB::Exception: as the test wants it. ({text})".encode(), code=str(number)
        )

    return answer


BEHAVIOURS = {
    "refuse": _refuse,
    "hang": _hang,
    "slow": _slow,
    "store, then cut": _store_and_cut,
    "store, then answer 500": _store_and_fail,
    "answer 504": _gateway_timeout,
    **{name: _error(name) for name in _ERRORS},
}
ALL_BEHAVIOURS = (*BEHAVIOURS, _HALF_WAY)


class _Orders:
    """What stands in the folder, and how often it was obeyed."""

    def __init__(self, folder):
        self._folder = folder
        self._guard = threading.Lock()
        self._order, self._left = None, 0

    def next(self, statement, *, among):
        """Return what to do about `statement` if that is in `among`, else None."""
        with self._guard:
            try:
                told = json.loads((self._folder / BEHAVIOUR).read_text())
            except FileNotFoundError:
                return None
            if told["order"] != self._order:
                self._order, self._left = told["order"], told["times"]
            if not self._left or told["do"] not in among or not re.search(told["at"], statement):
                return None
            self._left -= 1
            with (self._folder / MISBEHAVED).open("a") as file:
                file.write(f"{told['do']}\n")
            return told["do"]


class _Handler(front._Handler):
    """Know the account as ClickHouse does; misbehave as told."""

    def do_POST(self):  # noqa: N802 - the base class names it so
        if self._is_known():
            del self.headers["Authorization"]
            self.headers["Authorization"] = f"Bearer {self.server.token}"
        super().do_POST()

    def _body(self):
        size = int(self.headers.get("Content-Length") or 0)
        if not size or self.headers.get("Content-Encoding"):
            return super()._body()
        half = self.rfile.read(size // 2)
        asked = dict(parse_qsl(urlsplit(self.path).query)).get("query", "")
        statement = asked + half[:_STATEMENT_BYTES].decode("utf-8", "replace")
        if self.server.orders.next(statement, among=(_HALF_WAY,)):
            _reset(self)
            return None
        return half + self.rfile.read(size - len(half))

    def _is_known(self):
        pair = self.headers.get("X-ClickHouse-User", ""), self.headers.get("X-ClickHouse-Key", "")
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        if kind == "Basic":
            name, _, password = base64.b64decode(value).decode().partition(":")
            pair = name, password
        return pair == (USER, PASSWORD)


class MisbehavingFront(front.Front):
    """The front on a port of the test's choice."""

    fixed_port = 0

    def __init__(self, folder, connection_string, port=0):
        super().__init__(folder, connection_string, self.fixed_port)
        self.RequestHandlerClass = _Handler
        self.orders = _Orders(folder)
        self.intercept = self._intercept

    def _intercept(self, handler, body):
        query = dict(parse_qsl(urlsplit(handler.path).query)).get("query", "")
        statement = query + body[:_STATEMENT_BYTES].decode("utf-8", "replace")
        told = self.orders.next(statement, among=BEHAVIOURS)
        if told is None:
            handler.run_query(body)
        else:
            BEHAVIOURS[told](handler, body)


def main(folder, port):
    """Serve until standard input ends."""
    from fairclock.store import open_store

    MisbehavingFront.fixed_port = int(port)
    connection.Front = MisbehavingFront
    with open_store(f"chdb://{Path(folder).resolve()}") as store:
        assert store.is_holder
        (Path(folder) / SERVING).write_text(str(os.getpid()))
        with suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
