"""Own requests to the model's application from inside its own process, which need no open door."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """An answer, read to its end."""

    status: int
    body: bytes


async def call(app: ASGIApp, path: str, content: Mapping[str, Any], headers: Mapping[str, str]) -> Called:
    """Post JSON to an ASGI application as an HTTP server would."""
    body = json.dumps(content).encode()
    given = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 0),
        "state": {},
    }
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    status, pieces = 0, bytearray()

    async def receive() -> Message:
        if pending:
            return pending.pop()
        return await _never_leaves()

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        elif message["type"] == "http.response.body":
            pieces.extend(message.get("body", b""))

    await app(scope, receive, send)
    return Called(status=status, body=bytes(pieces))


async def _never_leaves() -> Message:
    """Wait, as for a client that stays until it has its answer; ends by being cancelled."""
    return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]
