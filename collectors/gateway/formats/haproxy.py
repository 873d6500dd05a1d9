"""Own HAProxy's HTTP log, as ``option httplog`` writes it, behind a syslog header or without one.

Its time has no zone: UTC, or what the argument says (``haproxy:Asia/Shanghai``). The headers it captures have no
names: none is read, or what the argument calls them (``haproxy:UTC,captures=request_id|tenant|-``).
HAProxy before 1.7 wrote Tq/Tw/Tc/Tr/Tt in the same places, counted from the connection's accept: read alike, a
client's idle time then counts as the request's.
"""

from __future__ import annotations

import re
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, ClassVar, Self
from zoneinfo import ZoneInfo

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.haproxy_timers import TIMERS, addresses, durations, ending, says_of_itself
from collectors.gateway.formats.times import us_of_log_time
from collectors.gateway.formats.values import request_line, text_of
from fairclock.errors import ConfigurationError
from fairclock.model import from_us

if TYPE_CHECKING:
    from datetime import tzinfo

    from collectors.gateway.formats.format import Fields

_DATE = re.compile(r" \[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\.\d{3})\] ", re.ASCII)
_RECOGNISED = re.compile(
    rb":\d{1,5} \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\.\d{3}\] \S+ [^\s/]+/\S+ -?\d+(?:/-?\d+){3}/\+?-?\d+ -?\d+ \+?\d+ "
)
_WHY = "its timers are five numbers between slashes; its times, which have no zone, are taken for UTC (else haproxy:ZONE)"
_ENCODED = re.compile(r"#([0-9A-F]{2})")
_NAMES = (
    "frontend", "backend/server", "timers", "status", "bytes", "cookie", "cookie", "termination state", "connections",
)  # fmt: skip
_AFTER_QUEUES = re.compile(r"\d+/\d+ ?(?:\{([^{}]*)\} ?)?(?:\{[^{}]*\} ?)?(?:\"(.*))?", re.DOTALL | re.ASCII)
_CAPTURED = frozenset({"request_id", "traceparent", "tenant", "model", "api_key_sha256", "-"})
_MICROSECOND = timedelta(microseconds=1)


class HaproxyHttpLog(GatewayFormat):
    """One line of ``option httplog``."""

    name: ClassVar[str] = "haproxy"
    title: ClassVar[str] = "HAProxy's HTTP log"
    zone: tzinfo = UTC
    captures: tuple[str, ...] = ()

    def recognise(self, line: bytes) -> str | None:
        """Recognise a time in brackets before five timers between slashes."""
        return _WHY if _RECOGNISED.search(line) else None

    def ignores(self, line: bytes) -> bool:
        """Return whether HAProxy says something about itself, or of a connection that never became a request."""
        # a request's shape first: what a client sends stands behind it, and must not make its line go away
        return _RECOGNISED.search(line) is None and says_of_itself(line)

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        text = text_of(line)
        date = _DATE.search(text)
        if date is None:
            raise UnreadableLine("accept date: absent")
        parts = text[date.end() :].split(" ", len(_NAMES))
        if len(parts) <= len(_NAMES):
            raise UnreadableLine(f"{_NAMES[len(parts) - 1]}: the line ends here")
        frontend, backend_server, timers, status, sent, _, _, flags, connections = parts[: len(_NAMES)]
        each = timers.split("/")
        if len(each) != len(TIMERS):
            raise UnreadableLine("timers: not five (a TCP log has three)")
        backend, slash, server = backend_server.partition("/")
        if not slash:
            raise UnreadableLine("backend/server: no slash")
        fields = durations(self._received_us(date[1]), each)
        fields |= ending(status, flags, server)
        fields["server"] = frontend.removesuffix("~")
        fields["upstream_addr"] = addresses(backend, server, connections.rpartition("/")[2])
        fields["bytes_sent"] = sent.removeprefix("+")
        self._read_rest(parts[-1], fields)
        return fields

    def _received_us(self, date: str) -> int:
        us = us_of_log_time(f"{date} +0000")
        if us is None:
            raise UnreadableLine("accept date: not an instant")
        return us if self.zone is UTC else _shifted(us, self.zone)

    def _read_rest(self, rest: str, fields: Fields) -> None:
        found = _AFTER_QUEUES.match(rest)
        if found is None:
            raise UnreadableLine("queues: not two numbers")
        captured, request = found.groups()
        if self.captures and captured is not None:
            for name, value in zip(self.captures, captured.split("|"), strict=False):
                if name != "-" and value:
                    fields[name] = _decoded(value)
        if request is not None and request.endswith('"'):
            fields["method"], fields["uri"] = request_line(_decoded(request[:-1]))
        elif (
            request is not None and " " in request
        ):  # syslog cut the line: the measurements stand, half a path does not
            fields["method"] = request.partition(" ")[0]

    def with_argument(self, argument: str) -> Self:
        """Return the format for ZONE or ZONE,captures=NAME|NAME…; raises `ConfigurationError`."""
        zone, comma, captures = argument.partition(",")
        keyword, _, names = captures.partition("=")
        each = tuple(names.split("|")) if names else ()
        if (comma and keyword != "captures") or not set(each) <= _CAPTURED:
            raise ConfigurationError(
                "gateway.format",
                "captures of HAProxy that cannot be read",
                found=captures,
                remedy=f"name each captured header in order, as captures=NAME|NAME, of {', '.join(sorted(_CAPTURED))}",
            )
        made = type(self)()
        try:
            made.zone = UTC if zone == "UTC" else ZoneInfo(zone)
        except (ValueError, OSError, KeyError) as error:
            raise ConfigurationError(
                "gateway.format",
                "no such time zone",
                found=zone,
                remedy="write haproxy:ZONE with a zone's name, such as Asia/Shanghai",
            ) from error
        made.captures = each
        made.argument = argument
        return made


def _shifted(us: int, zone: tzinfo) -> int:
    """Return µs since 1970 of a local time read as if it were UTC; in the hour that comes twice it is the first."""
    offset = from_us(us).replace(tzinfo=zone).utcoffset() or timedelta()
    return us - offset // _MICROSECOND


def _decoded(text: str) -> str:
    """Return `text` with HAProxy's #XX as the bytes that they stand for."""
    if "#" not in text:
        return text
    written = _ENCODED.sub(lambda found: chr(int(found[1], 16)), text)
    try:
        return written.encode("latin-1").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return written


FORMAT = HaproxyHttpLog()
