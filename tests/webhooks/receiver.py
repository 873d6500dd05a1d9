"""A real HTTP receiver on this machine: it keeps what it is sent and answers what it is told to."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_LOOKS_SECONDS = 0.02  # how often it looks whether it is to end


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    path: str
    headers: dict
    body: bytes


class Receiver:
    """Answers are taken from `answers` one by one, the last for good: (status, headers, body), or a function of the handler.

    What its sender was killed in the middle of was not received.
    """

    def __init__(self, *answers, context=None):
        self.received = []
        self.answers = list(answers) or [(200, {}, b"ok")]
        self._guard = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                if len(body) < length:
                    self.close_connection = True
                    return
                with outer._guard:
                    outer.received.append(Received(path=self.path, headers=dict(self.headers), body=body))
                    answer = outer.answers[0] if len(outer.answers) == 1 else outer.answers.pop(0)
                if callable(answer):
                    answer(self)
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.scheme = "http"
        if context is not None:
            self.scheme = "https"
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.handle_error = lambda *words: None
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LOOKS_SECONDS,), daemon=True
        )

    @property
    def port(self):
        return self._server.server_address[1]

    def url(self, host="127.0.0.1", path="/hook"):
        return f"{self.scheme}://{host}:{self.port}{path}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *what):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
