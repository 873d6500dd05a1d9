"""One request after the other to a real server, over a connection that may end at any time."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from fairclock_vllm_plugin.settings import Settings, read_settings
from fairclock_vllm_plugin.transport import HttpTransport

PATIENCE_SECONDS = 120.0


@pytest.fixture
def server():
    """A server that answers with `plan`'s next (status, headers, body), 200 when that is used up, and notes requests."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.requests.append((self.path, dict(self.headers), body, self.client_address))
            status, headers, answer = found.plan.pop(0) if found.plan else (200, {}, b"")
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.plan, found.requests = [], []
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def transport_to(server, **changes):
    endpoint = read_settings({"FAIRCLOCK_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}"}).endpoint
    return HttpTransport(endpoint, Settings(endpoint=endpoint, **changes))


def test_requests_share_a_connection_and_carry_what_was_configured(server):
    transport = transport_to(server, headers=(("Authorization", "Bearer t"),))
    for number in range(3):
        assert transport.post(b"body%d" % number, timeout_seconds=PATIENCE_SECONDS).problem == ""
    transport.close()
    paths, headers, bodies, clients = zip(*server.requests, strict=True)
    assert set(paths) == {"/v1/logs"}
    assert bodies == (b"body0", b"body1", b"body2")
    assert len(set(clients)) == 1
    assert headers[0]["Authorization"] == "Bearer t"
    assert headers[0]["Content-Type"] == "application/x-protobuf"


@pytest.mark.parametrize(
    ("status", "headers", "again", "after"),
    [
        (503, {"Retry-After": "7"}, True, 7.0),
        (429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, True, 0.0),
        (502, {}, True, 0.0),
        (400, {}, False, 0.0),
        (404, {}, False, 0.0),
        (413, {}, False, 0.0),
        (302, {"Location": "http://127.0.0.1:1/"}, False, 0.0),
    ],
    ids=str,
)
def test_what_an_answer_means(server, status, headers, again, after):
    server.plan.append((status, headers, b"a text that is nobody's business"))
    transport = transport_to(server)
    answer = transport.post(b"x", timeout_seconds=PATIENCE_SECONDS)
    assert (answer.problem, answer.again, answer.after_seconds) == (f"HTTP {status}", again, after)
    assert transport.post(b"x", timeout_seconds=PATIENCE_SECONDS).problem == ""
    transport.close()


def test_a_connection_that_the_server_closed_meanwhile_costs_nothing(server):
    server.plan.append((200, {"Connection": "close"}, b"x" * 100_000))
    transport = transport_to(server)
    assert transport.post(b"1", timeout_seconds=PATIENCE_SECONDS).problem == ""
    transport._connection = transport._connection or transport._connect(PATIENCE_SECONDS)
    assert transport.post(b"2", timeout_seconds=PATIENCE_SECONDS).problem == ""
    transport.close()
    assert [request[2] for request in server.requests] == [b"1", b"2"]


def test_nobody_there_is_an_answer_too():
    # bound and listening to nobody: no other process can take it
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        transport = transport_to(SimpleNamespace(server_port=taken.getsockname()[1]))
        answer = transport.post(b"x", timeout_seconds=PATIENCE_SECONDS)
    assert answer.again
    assert answer.problem.startswith("ConnectionRefusedError")
