"""Print the alerts of Fairclock and of Alertmanager, one line each, if they are genuine. Standard library only.

    WEBHOOK_SECRET_FILE=… ALERTMANAGER_TOKEN_FILE=… python receiver.py HOST:PORT

POST /fairclock takes Fairclock's signed JSON, POST /alertmanager what Alertmanager sends with a bearer token. It stands
where a pager or a chat would, and keeps nothing.
"""
# ruff: noqa: INP001

from __future__ import annotations

import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from verify_webhook import LARGEST_BODY_BYTES, NotGenuine, verify


def read_secret(variable: str) -> str:
    """Return what is in the file that a variable names; it is read each time, so it can be exchanged."""
    return Path(os.environ[variable]).read_text(encoding="ascii").strip()


def lines_of(path: str, body: bytes, headers: dict[str, str]) -> list[str]:
    """Return a line for each alert in a request; raises `NotGenuine`."""
    if path == "/fairclock":
        verify(body, headers, read_secret("WEBHOOK_SECRET_FILE"), now=time.time())
        return [f"fairclock {event['state']} {event['title']}" for event in json.loads(body)["events"]]
    given = {name.lower(): value for name, value in headers.items()}.get("authorization", "")
    expected = f"Bearer {read_secret('ALERTMANAGER_TOKEN_FILE')}"
    if path != "/alertmanager" or not hmac.compare_digest(given.encode(), expected.encode()):
        raise NotGenuine("the token does not fit")
    return [
        f"alertmanager {alert['status']} {alert['labels'].get('alertname', '')} {alert['annotations'].get('summary', '')}"
        for alert in json.loads(body)["alerts"]
    ]


class Handler(BaseHTTPRequestHandler):
    """Answer 204 to what is genuine and 401 to everything else; GET says that it is there."""

    def do_GET(self) -> None:
        """Say that it is there."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        """Take one message."""
        length = int(self.headers.get("Content-Length", 0))
        if length > LARGEST_BODY_BYTES:
            self.send_error(413)
            return
        try:
            lines = lines_of(self.path, self.rfile.read(length), dict(self.headers))
        except NotGenuine as error:
            self.send_error(401, str(error))
            return
        for line in lines:
            print(line, flush=True)  # noqa: T201
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing of requests: alerts are what is printed."""


if __name__ == "__main__":
    host, _, port = sys.argv[1].rpartition(":")
    ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
