"""A real nginx writes one request in several log_formats at once: all of them are read to the same request."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time

import pytest

from collectors.gateway.formats import FormatChoice, format_of
from collectors.gateway.formats.nginx import INGRESS
from fairclock.demo.live.programs import find_nginx, free_port

pytestmark = pytest.mark.integration

PATIENCE_SECONDS = 120
FORMATS = {
    "text": "log_format text '$remote_addr - $remote_user [$time_iso8601] \"$request\" $status $msec $request_time '\n"
    '  \'"$http_user_agent" "$http_x_request_id" [$upstream_addr] $upstream_status $upstream_response_time \'\n'
    "  '$request_length $bytes_sent \"$http_authorization\" $request_completion';",
    "own_json": 'log_format own_json escape=json \'{"at":$msec,"took":$request_time,"code":$status,"ua":"$http_user_agent",\'\n'
    '  \'"id":"$http_x_request_id","up":"$upstream_addr","ups":"$upstream_status","upt":"$upstream_response_time",\'\n'
    '  \'"in":$request_length,"out":$bytes_sent,"req":"$request","done":"$request_completion"}\';',
    "bare": "log_format bare escape=none '$msec $status $request_time $request_length $bytes_sent $http_x_request_id';",
}
HOSTILE = [
    pytest.param(b"/v1/ok", b"plain", b"curl/8.5.0", id="plain"),
    pytest.param(b"/v1/ok?key=sk-secret", b'a "quoted" [id]', b'x" 200 0.001 "', id="quotes and brackets"),
    pytest.param(b"/v1/ok", b"\\x22 \\u0041 \\", b"\\", id="backslashes"),
    pytest.param(b"/v1/ok", "请求-7 é".encode(), b"\xff\xfe", id="UTF-8, and bytes that are none"),
    pytest.param(b"/v1/ok", b"a\tb \x7f", b"", id="controls"),
    pytest.param(b"/v1/dead", b"retried", b"-", id="an upstream that does not answer"),
    pytest.param(b"/none", b"", b"%s", id="no upstream at all"),
]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nginx")
    port, engine, dead = free_port(), free_port(), free_port()
    user = "user root root;" if os.geteuid() == 0 else ""
    shared = (
        f"log_format ingress '{INGRESS.replace('$req_id', '$request_id')}'; log_format shipped escape=json "
    )
    shipped = '\'{"time":"$msec","request_id":"$http_x_request_id","status":"$status","request_time":"$request_time"}\';'
    places = "proxy_pass http://pool; proxy_connect_timeout 1s;"
    logs = "".join(f"access_log {folder}/{name}.log {name};" for name in (*FORMATS, "ingress", "shipped"))
    upstreams = f"upstream pool {{ server 127.0.0.1:{engine}; }} upstream dead {{ server 127.0.0.1:{dead}; server 127.0.0.1:{engine}; }}"
    # what is only in ingress-nginx
    ours = "map $host $proxy_upstream_name { default inference-vllm-8000; } map $host $proxy_alternative_upstream_name { default ''; }"
    ours = ours.replace("$proxy_upstream_name", "$ingress_upstream").replace(
        "$proxy_alternative_upstream_name", "$ingress_other"
    )
    shared = shared.replace("$proxy_upstream_name", "$ingress_upstream").replace(
        "$proxy_alternative_upstream_name", "$ingress_other"
    )
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"{user} pid {folder}/pid; error_log {folder}/error.log; daemon off; worker_processes 1; events {{}}\n"
        f"http {{ {temporary} {upstreams} {ours} {shared} {shipped}\n" + "\n".join(FORMATS.values()) + f"\n{logs}\n"
        f"server {{ listen 127.0.0.1:{engine}; access_log off; location / {{ return 200 '{{}}'; }} }}\n"
        f"server {{ listen 127.0.0.1:{port}; location /v1/ok {{ {places} }} location /v1/dead {{ {places.replace('pool', 'dead')} }}"
        f" location / {{ return 404; }} }} }}\n"
    )  # fmt: skip
    command = [find_nginx(), "-p", str(folder), "-c", f"{folder}/nginx.conf"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            break
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield folder, port
    process.send_signal(signal.SIGQUIT)
    process.wait(PATIENCE_SECONDS)


def ask(port, path, request_id, agent):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(
            b"POST " + path + b" HTTP/1.1\r\nHost: llm\r\nX-Request-Id: " + request_id + b"\r\nUser-Agent: " + agent
            + b"\r\nAuthorization: Bearer sk-secret\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )  # fmt: skip
        while connection.recv(4096):
            pass


def last_lines(folder, number):
    """Return the last line of each log once each has `number`."""
    names = (*FORMATS, "ingress", "shipped")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        logs = {name: (folder / f"{name}.log").read_bytes().split(b"\n")[:-1] for name in names}
        if all(len(lines) == number for lines in logs.values()):
            return {name: lines[-1] for name, lines in logs.items()}
        assert time.monotonic() < deadline
        time.sleep(0.01)


def asked_so_far(folder):
    path = folder / "shipped.log"
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize(("path", "request_id", "agent"), HOSTILE)
def test_every_log_format_says_the_same(gateway, path, request_id, agent):
    folder, port = gateway
    before = asked_so_far(folder)
    ask(port, path, request_id, agent)
    lines = last_lines(folder, before + 1)
    shipped = json.loads(lines["shipped"].decode("utf-8", "replace"))
    route = path.partition(b"?")[0].decode()
    for name, text in FORMATS.items():
        fields = format_of(f"nginx:{text}").read(lines[name])
        assert fields["time"] == f"{shipped['time']}000"
        assert (fields["status"], fields["request_time"]) == (shipped["status"], shipped["request_time"])
        assert fields.get("request_id", "") == ("" if shipped["request_id"] == "-" else shipped["request_id"])
        assert fields.get("uri", route) == route
        if name != "bare":
            assert fields["request_completion"] == "OK"
            assert len(fields.get("upstream_addr", "").split(", ")) == (2 if b"dead" in path else 1)
    assert format_of(f"nginx:{FORMATS['text']}").read(lines["text"])["api_key"] == "sk-secret"
    ingress = format_of("ingress-nginx").read(lines["ingress"])
    assert int(float(ingress["time"])) == int(float(shipped["time"]))
    assert (ingress["status"], ingress["request_time"]) == (shipped["status"], shipped["request_time"])
    assert FormatChoice().of([lines["ingress"]], where="x").form.name == "ingress-nginx"
