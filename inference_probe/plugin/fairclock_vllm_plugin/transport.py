"""Own one request to the collector: OTLP over HTTP with protobuf, on a connection that is kept."""

from __future__ import annotations

import ssl
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairclock_vllm_plugin.settings import Endpoint, Settings

_RETRYABLE = {
    408,
    429,
    500,
    502,
    503,
    504,
}  # OTLP wants four of them; the others are a proxy's passing troubles
_OK = range(200, 300)
_LONGEST_ANSWER_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of a request; `problem` is '' where the collector has it.

    again: whether sending the same again may help.
    after_seconds: when, where the collector said so.
    """

    problem: str = ""
    again: bool = False
    after_seconds: float = 0.0


class HttpTransport:
    """Post to one endpoint; used by one thread."""

    def __init__(self, endpoint: Endpoint, settings: Settings) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._connection: HTTPConnection | None = None
        self._headers = {"Content-Type": "application/x-protobuf", **dict(settings.headers)}

    def post(self, body: bytes, *, timeout_seconds: float) -> Answer:
        """Send `body` and return what became of it; raises nothing for what a network or a collector can do.

        A kept connection that the other side has closed meanwhile is made anew once: sending again adds nothing.
        """
        kept = self._connection is not None
        try:
            return self._exchange(body, timeout_seconds)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            if not kept:
                return Answer(problem=_said(error), again=True)
        try:
            return self._exchange(body, timeout_seconds)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            return Answer(problem=_said(error), again=True)

    def close(self) -> None:
        """Close the connection; the next request makes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(OSError):
                connection.close()

    def _exchange(self, body: bytes, timeout_seconds: float) -> Answer:
        connection = self._connection
        if connection is None:
            connection = self._connection = self._connect(timeout_seconds)
        elif connection.sock is not None:
            connection.sock.settimeout(timeout_seconds)
        connection.request("POST", self._endpoint.path, body, self._headers)
        response = connection.getresponse()
        text = response.read(_LONGEST_ANSWER_BYTES)
        if response.read(
            1
        ):  # an answer of that length is no collector's; what is left of it would be the next answer
            self.close()
        if response.status in _OK:
            return Answer()
        # what a server says may hold anything: its status is enough, and its text is not for vLLM's log
        del text
        return Answer(
            problem=f"HTTP {response.status}",
            again=response.status in _RETRYABLE,
            after_seconds=_seconds(response.getheader("Retry-After")),
        )

    def _connect(self, timeout_seconds: float) -> HTTPConnection:
        host, port = self._endpoint.host, self._endpoint.port
        if not self._endpoint.secure:
            return HTTPConnection(host, port, timeout=timeout_seconds)
        context = ssl.create_default_context(cafile=self._settings.ca_file or None)
        return HTTPSConnection(host, port, timeout=timeout_seconds, context=context)


def _said(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _seconds(text: str | None) -> float:
    """Return the seconds of a Retry-After; 0 where there are none (a date is not read)."""
    return float(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 6 else 0.0  # noqa: PLR2004
