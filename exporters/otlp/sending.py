"""Own how an export request is posted, and what an answer means: taken, to be sent again, or refused for good."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import httpx
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from fairclock.config.credentials import trust_in
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from exporters.otlp.configuration import OtlpExportSection

_TYPE = "application/x-protobuf"
_AGAIN = frozenset({429, 502, 503, 504})
_LONGEST_ANSWER = 500
_MOST_WAIT_SECONDS = 300.0
_COMPRESSION = 3


class Fate(Enum):
    """What became of a request."""

    TAKEN = "taken"
    AGAIN = "to be sent again"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of a request; `rejected` of its spans were not taken. wait_seconds: how long the receiver wants to be left alone."""

    fate: Fate
    problem: str = ""
    rejected: int = 0
    wait_seconds: float | None = None


class Backend:
    """An OTLP receiver over HTTP; close it in the end."""

    def __init__(self, section: OtlpExportSection, *, transport: httpx.BaseTransport | None = None) -> None:
        """Raise `ConfigurationError` where the certificates cannot be used, or there is no address."""
        if section.to is None:
            raise ConfigurationError("otlp_export.to", "is not there", remedy="write the address")
        self._to = section.to
        self._headers_file = section.headers_file
        self._client = httpx.Client(
            verify=trust_in(section.ca, remedy="correct otlp_export.ca"),
            timeout=section.timeout,
            transport=transport,
            # where it is sent is what is configured, and no proxy of the environment's
            trust_env=False,
        )

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def post(self, signal: str, content: bytes) -> Answer:
        """Post an export request for ``traces`` or ``metrics``."""
        try:
            headers = {} if self._headers_file is None else read_headers(self._headers_file)
            answer = self._client.post(
                f"{self._to}/v1/{signal}",
                content=gzip.compress(content, _COMPRESSION, mtime=0),
                headers={**headers, "content-type": _TYPE, "content-encoding": "gzip"},
            )
        except (httpx.HTTPError, ConfigurationError) as error:
            return Answer(fate=Fate.AGAIN, problem=str(error) or type(error).__name__)
        if answer.is_success:
            return _taken(answer.content)
        problem = f"HTTP status {answer.status_code}: {answer.text[:_LONGEST_ANSWER]}".strip()
        if answer.status_code in _AGAIN:
            return Answer(fate=Fate.AGAIN, problem=problem, wait_seconds=_wait(answer))
        return Answer(fate=Fate.REFUSED, problem=problem)


def read_headers(path: Path) -> dict[str, str]:
    """Return the headers in a file; raises `ConfigurationError`, which shows none of them."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "not a text"
        raise ConfigurationError(
            str(path), "cannot be read", found=found, remedy="correct otlp_export.headers_file"
        ) from None
    headers = {}
    for number, line in enumerate(lines, start=1):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not colon or not name.strip() or not value.strip() or not line.isascii():
            raise ConfigurationError(
                f"{path}, line {number}", "is no header", remedy="write Name: value, one a line"
            )
        headers[name.strip()] = value.strip()
    return headers


def _taken(content: bytes) -> Answer:
    response = ExportTraceServiceResponse()
    try:
        response.ParseFromString(content)
    except DecodeError:
        return Answer(fate=Fate.TAKEN)
    partial = response.partial_success
    return Answer(fate=Fate.TAKEN, problem=partial.error_message, rejected=partial.rejected_spans)


def _wait(answer: httpx.Response) -> float | None:
    try:
        return min(max(float(answer.headers.get("retry-after", "")), 0.0), _MOST_WAIT_SECONDS)
    except ValueError:
        return None
