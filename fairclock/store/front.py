"""Own the loopback front: ClickHouse's HTTP interface over the engine that this process holds.

chDB lets one process work on a folder. That process serves the folder on 127.0.0.1, guarded by a token in
the folder (mode 0600), so that every other command works beside it through the same client library.
Spoken is what clickhouse-connect needs: queries with ``param_*`` and settings, inserts with a body, Native
and text formats, errors with their code.
"""

from __future__ import annotations

import gzip
import hmac
import json
import os
import re
import secrets
import socket
import socketserver
import tempfile
import threading
import zlib
from contextlib import suppress
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FRONT_FILE = "front.json"
SCRATCH = "scratch"
_HELD_BACK_BYTES = 16 * 1024 * 1024
_GRACE_SECONDS = 30.0

# What the HTTP interface takes for itself and is no setting of the engine.
_TRANSPORT = frozenset(
    {
        "query", "database", "default_format", "query_id", "session_id", "session_timeout", "session_check",
        "quota_key", "compress", "decompress", "wait_end_of_query", "client_protocol_version", "role",
        "send_progress_in_http_headers", "http_headers_progress_interval_ms", "enable_http_compression",
        "buffer_size", "user", "password",
    }
)  # fmt: skip
_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_INSERT_WITH_DATA = re.compile(
    rb"\A\s*(INSERT\s+INTO\s+.+?)\s+(SETTINGS\s+[^\n]+?\s+)?FORMAT\s+(\w+)[ \t]*(?:\n|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_SELECT = re.compile(r"\A\s*(?:SELECT|WITH|SHOW|DESC|DESCRIBE|EXPLAIN|EXISTS)\b", re.IGNORECASE)
_STREAMABLE = re.compile(r"\A\s*(?:SELECT|WITH)\b", re.IGNORECASE)
_FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*;?\s*\Z", re.IGNORECASE)
_ERROR_CODE = re.compile(r"Code: (\d+)")
_STREAMED = frozenset({"Native", "TabSeparated", "TSV", "CSV", "RowBinary", "JSONEachRow"})


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


class EngineSession:
    """One thread's handle to the engine of this process."""

    def __init__(self, connection_string: str) -> None:
        """Open the handle."""
        import chdb  # noqa: PLC0415 - the engine is half a gigabyte; a sidecar never loads it

        self._connection = chdb.connect(connection_string)
        self._settings: dict[str, str] = {}

    def close(self) -> None:
        """Close the handle."""
        self._connection.close()

    def apply(self, settings: Mapping[str, str]) -> None:
        """Set what the client asks for; it stays for the connection, whose client does not change its mind."""
        for name, value in settings.items():
            if self._settings.get(name) != value:
                self._connection.query(f"SET {name} = {_quoted(value)}", "TabSeparated")
                self._settings[name] = value

    def run(self, sql: str, output: str, parameters: dict[str, str], database: str) -> Iterator[bytes]:
        """Yield the result of `sql` as `output`, block by block where the format allows it."""
        if database:
            self._connection.query(f"USE `{database.replace('`', '')}`", "TabSeparated")
        if output in _STREAMED and _STREAMABLE.match(sql):
            stream = self._connection.send_query(sql, output, params=parameters)
            try:
                for block in stream:
                    yield block.bytes()
            finally:
                stream.close()  # type: ignore[no-untyped-call]
        else:
            yield self._connection.query(sql, output, params=parameters).bytes() or b""


class _Handler(BaseHTTPRequestHandler):
    """Answer one client's connection; the server gives each connection a thread, and so an engine handle."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer goes in pieces, and each would wait 40 ms for the one before
    server: Front
    _session: EngineSession | None = None

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Stay quiet: the callers report their own errors."""

    def handle(self) -> None:
        """Serve the connection until the client, or `Front.stop`, ends it; close the engine handle with it."""
        try:
            super().handle()
        finally:
            if self._session is not None:
                self._session.close()

    def do_GET(self) -> None:
        """Answer ``/ping`` without a token, queries with one."""
        if urlsplit(self.path).path == "/ping":
            self._answer(200, b"Ok.\n")
        else:
            self.do_POST()

    def do_POST(self) -> None:
        """Run one query or insert; one that did not come whole is neither run nor answered."""
        body = self._body()
        if body is None:
            return
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not hmac.compare_digest(bearer.encode(), self.server.token.encode()):
            self._answer(
                403,
                b"Code: 516. DB::Exception: the token is not this store's. (AUTHENTICATION_FAILED)",
                code="516",
            )
            return
        self.server.intercept(self, body)

    def run_query(self, body: bytes) -> None:
        """Run what the request asks for and stream the answer."""
        pairs = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        if self.headers.get_content_type() == "multipart/form-data":  # parameters too long for an address
            pairs |= _form_fields(self.headers["Content-Type"], body)
            body = b""
        text = pairs.get("query", "").encode()
        data = text + b"\n" + body if text.strip() and body else text + body
        parameters = {name[6:]: value for name, value in pairs.items() if name.startswith("param_")}
        settings = {
            name: value
            for name, value in pairs.items()
            if name not in _TRANSPORT and not name.startswith("param_") and _NAME.match(name)
        }
        temporary: Path | None = None
        try:
            if self._session is None:
                self._session = EngineSession(self.server.connection_string)
            self._session.apply(settings)
            insert = _INSERT_WITH_DATA.match(data)
            if insert and data[insert.end() :]:
                with tempfile.NamedTemporaryFile(dir=self.server.scratch, delete=False) as file:
                    temporary = Path(file.name)
                    file.write(data[insert.end() :])
                sql = (
                    f"{insert[1].decode()} FROM INFILE {_quoted(str(temporary))} FORMAT {insert[3].decode()}"
                )
                wanted = "TabSeparated"
            else:
                sql = data.decode("utf-8").strip().rstrip(";")
                named = _FORMAT.search(sql)
                wanted = named[1] if named else pairs.get("default_format", "TabSeparated")
            self._stream(self._session.run(sql, wanted, parameters, pairs.get("database", "")), wanted)
        except Exception as error:  # noqa: BLE001 - every engine error is an answer
            text_of = str(error)
            code = _ERROR_CODE.search(text_of)
            self._answer(
                500,
                text_of[text_of.find("Code:") if code else 0 :].encode(),
                code=code[1] if code else "1002",
            )
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)

    def _stream(self, blocks: Iterator[bytes], output: str) -> None:
        """Answer with `blocks`; the first megabytes are held back, so that an error in them is told as one."""
        held: list[bytes] = []
        size = 0
        for block in blocks:
            held.append(block)
            size += len(block)
            if size > _HELD_BACK_BYTES:
                break
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("X-ClickHouse-Query-Id", str(uuid4()))
        self.send_header("X-ClickHouse-Format", output)
        self.send_header("X-ClickHouse-Timezone", "UTC")
        self.send_header("X-ClickHouse-Summary", json.dumps({"read_rows": "0", "written_rows": "0"}))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for block in chain(held, blocks):
                if block:
                    self.wfile.write(f"{len(block):x}\r\n".encode() + block + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
        except Exception:  # noqa: BLE001 - the status line is out: a cut connection is the only honest answer
            self.close_connection = True

    def _body(self) -> bytes | None:
        """Return what the request holds, unpacked; None where it cannot be run."""
        try:
            raw = self._read_whole()
        except EOFError:
            # the client went away, or `stop` let no more in: half of a query is another query, and an empty one succeeds
            self.close_connection = True
            return None
        encoding = self.headers.get("Content-Encoding", "identity")
        if encoding in {"identity", ""}:
            return raw
        if encoding == "gzip":
            return gzip.decompress(raw)
        if encoding == "deflate":
            return zlib.decompress(raw)
        self._answer(
            400,
            f"Code: 36. DB::Exception: content encoding {encoding} is not spoken here. (BAD_ARGUMENTS)".encode(),
            code="36",
        )
        return None

    def _read_whole(self) -> bytes:
        """Return the body as it was sent; EOFError where it ends early."""

        def read(size: int) -> bytes:
            found = self.rfile.read(size)
            if len(found) < size:
                raise EOFError
            return found

        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while True:
            line = self.rfile.readline()
            if not line.endswith(b"\n"):
                raise EOFError
            size = int(line.split(b";")[0], 16)
            parts.append(read(size))
            if not self.rfile.readline().endswith(b"\n"):
                raise EOFError
            if not size:
                return b"".join(parts)

    def _answer(self, status: int, body: bytes, code: str | None = None) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-ClickHouse-Exception-Code", code)
        self.send_header("Content-Type", "text/plain; charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _form_fields(content_type: str, body: bytes) -> dict[str, str]:
    """Return the fields of a multipart form: clickhouse-connect sends long parameters so."""
    message = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    fields: dict[str, str] = {}
    for part in message.walk():
        name = part.get_param("name", header="content-disposition")
        if isinstance(name, str):
            payload = part.get_payload(decode=True)
            fields[name] = payload.decode("utf-8") if isinstance(payload, bytes) else ""
    return fields


class Front(ThreadingHTTPServer):
    """Serve the engine of this process on 127.0.0.1 until `stop`.

    `intercept(handler, body)` runs each request; tests replace it to play a server that refuses, hangs,
    cuts a connection, or answers 500 after it stored the rows.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, folder: Path, connection_string: str, port: int = 0) -> None:
        """Bind a free port of 127.0.0.1 (or `port`) and write the token file into `folder`."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.folder = folder
        self.connection_string = connection_string
        self.token = secrets.token_urlsafe(32)
        self.scratch = folder / SCRATCH
        self.scratch.mkdir(mode=0o700, exist_ok=True)
        self.guard = threading.Lock()
        self.open_connections: dict[socket.socket, threading.Thread] = {}
        self.intercept: Callable[[Any, bytes], None] = lambda handler, body: handler.run_query(body)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let a client that went away go."""

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread for the connection, which is known before it runs: `stop` must wait for it."""
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        with self.guard:
            self.open_connections[request] = thread
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads
            with self.guard:
                del self.open_connections[request]
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve the connection, and forget it."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.guard:
                del self.open_connections[request]

    def server_bind(self) -> None:
        """Bind without the reverse look-up of the standard library's server."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    @property
    def port(self) -> int:
        """Return the port that was bound."""
        return int(self.server_address[1])

    def start(self) -> None:
        """Serve in a thread and tell others where."""
        self._thread.start()
        note = json.dumps({"port": self.port, "token": self.token, "pid": os.getpid()})
        path = self.folder / FRONT_FILE
        partial = self.folder / f".{FRONT_FILE}.{os.getpid()}"
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(note)
        partial.replace(path)

    def stop(self) -> None:
        """Take the note away, stop accepting, let the requests under way end, and wait for their threads.

        A thread that outlived its engine would take the process down with it.
        """
        with suppress(FileNotFoundError):
            (self.folder / FRONT_FILE).unlink()
        self.shutdown()
        self.server_close()
        with self.guard:
            remaining = dict(self.open_connections)
        for connection in remaining:
            with suppress(OSError):
                connection.shutdown(
                    socket.SHUT_RD
                )  # an idle connection reads its end; a busy one answers first
        for thread in remaining.values():
            thread.join(_GRACE_SECONDS)  # a stopped client must not keep the folder for ever
