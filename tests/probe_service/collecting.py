"""A collector that takes what the plugin sends, and a client that watches a stream, and its own lag, by its own clock."""

import contextlib
import http.client
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from tests.plugin.stats import plain

PATIENCE_SECONDS = 120.0


@contextlib.contextmanager
def collector():
    """Its URL, and `finished()`: the attributes of every finished request by the engine's id."""
    bodies = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    def finished():
        found = {}
        for body in bodies:
            for logs in ExportLogsServiceRequest.FromString(body).resource_logs:
                for record in logs.scope_logs[0].log_records:
                    said = {each.key: plain(each.value) for each in record.attributes}
                    if said["event.name"] == "fairclock.request.finished":
                        found[said["gen_ai.request.id"]] = said
        return found

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", finished=finished)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Pulse:
    """A connection of its own on which the service is asked how it is: what that takes is the lag of the moment."""

    def __init__(self, port):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        self.lag_since(time.monotonic())

    def lag_since(self, instant):
        """How long after `instant`, of the client's clock, client and service have answered each other."""
        self._connection.request("GET", "/healthz")
        self._connection.getresponse().read()
        return time.monotonic() - instant

    def close(self):
        self._connection.close()


class Asked:
    """One request, sent when made; `sent` is the client's clock, monotonic."""

    def __init__(self, port, path="/v1/completions", *, request_id, method="POST", **content):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        self._connection.connect()
        body = json.dumps({"model": "tiny", "ignore_eos": True, **content})
        headers = {"Content-Type": "application/json", "X-Request-Id": request_id}
        self.request_id = request_id
        self.sent = time.monotonic()
        self._connection.request(method, path, body, headers)

    def answer(self):
        """The whole answer: status, headers, text."""
        response = self._connection.getresponse()
        text = response.read().decode()
        self._connection.close()
        return SimpleNamespace(status=response.status, headers=response.headers, text=text)

    def behind(self):
        """How many events of the stream have come that `events` has not given yet: it grows while this client stands still."""
        came = self._connection.sock
        came.settimeout(0)  # what is looked at is not waited for
        waiting = self._response.fp.peek()
        with contextlib.suppress(BlockingIOError):
            waiting += came.recv(1 << 20, socket.MSG_PEEK)
        came.settimeout(PATIENCE_SECONDS)
        return waiting.count(b"data: ")

    def events(self):
        """Each event of a stream as (monotonic instant, kind, data)."""
        self._response = response = self._connection.getresponse()
        kind = ""
        for line in response:
            now = time.monotonic()
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                yield now, kind, value
                kind = ""
        self._connection.close()

    def leave(self):
        self._connection.close()
