"""Own the gateway of the live demonstration: a real nginx with the shipped snippet."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.gateway.nginx import copy_snippet
from fairclock.demo.live.programs import Program, find_nginx, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

METERED_TENANT = "bursty"
"""The tenant whose completions `limit_req` counts: 1 + `METERED_BURST` at once, then one in three seconds."""
METERED_BURST = 2
_READY_SECONDS = 120.0

TRACE_HEADER = "X-Trace-Id"
"""Response header with nginx's $request_id, by which the client finds its request again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A running nginx: where it listens and where it logs."""

    url: str
    log: Path


@contextlib.contextmanager
def running_gateway(
    *, directory: Path, port: int, engine_url: str, tenants: Mapping[str, str]
) -> Iterator[Gateway]:
    """Run nginx on `port` in front of `engine_url` until the block is left; then its log is complete.

    `tenants` maps API keys to tenants. All files lie in `directory`.
    """
    nginx = find_nginx()
    directory.mkdir(parents=True, exist_ok=True)
    snippet = copy_snippet(directory)
    (snippet / "tenants.map").write_text("".join(f'"{key}" {name};\n' for key, name in tenants.items()))
    configuration = directory / "nginx.conf"
    configuration.write_text(nginx_configuration(port=port, engine_url=engine_url))
    program = Program(
        name="nginx",
        arguments=[nginx, "-p", str(directory), "-c", str(configuration)],
        output=directory / "nginx.out",
        stop_signal=signal.SIGQUIT,  # requests in flight end, and are logged, first
        stop_seconds=60.0,
    )
    with running(program) as server:
        url = f"http://127.0.0.1:{port}"
        server.await_answer(f"{url}/ready", within_seconds=_READY_SECONDS)
        yield Gateway(url=url, log=directory / "access.log")


def nginx_configuration(*, port: int, engine_url: str) -> str:
    """Return a whole nginx.conf that listens on loopback; its paths are relative to nginx's ``-p``."""
    # Root's workers would become nobody, who may not enter the folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    folders = "\n    ".join(
        f"{kind}_temp_path {kind}_temp;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""{user}daemon off;
worker_processes 1;
pid nginx.pid;
error_log error.log info;
events {{ worker_connections 512; }}
http {{
    map_hash_bucket_size 256;
    include fairclock/fairclock.conf;
    {folders}

    # A quota by limit_req for one tenant; an empty key is not counted.
    map $fairclock_tenant $metered {{ default ""; {METERED_TENANT} {METERED_TENANT}; }}
    limit_req_zone $metered zone=metered:1m rate=20r/m;

    upstream engines {{
        server {engine_url.removeprefix("http://")};
        keepalive 32;
        keepalive_timeout 4s;
    }}
    server {{
        listen 127.0.0.1:{port};
        server_name live;
        access_log access.log fairclock;
        add_header {TRACE_HEADER} $request_id always;

        location /v1/ {{
            include fairclock/location.conf;
            proxy_pass http://engines;
        }}
        location = /v1/completions {{
            include fairclock/location.conf;
            limit_req zone=metered burst={METERED_BURST} nodelay;
            proxy_pass http://engines;
        }}
        location = /ready {{ access_log off; return 200; }}
    }}
}}
"""
