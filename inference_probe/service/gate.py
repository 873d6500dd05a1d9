"""Own what the service answers itself, and that nobody else reaches the model before it is warm."""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from inference_probe.service.failures import failure
from inference_probe.service.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from inference_probe.service.stages import Progress
    from inference_probe.service.timings import Timings

_TIMINGS = "/timings/"
_POLICY_VIOLATION = 1008


class Gate:
    """The application that is served from the first moment on.

    inner: the model's application once there is one. settings: what is told of the engine once there is one. has_died: whether
    the engine ended by itself. api_keys: one of them is asked of who wants timings or settings, where there are any.
    """

    def __init__(self, progress: Progress, timings: Timings, *, api_keys: Sequence[str] = ()) -> None:
        self._progress = progress
        self._timings = timings
        self._api_keys = [key.encode() for key in api_keys]
        self.inner: ASGIApp | None = None
        self.settings: dict[str, Any] | None = None
        self.has_died: Callable[[], bool] = _alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "websocket" and not self._progress.is_ready:
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return
        answer = self._own(scope) if scope["type"] == "http" else None
        if answer is None and self.inner is not None:
            await self.inner(scope, receive, send)
        elif answer is not None:
            await answer(scope, receive, send)

    def _own(self, scope: Scope) -> Response | None:
        """Return the service's own answer; None where the model's application has to answer."""
        path = scope["path"]
        own = {"/healthz": self._health, "/readyz": self._readiness, "/settings": self._settings}
        is_timings = path.startswith(_TIMINGS) and path != _TIMINGS
        if path in own or is_timings:
            if scope["method"] not in {"GET", "HEAD"}:
                allowed = {"Allow": "GET, HEAD"}
                return failure(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} is only read", headers=allowed)
            if (is_timings or path == "/settings") and not self._may_read(Headers(scope=scope)):
                return failure(HTTPStatus.UNAUTHORIZED, "The API key is missing or wrong.")
            return own[path]() if path in own else self._timing(path.removeprefix(_TIMINGS))
        if path == "/metrics":
            answer = Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
            return answer if self.inner is None else None
        if self._progress.is_ready:
            return None
        return failure(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"The service is not ready: {self._progress.stage}. Ask /readyz.",
            headers={"Retry-After": "1"},
        )

    def _may_read(self, headers: Headers) -> bool:
        given = headers.get("authorization", "").removeprefix("Bearer ").encode()
        return not self._api_keys or any(hmac.compare_digest(given, key) for key in self._api_keys)

    def _health(self) -> Response:
        is_well = self._progress.stage is not Stage.FAILED and not self.has_died()
        status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"healthy": is_well}, status_code=status)

    def _readiness(self) -> Response:
        is_ready = self._progress.is_ready and not self.has_died()
        said = {"ready": is_ready, "stage": self._progress.stage, "cold_start": self._progress.tree()}
        return JSONResponse(said, status_code=HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE)

    def _settings(self) -> Response:
        if self.settings is None:
            return failure(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "The engine has not started yet. Ask /readyz.",
                headers={"Retry-After": "1"},
            )
        return JSONResponse({**self.settings, "cold_start": self._progress.tree()})

    def _timing(self, request_id: str) -> Response:
        found = self._timings.find(request_id)
        if found is None:
            return failure(
                HTTPStatus.NOT_FOUND,
                "No finished request of this id is kept: it is still answered, was never asked, or is forgotten.",
                parameter="request_id",
            )
        return Response(found, media_type="application/json")


def _alive() -> bool:
    return False
