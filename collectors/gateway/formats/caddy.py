"""Own Caddy's JSON access log: the end (``ts``) and the duration, in the units that its encoder may be set to.

Unset, ``ts`` is in seconds since 1970 and ``duration`` in seconds. Texts and larger units of ``ts`` are recognised;
a duration in other units than seconds or as text needs ``caddy-json:ms`` or ``caddy-json:ns``.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar, Self

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.measured import header, mapping, said_once, streamed
from collectors.gateway.formats.times import (
    duration_text,
    seconds_text,
    us_of_iso,
    us_of_log_time,
    us_of_seconds,
)
from collectors.gateway.formats.values import (
    MILLISECONDS,
    SECONDS,
    bearer_key,
    is_absent,
    json_object,
    plain,
    seconds_in,
)
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collectors.gateway.formats.format import Fields

_MESSAGE = re.compile(rb'"msg": ?"handled request"')
_USUAL_TS = re.compile(rb'"ts":(\d{10}\.\d{1,9})[,}]')
_NUMBER = re.compile(r"\d{1,20}(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_WALL = re.compile(r"(\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)", re.ASCII)
_COMPACT_ZONE = re.compile(r"([+-]\d\d)(\d\d)$", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|µs|μs|us|ns)", re.ASCII)
_GO_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:h|ms|m|s|µs|μs|us|ns))+", re.ASCII)
_NS = {"h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_LONGEST_TEXT = 64
# Instants from 2001 to 2286 in each unit that Caddy writes: no two of these ranges meet.
_UNIT_OF_TS = (
    (10**9, 10**10, Decimal(1)),
    (10**12, 10**13, Decimal(10) ** -3),
    (10**18, 10**19, Decimal(10) ** -9),
)


class CaddyJson(GatewayFormat):
    """One line of a site's ``log``."""

    name: ClassVar[str] = "caddy-json"
    title: ClassVar[str] = "Caddy's JSON"
    unit: str = ""

    def recognise(self, line: bytes) -> str | None:
        """Recognise the message of an access log."""
        found = line.lstrip().startswith(b"{") and _MESSAGE.search(line)
        return 'its msg says "handled request"' if found else None

    def ignores(self, line: bytes) -> bool:
        """Return whether Caddy says something else than that it handled a request."""
        return (
            line.startswith(b'{"level":"')
            and b'"msg":"' in line
            and b'"http.log.access' not in line
            and b'"handled request"' not in line
        )

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        said = json_object(line)
        request, answer = mapping(said.get("request")), mapping(said.get("resp_headers"))
        status = plain(said.get("status"))
        sent = mapping(request.get("headers"))
        fields = {
            "time": _instant(plain(said.get("ts"))),
            "request_time": self._duration(plain(said.get("duration"))),
            "status": status,
            "method": plain(request.get("method")),
            "uri": plain(request.get("uri")),
            "server": plain(request.get("host")),
            "bytes_sent": plain(said.get("size")),
            "request_length": plain(said.get("bytes_read")),
            "stream": streamed(status, header(answer, "content-type")),
            "request_id": header(answer, "x-request-id") or header(sent, "x-request-id"),
            "traceparent": header(answer, "traceparent") or header(sent, "traceparent"),
            "tenant": header(answer, "x-tenant") or header(sent, "x-tenant"),
            "api_key": bearer_key(header(sent, "authorization")),
            "client_subject": plain(mapping(request.get("tls")).get("client_common_name")),
        }
        return {key: value for key, value in fields.items() if not is_absent(value)}

    def ended_us(self, line: bytes) -> int | None:
        """Return ``ts`` without reading the rest, where it is the usual number of seconds."""
        found = said_once(line, b'"ts":', _USUAL_TS) if b'"handled request"' in line else None
        return us_of_seconds(found[1].decode()) if found else super().ended_us(line)

    def _duration(self, text: str) -> str:
        if self.unit == "ms":
            return seconds_in(text, unit_us=MILLISECONDS, field="duration")
        if self.unit == "ns":
            return _of_ns(Decimal(text), "duration") if _NUMBER.fullmatch(text) else _no_duration(text)
        if len(text) <= _LONGEST_TEXT and _GO_DURATION.fullmatch(text):
            return _of_ns(
                sum(
                    (
                        Decimal(part) * _NS[unit[:1].replace("µ", "u").replace("μ", "u") + unit[1:]]
                        for part, unit in _PART.findall(text)
                    ),
                    Decimal(0),
                ),
                "duration",
            )
        return seconds_in(text, unit_us=SECONDS, field="duration")

    def with_argument(self, argument: str) -> Self:
        """Return the format for durations in `argument`: s, ms or ns; raises `ConfigurationError`."""
        if argument not in ("s", "ms", "ns"):
            raise ConfigurationError(
                "gateway.format",
                "no unit that Caddy writes durations in",
                found=argument,
                remedy="write caddy-json, caddy-json:ms or caddy-json:ns, as duration_format is set",
            )
        made = type(self)()
        made.unit = made.argument = argument
        return made


def _no_duration(text: str) -> str:
    raise UnreadableLine("duration: absent" if is_absent(text) else "duration: not a duration")


def _of_ns(nanoseconds: Decimal, field: str) -> str:
    found = duration_text(f"{nanoseconds / 1000:f}", unit_us=1)
    if found is None:
        raise UnreadableLine(f"{field}: not a duration")
    return found


def _instant(text: str) -> str:
    """Return an instant in whichever way Caddy's encoder wrote it, in seconds since 1970; a text without a zone is UTC."""
    if is_absent(text):
        raise UnreadableLine("ts: absent")
    if _NUMBER.fullmatch(text):
        value = Decimal(text)
        for low, high, scale in _UNIT_OF_TS:
            if low <= value < high:
                return seconds_text(int(value * scale * SECONDS))
        raise UnreadableLine("ts: no unit makes it an instant of this century")
    wall = _WALL.fullmatch(text)
    iso = f"{wall[1]}-{wall[2]}-{wall[3]}T{wall[4]}+00:00" if wall else _COMPACT_ZONE.sub(r"\1:\2", text)
    us = us_of_iso(iso)
    if us is None:
        us = us_of_log_time(text)
    if us is None:
        raise UnreadableLine("ts: not an instant")
    return seconds_text(us)


FORMAT = CaddyJson()
