"""Own OTLP over HTTP: ``POST /v1/traces`` and ``POST /v1/logs`` with protobuf or JSON."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from collectors.otlp.answers import RETRY_AFTER_SECONDS, Code, ContentType, Signal, code_of, failure, success
from collectors.otlp.bodies import LARGEST_BODY_BYTES, plain_body
from collectors.otlp.json_encoding import decode_json
from collectors.otlp.json_logs import decode_log_json
from collectors.otlp.problems import MalformedRequest, OversizedRequest, RequestProblem, UnsupportedRequest
from collectors.otlp.protobuf import decode_protobuf
from collectors.otlp.protobuf_logs import decode_log_protobuf
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request

    from collectors.otlp.engine_lines import EngineLines

_SIGNALS = {"/v1/traces": Signal.TRACES, "/v1/logs": Signal.LOGS}
_GRACE_SECONDS = 5
_KEEP_ALIVE_SECONDS = 75  # longer than clients keep a connection, so that none is closed under a request
_UNAVAILABLE = 503
_STARTED_POLL_SECONDS = 0.01
_DECODERS = {
    (Signal.TRACES, ContentType.PROTOBUF): decode_protobuf,
    (Signal.TRACES, ContentType.JSON): decode_json,
    (Signal.LOGS, ContentType.PROTOBUF): decode_log_protobuf,
    (Signal.LOGS, ContentType.JSON): decode_log_json,
}
_CONTENT_TYPES = {
    "application/x-protobuf": ContentType.PROTOBUF,
    "application/protobuf": ContentType.PROTOBUF,
    "application/json": ContentType.JSON,
}
_STATUS: dict[type[RequestProblem], tuple[int, Code]] = {
    MalformedRequest: (400, Code.INVALID_ARGUMENT),
    OversizedRequest: (413, Code.INVALID_ARGUMENT),
    UnsupportedRequest: (415, Code.INVALID_ARGUMENT),
}


def http_app(commit: Callable[[EngineLines], int]) -> Starlette:
    """Return the ASGI application; `commit` blocks until the lines are safe and returns the rejected count."""

    async def receive(request: Request) -> Response:
        content_type = _CONTENT_TYPES.get(
            request.headers.get("content-type", "").split(";")[0].strip().lower()
        )
        try:
            if content_type is None:
                raise UnsupportedRequest("Content-Type must be application/x-protobuf or application/json")
            body = await _body(request)
            encoding = request.headers.get("content-encoding", "")
            signal = _SIGNALS[request.url.path]
            return await run_in_threadpool(_answer, signal, content_type, body, encoding, commit)
        except RequestProblem as problem:
            status, code = _STATUS[type(problem)]
            return _response(content_type or ContentType.JSON, status, code, str(problem))

    async def elsewhere(request: Request, _: Exception) -> Response:
        wrong_method = request.url.path in _SIGNALS
        text = f"{' and '.join(f'POST {path}' for path in _SIGNALS)} are all that is answered here"
        return _response(ContentType.JSON, 405 if wrong_method else 404, Code.UNIMPLEMENTED, text)

    return Starlette(
        routes=[Route(path, receive, methods=["POST"]) for path in _SIGNALS],
        exception_handlers={404: elsewhere, 405: elsewhere},
    )


async def _body(request: Request) -> bytes:
    """Read the body as sent, up to the limit."""
    pieces: list[bytes] = []
    total = 0
    try:
        async for piece in request.stream():
            total += len(piece)
            if total <= LARGEST_BODY_BYTES:
                pieces.append(piece)
            else:  # read on, and hold nothing: a sender hears the answer only after it has sent
                pieces.clear()
    except ClientDisconnect as gone:
        raise MalformedRequest("the body ended before its length") from gone
    if total > LARGEST_BODY_BYTES:
        raise OversizedRequest(
            f"the body is larger than {LARGEST_BODY_BYTES >> 20} MiB ({total} bytes); send smaller batches"
        )
    return b"".join(pieces)


def _answer(
    signal: Signal,
    content_type: ContentType,
    body: bytes,
    encoding: str,
    commit: Callable[[EngineLines], int],
) -> Response:
    lines = _DECODERS[signal, content_type](plain_body(body, encoding))
    try:
        rejected = commit(lines)
    except FairclockError as error:
        answer = failure(content_type, code_of(error), str(error), retry_after_seconds=RETRY_AFTER_SECONDS)
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        return Response(answer, _UNAVAILABLE, headers, media_type=content_type)
    return Response(success(content_type, rejected=rejected, signal=signal), media_type=content_type)


def _response(content_type: ContentType, status: int, code: Code, message: str) -> Response:
    return Response(failure(content_type, code, message), status, media_type=content_type)


class HttpServer:
    """Serve an ASGI application from a bound socket in a thread; over TLS where there is a certificate and its key."""

    def __init__(
        self,
        app: Any,
        bound: socket.socket,
        *,
        name: str = "otlp-http",
        certificate: Path | None = None,
        key: Path | None = None,
    ) -> None:
        self._bound = bound
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                ssl_certfile=certificate,
                ssl_keyfile=key,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [bound]}, name=name, daemon=True
        )

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Return once requests are answered (the socket queues them from the moment it was bound)."""
        self._thread.start()

    def stop(self) -> None:
        """Answer what was begun, then close."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join()
        self._bound.close()
