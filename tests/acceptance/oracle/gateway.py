"""Own the oracle's reading of nginx's JSON lines."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One request as the gateway logged it; times in µs, None where the log does not tell."""

    received_us: int
    end_to_end_us: int
    connected_us: int | None
    forwarded_us: int | None
    upstreams: int
    trace: str | None
    request_id: str
    tenant: str
    model: str
    route: str
    region: str
    status: int
    error_code: str
    outcome: str
    stream: bool | None
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    simulated: bool

    @property
    def forwarding_us(self) -> int:
        """Return the instant at which the last upstream was asked, or else the reception."""
        return self.received_us + (self.forwarded_us or 0)

    @property
    def responded_us(self) -> int:
        """Return the instant of the last byte."""
        return self.received_us + self.end_to_end_us


def file_lines(path: Path) -> list[bytes]:
    """Return the lines of a plain or compressed file, without their ends."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return [line.removesuffix(b"\r") for line in data.split(b"\n")]


def read_gateway(files: Iterable[Path]) -> list[Logged]:
    """Return each distinct event once: its bytes, and which occurrence of them in its file."""
    events: dict[tuple[bytes, int], Logged] = {}
    for path in files:
        seen: dict[bytes, int] = {}
        for line in file_lines(path):
            k = seen.get(line, 0)
            seen[line] = k + 1
            request = _logged(line)
            if request is not None:
                events[line, k] = request
    return list(events.values())


def _logged(line: bytes) -> Logged | None:
    try:
        said = json.loads(line)
    except ValueError:
        return None
    if not isinstance(said, dict):
        return None

    def text(key: str) -> str:
        value = said.get(key, "")
        return "" if value in ("", "-", None) else str(value)

    ended, took = _us(text("time")), _us(text("request_time"))
    if ended is None or took is None or not text("status").isdigit():
        return None
    answers = _upstreams(text("upstream_response_time"))
    asked = _upstreams(text("upstream_addr"))
    last = _us(answers[-1]) if answers else None
    first_of_connection = text("connection_requests") == "1"
    connection = _us(text("connection_time"))
    stream = text("stream")
    return Logged(
        received_us=ended - took,
        end_to_end_us=took,
        connected_us=connection - took if first_of_connection and connection is not None else None,
        forwarded_us=None if last is None else took - last,
        upstreams=max(len(asked), len(answers)),
        trace=_trace(text("traceparent"), text("request_id")),
        request_id=text("request_id"),
        tenant=text("tenant"),
        model=text("model"),
        route=text("uri"),
        region=text("region"),
        status=int(text("status")),
        error_code=text("error_code"),
        outcome=_outcome(
            int(text("status")),
            completion=said.get("request_completion"),
            limited="REJECTED" in (text("limit_req_status"), text("limit_conn_status")),
            substituted=_flag(text("substituted")),
            incomplete=_flag(text("incomplete")),
        ),
        stream=_flag(stream) if stream else None,
        prompt_tokens=_whole(text("prompt_tokens")),
        cached_tokens=_whole(text("cached_tokens")),
        completion_tokens=_whole(text("completion_tokens")),
        simulated=_flag(text("simulated")),
    )


def _outcome(status: int, *, completion: object, limited: bool, substituted: bool, incomplete: bool) -> str:
    """Return the first line of DESIGN 2's table that matches."""
    good = 200 <= status <= 299
    table = (
        (status == 504, "timeout"),
        (status in (499, 0) or (good and completion == ""), "client_aborted"),
        (good and substituted, "substituted"),
        (good and incomplete, "incomplete"),
        (good, "ok"),
        (status == 429 or (status == 503 and limited), "quota_rejected"),
        (status == 503, "capacity_rejected"),
        (status == 444 or 500 <= status <= 599, "server_error"),
        (300 <= status <= 499, "client_error"),
    )
    return next(name for matches, name in table if matches)


def _us(text: str) -> int | None:
    """Return decimal seconds as whole microseconds, or nothing where it is none."""
    try:
        value = Decimal(text) * MILLION
    except InvalidOperation:
        return None
    return int(value) if value.is_finite() and value >= 0 and value == int(value) else None


def _upstreams(text: str) -> list[str]:
    """Split ``a, b : c``; nginx puts commas between tries and colons between groups of servers."""
    return [part.strip() for part in re.split(r", | : ", text)] if text else []


def _trace(traceparent: str, request_id: str) -> str | None:
    match = re.fullmatch(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}", traceparent)
    if match:
        trace = match.group(1)
    elif not traceparent and re.fullmatch(r"[0-9a-f]{32}", request_id):
        trace = request_id
    else:
        return None
    return trace if trace.strip("0") else None


def _flag(text: str) -> bool:
    return text in ("true", "1")


def _whole(text: str) -> int | None:
    return int(text) if text.isdigit() else None
