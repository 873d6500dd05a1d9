"""Receive Fairclock's JSON webhooks and verify them. Standard library only; take what you need.

    FAIRCLOCK_WEBHOOK_SECRET=... python verify_webhook.py 8090

A request is Fairclock's if its signature fits the raw bytes and the time that is signed with them, and if that time is
not long past: so a request that somebody recorded cannot be played again tomorrow. What is played again today has an
event id that was seen already.
"""
# ruff: noqa: INP001

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WINDOW_SECONDS = 300
LARGEST_BODY_BYTES = 1 << 20


class NotGenuine(Exception):  # noqa: N818 - it says what was found
    """A request that is not from Fairclock, or not from now."""


def verify(body: bytes, headers: Mapping[str, str], secret: str, *, now: float) -> list[str]:
    """Return the event ids in a request; raises `NotGenuine`.

    `body` is what was received, byte for byte: parse it afterwards. `now` is in seconds since 1970.
    """
    given = {name.lower(): value for name, value in headers.items()}
    stamp = given.get("fairclock-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit()) or abs(now - int(stamp)) > WINDOW_SECONDS:
        raise NotGenuine("the time is missing, or too far from now")
    expected = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    # several signatures may stand there while a secret is exchanged; all are compared, in constant time
    fits = False
    for each in given.get("fairclock-signature", "").split(","):
        version, _, signature = each.strip().partition("=")
        fits |= version == "v1" and hmac.compare_digest(signature.encode(), expected.encode())
    if not fits:
        raise NotGenuine("the signature does not fit")
    return [event["event_id"] for event in json.loads(body)["events"]]


class Handler(BaseHTTPRequestHandler):
    """Answer 204 to what is genuine, seen before or not, and 401 to everything else."""

    seen: set[str] = set()  # noqa: RUF012 - of this process; a real receiver keeps them in its database

    def do_POST(self) -> None:
        """Take one message."""
        length = int(self.headers.get("Content-Length", 0))
        if length > LARGEST_BODY_BYTES:
            self.send_error(413)
            return
        body = self.rfile.read(length)
        try:
            event_ids = verify(
                body, dict(self.headers), os.environ["FAIRCLOCK_WEBHOOK_SECRET"], now=time.time()
            )
        except NotGenuine as error:
            self.send_error(401, str(error))
            return
        for event in json.loads(body)["events"]:
            if event["event_id"] not in self.seen:
                print(event["state"], event["title"], flush=True)  # noqa: T201
        self.seen.update(event_ids)
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
