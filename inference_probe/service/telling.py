"""Own how the truth gets into an answer: a key of a JSON body, a last event of a stream, and what is kept of both."""

from __future__ import annotations

import json
import re
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders

from inference_probe.service.failures import failure
from inference_probe.service.observation import Exchange, current_exchange
from inference_probe.service.truth import truth

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from inference_probe.service.timings import Timings

REQUEST_ID_HEADER = "X-Request-Id"
TRUTH_HEADER = "X-Fairclock-Truth"
"""A request that says ``off`` here gets an answer as OpenAI's are, to the byte; its timings are kept all the same."""

TOLD_PATHS = frozenset({"/v1/chat/completions", "/v1/completions"})
LONGEST_ID = 200
_DONE = re.compile(rb"^data: \[DONE\]", re.MULTILINE)
"""The last event, at the beginning of a line: a model's own text holds no line's end there, JSON writes it as two letters."""


class TruthTelling:
    """Let every answer of an application say what happened to its request.

    Every answer bears the request's id, which vLLM gets too. Those to `TOLD_PATHS` carry their truth.
    """

    def __init__(self, app: ASGIApp, timings: Timings) -> None:
        self._app = app
        self._timings = timings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        arrived, wall_arrived = time.monotonic(), time.time()
        headers = Headers(scope=scope)
        request_id = headers.get(REQUEST_ID_HEADER)
        if request_id is None:
            request_id = uuid4().hex
            given = (REQUEST_ID_HEADER.lower().encode(), request_id.encode())
            scope = {**scope, "headers": [*scope["headers"], given]}
        elif problem := _wrong(request_id):
            refused = failure(
                HTTPStatus.BAD_REQUEST,
                f"{REQUEST_ID_HEADER}: {problem}; send at most {LONGEST_ID} visible ASCII characters, or none",
                parameter=REQUEST_ID_HEADER,
            )
            await refused(scope, receive, send)
            return
        exchange = Exchange(request_id, arrived=arrived, wall_arrived=wall_arrived)
        answer = _Answer(
            exchange,
            send,
            self._timings if scope["method"] == "POST" and scope["path"] in TOLD_PATHS else None,
            is_told=headers.get(TRUTH_HEADER, "").strip().lower() != "off",
        )
        token = current_exchange.set(exchange)
        try:
            await self._app(scope, answer.watched(receive), answer.send)
        finally:
            current_exchange.reset(token)
            answer.close()


def _wrong(request_id: str) -> str:
    """Return what is wrong with an id that a client sent; '' where nothing is."""
    if len(request_id) > LONGEST_ID:
        return f"too long ({len(request_id)} characters)"
    if not request_id or not request_id.isascii() or not request_id.isprintable() or " " in request_id:
        return "empty, or with spaces or characters that are not visible ASCII"
    return ""


class _Answer:
    """The answer to one request on its way out; `timings` is None where it is of no interest."""

    def __init__(self, exchange: Exchange, send: Send, timings: Timings | None, *, is_told: bool) -> None:
        self._exchange = exchange
        self._send = send
        self._timings = timings
        self._is_told = is_told and timings is not None
        self._kind = ""
        self._start: Message | None = None
        self._body = bytearray()
        self._is_complete = False
        self._has_left = False
        exchange.when_aborted = self._note_abort

    def watched(self, receive: Receive) -> Receive:
        """Return `receive`, noting where the client leaves before its answer is complete: vLLM then ends what it asked for."""

        async def receive_and_look() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and not self._is_complete:
                self._has_left = True
            return message

        return receive_and_look

    async def send(self, message: Message) -> None:
        """Take what the application sends, and pass it on with the truth in it."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message["headers"]))
            headers[REQUEST_ID_HEADER] = self._exchange.request_id
            self._kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            message = {**message, "headers": headers.raw}
            if self._is_told and self._kind == "application/json":
                self._start = message  # its length is not known before the truth is
            else:
                await self._send(message)
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_body(self._start)
        elif message["type"] == "http.response.body" and not self._is_complete:
            await self._send_piece(message)
        else:
            await self._send(message)

    def close(self) -> None:
        """Keep what is known of a request whose client left before its answer was complete."""
        if not self._is_complete:
            self._leave()

    def _note_abort(self) -> None:
        if self._has_left:
            self._keep(None)

    def _leave(self) -> None:
        self._has_left = True
        self._keep(None)

    async def _send_body(self, start: Message) -> None:
        body = bytes(self._body).rstrip()
        said = self._keep(time.monotonic())
        if body.endswith(b"}"):
            inner = body[:-1].rstrip()
            body = inner + (b"" if inner.endswith(b"{") else b",") + b'"fairclock":' + said + b"}"
        headers = MutableHeaders(raw=list(start["headers"]))
        headers["content-length"] = str(len(body))
        self._start = None
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})

    async def _send_piece(self, message: Message) -> None:
        """Pass a piece of a stream on; before its last event, or its end without one, comes the truth."""
        body, is_last = message.get("body", b""), not message.get("more_body", False)
        done = _DONE.search(body)
        if done is None and not is_last:
            await self._send(message)
            return
        before, after = (body, b"") if done is None else (body[: done.start()], body[done.start() :])
        if before:
            await self._send({"type": "http.response.body", "body": before, "more_body": True})
        said = self._keep(time.monotonic())
        is_stream = self._is_told and self._kind == "text/event-stream"
        event = b"event: fairclock\ndata: " + said + b"\n\n" if is_stream else b""
        await self._send({**message, "body": event + after})

    def _keep(self, responded: float | None) -> bytes:
        self._is_complete = True
        if self._timings is None:
            return b""
        said = encoded(truth(self._exchange, responded=None if self._has_left else responded))
        self._timings.keep(self._exchange.request_id, said)
        return said


def encoded(value: dict[str, Any]) -> bytes:
    """Return an object as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
