"""The shipped nginx snippet, in a real nginx, before a stand-in for the engine that can dawdle."""

import contextlib
import json
import re
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from collectors.gateway.nginx import SNIPPET_FILES, copy_snippet, snippet_directory
from fairclock.demo.live.gateway import METERED_BURST, METERED_TENANT, running_gateway
from fairclock.demo.live.programs import find_nginx, free_port

pytestmark = pytest.mark.integration

ALWAYS = [
    "time",
    "request_id",
    "traceparent",
    "tenant",
    "method",
    "uri",
    "status",
    "request_time",
    "request_completion",
    "limit_req_status",
    "limit_conn_status",
    "connection_time",
    "connection_requests",
    "upstream_addr",
    "upstream_status",
    "upstream_connect_time",
    "upstream_header_time",
    "upstream_response_time",
    "x_request_start",
    "request_length",
    "bytes_sent",
    "server",
]
TENANTS = {"sk-acme": "acme", "sk-" + "x" * 90: "long", "sk-bursty": METERED_TENANT}
PATIENCE_SECONDS = 120


class _Engine(BaseHTTPRequestHandler):
    """Answers /v1/plain at once and /v1/never only when told to; /v1/stream sends one chunk, then waits."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append(dict(self.headers.items()))
        if self.path.startswith("/v1/never"):
            self.server.release.wait(PATIENCE_SECONDS)
        streams = self.path.startswith("/v1/stream")
        self.send_response(400 if self.path.startswith("/v1/bad") else 200)
        self.send_header(
            "Content-Type", "text/event-stream; charset=utf-8" if streams else "application/json"
        )
        if streams:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"8\r\ndata: 1\n\r\n")
            self.wfile.flush()
            if self.path.endswith("dies"):
                self.close_connection = True
                return
            self.server.release.wait(PATIENCE_SECONDS)
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


class _Rig:
    def __init__(self, gateway, engine):
        self.gateway, self.engine = gateway, engine
        self.read = 0

    @property
    def forwarded(self):
        return self.engine.seen[-1]

    def get(self, path, **headers):
        return httpx.get(self.gateway.url + path, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False)

    def line(self):
        """Return the next line of the log, which nginx writes when the request has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            lines = self.gateway.log.read_text().splitlines()
            if len(lines) > self.read:
                self.read += 1
                return json.loads(lines[self.read - 1])
            time.sleep(0.01)
        raise AssertionError("nginx logged nothing")

    def reload(self):
        """Make nginx read its files again; requests still reach the old worker for a moment."""
        folder = str(self.gateway.log.parent)
        subprocess.run([find_nginx(), "-p", folder, "-c", f"{folder}/nginx.conf", "-s", "reload"], check=True)

    def soon(self, is_wanted, **headers):
        """Return the log line of the first of several equal requests that is as wanted, or the last line."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self.get("/v1/plain", **headers)
            if is_wanted(line := self.line()):
                break
        return line

    def leave(self, path, *, after):
        """Send a request on a connection of its own and close it once `after` has been received."""
        host, port = self.gateway.url.removeprefix("http://").split(":")
        seen = len(self.engine.seen)
        with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: live\r\n\r\n".encode())
            got = b""
            while after not in got:
                got += client.recv(65536)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while len(self.engine.seen) == seen and time.monotonic() < deadline:
                time.sleep(0.01)


@pytest.fixture
def rig(tmp_path):
    engine = ThreadingHTTPServer(("127.0.0.1", 0), _Engine)
    engine.seen, engine.release = [], threading.Event()
    thread = threading.Thread(target=engine.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        with running_gateway(
            directory=tmp_path / "a folder",
            port=free_port(),
            engine_url=f"http://127.0.0.1:{engine.server_address[1]}",
            tenants=TENANTS,
        ) as gateway:
            yield _Rig(gateway, engine)
            engine.release.set()
    finally:
        engine.release.set()
        engine.shutdown()
        engine.server_close()
        thread.join()


def test_the_log_has_every_key_that_nginx_can_know_in_order(rig):
    rig.get("/v1/plain")
    line = rig.line()
    assert list(line)[: len(ALWAYS)] == ALWAYS
    assert all(isinstance(value, str) for value in line.values())
    assert (line["status"], line["request_completion"], line["method"]) == ("200", "OK", "GET")
    assert line["upstream_status"] == "200"


def test_the_engine_gets_the_trace_and_the_id_that_are_logged(rig):
    rig.get("/v1/plain", **{"X-Request-Id": "order-7"})
    line = rig.line()
    assert line["request_id"] == rig.forwarded["X-Request-Id"] == "order-7"
    assert line["traceparent"] == rig.forwarded["traceparent"]
    version, trace, span, flags = line["traceparent"].split("-")
    assert (version, flags) == ("00", "01")
    assert re.fullmatch("[0-9a-f]{32}", trace)
    assert re.fullmatch("[0-9a-f]{16}", span)
    assert int(span, 16) != 0


def test_a_request_without_an_id_gets_the_trace_as_its_id(rig):
    rig.get("/v1/plain")
    line = rig.line()
    assert line["request_id"] == rig.forwarded["X-Request-Id"] == line["traceparent"].split("-")[1]


@pytest.mark.parametrize(
    "given",
    ["x" * 129, "two words", "caf\u00e9".encode(), ""],
    ids=["too long", "with a space", "beyond ascii", "empty"],
)
def test_an_id_that_is_not_short_plain_text_is_replaced(rig, given):
    rig.get("/v1/plain", **{"X-Request-Id": given})
    line = rig.line()
    assert re.fullmatch("[0-9a-f]{32}", line["request_id"])
    assert rig.forwarded["X-Request-Id"] == line["request_id"]


def test_a_client_cannot_choose_the_trace_or_switch_the_span_off(rig):
    theirs = "00-11111111111111111111111111111111-2222222222222222-00"
    rig.get("/v1/plain", traceparent=theirs, tracestate="vendor=1")
    assert rig.line()["traceparent"] == rig.forwarded["traceparent"] != theirs
    assert rig.forwarded["traceparent"].endswith("-01")
    assert "tracestate" not in rig.forwarded


@pytest.mark.parametrize(
    ("headers", "tenant"),
    [
        ({}, ""),
        ({"X-Tenant": "acme"}, ""),
        ({"Authorization": "Bearer sk-acme"}, "acme"),
        ({"Authorization": "bearer sk-acme"}, "acme"),
        ({"Authorization": "Bearer sk-" + "x" * 90}, "long"),
        ({"Authorization": "Bearer sk-acme", "X-Tenant": "other"}, "acme"),
        ({"Authorization": "Bearer sk-unknown", "X-Tenant": "acme"}, ""),
        ({"Authorization": "Basic sk-acme"}, ""),
    ],
    ids=[
        "nobody without a key",
        "nobody by header alone",
        "the key's owner",
        "the scheme in any case",
        "a long key",
        "the key's owner whatever the header says",
        "nobody with a key nobody has",
        "nobody by another scheme",
    ],
)
def test_the_tenant_is(rig, headers, tenant):
    rig.get("/v1/plain", **headers)
    assert rig.line()["tenant"] == tenant


def test_a_trusted_proxy_names_the_tenant_and_the_start(rig):
    folder = rig.gateway.log.parent
    (folder / "fairclock/trusted-proxies.geo").write_text("127.0.0.1/32 1;\n")
    rig.reload()
    headers = {
        "X-Tenant": "\u91d1\u878d \"'; DROP TABLE requests; --".encode(),
        "X-Request-Start": "t=1795986075.300",
    }
    line = rig.soon(lambda line: line["tenant"], **headers)
    assert line["tenant"] == "\u91d1\u878d \"'; DROP TABLE requests; --"
    assert line["x_request_start"] == "t=1795986075.300"


def test_an_untrusted_client_names_no_start(rig):
    rig.get("/v1/plain", **{"X-Request-Start": "t=1"})
    assert rig.line()["x_request_start"] == ""


def test_the_query_is_never_logged(rig):
    rig.get("/v1/plain/a%22b?prompt=hunter2")
    assert rig.line()["uri"] == "/v1/plain/a%22b"
    assert "hunter2" not in rig.gateway.log.read_text()


def test_a_client_that_leaves_before_the_answer_is_499(rig):
    rig.leave("/v1/never", after=b"")
    line = rig.line()
    assert (line["status"], line["request_completion"], line["stream"]) == ("499", "", "")


def test_a_client_that_leaves_in_the_middle_of_a_stream_is_200_and_not_completed(rig):
    rig.leave("/v1/stream", after=b"data: 1")
    line = rig.line()
    assert (line["status"], line["request_completion"], line["stream"]) == ("200", "", "true")


def test_an_engine_that_dies_in_the_middle_of_a_stream_looks_complete_to_nginx(rig):
    with contextlib.suppress(httpx.RemoteProtocolError):
        rig.get("/v1/stream/dies")
    line = rig.line()
    # docs/gateway-nginx.md says so; the request is then ok without an engine row, counted as unconfirmed
    assert (line["status"], line["request_completion"]) == ("200", "OK")


def test_a_server_of_one_tenant_can_name_it(rig):
    assert rig.get("/v1/plain").status_code == 200
    rig.line()
    configuration = rig.gateway.log.parent / "nginx.conf"
    configuration.write_text(
        configuration.read_text().replace(
            "server_name live;", "server_name live; set $fairclock_tenant acme;"
        )
    )
    rig.reload()
    assert rig.soon(lambda line: line["tenant"] == "acme")["tenant"] == "acme"


@pytest.mark.parametrize(
    ("path", "stream"),
    [("/v1/plain", "false"), ("/v1/bad", "")],
    ids=["known not to be one when answered whole", "unknown when the answer is an error"],
)
def test_a_stream_is(rig, path, stream):
    rig.get(path)
    assert rig.line()["stream"] == stream


def test_a_refused_request_says_so(rig):
    began, statuses = time.monotonic(), []
    while 503 not in statuses and time.monotonic() - began < PATIENCE_SECONDS:
        statuses.append(rig.get("/v1/completions", Authorization="Bearer sk-bursty").status_code)
    # one more is let through for every three seconds that this machine takes for them
    most = METERED_BURST + 1 + (time.monotonic() - began) // 3
    assert METERED_BURST + 1 <= statuses.count(200) <= most
    assert statuses == [200] * (len(statuses) - 1) + [503]
    lines = [rig.line() for _ in statuses]
    assert [line["limit_req_status"] for line in lines] == ["PASSED"] * (len(lines) - 1) + ["REJECTED"]
    assert lines[-1]["upstream_status"] == ""


def test_the_files_as_shipped_pass_nginx_own_check(tmp_path):
    copy_snippet(tmp_path)
    configuration = tmp_path / "nginx.conf"
    configuration.write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ include fairclock/fairclock.conf;"
        f"server {{ listen 127.0.0.1:{free_port()}; access_log {tmp_path}/log fairclock;"
        "location / { include fairclock/location.conf; proxy_pass http://127.0.0.1:9; } } }"
    )
    for conf in ("connection-time.conf", "connection-time-unknown.conf"):
        main = tmp_path / "fairclock/fairclock.conf"
        main.write_text(
            main.read_text().replace("include fairclock/connection-time.conf", f"include fairclock/{conf}")
        )
        done = subprocess.run(
            [find_nginx(), "-t", "-p", str(tmp_path), "-c", str(configuration)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_only_one_file_needs_a_newer_nginx_than_1_18():
    using = [
        name
        for name in SNIPPET_FILES
        if re.search(r"^[^#]*\$connection_time\b", (snippet_directory() / name).read_text(), re.MULTILINE)
    ]
    assert using == ["connection-time.conf"]


def test_a_second_copy_keeps_what_the_operator_wrote(tmp_path):
    folder = copy_snippet(tmp_path)
    (folder / "tenants.map").write_text('"sk-acme" acme;\n')
    (folder / "fairclock.conf").write_text("old")
    copy_snippet(tmp_path)
    assert (folder / "tenants.map").read_text() == '"sk-acme" acme;\n'
    assert (folder / "fairclock.conf").read_text() == (snippet_directory() / "fairclock.conf").read_text()
    assert (folder / "tenants.map").stat().st_mode & 0o777 == 0o600
