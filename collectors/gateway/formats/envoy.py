"""Own Envoy's default text log, and Istio's.

Envoy escapes nothing in them. What a client can make up stands between quotes behind all that is measured, and the
fields behind that are read from the line's end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from collectors.gateway.formats.envoy_request import flagged, sent_on, timed
from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.times import us_of_seconds
from collectors.gateway.formats.values import is_absent, path_of, text_of

if TYPE_CHECKING:
    from collectors.gateway.formats.format import Fields

_BEGIN = r'\[(?P<start>[^\]\s]+)\] "(?P<method>\S+) (?P<path>\S+) \S+" (?P<status>\d{1,3}|-) (?P<flags>[A-Za-z,]+|-) '
_SIZES = r"(?P<received>\d+|-) (?P<sent>\d+|-) (?P<duration>\S+) (?P<service>\S+) "
_CALLER = r'".*" "(?P<id>[^"]*)" "(?P<authority>[^"]*)" "(?P<host>[^"]*)"'
_ENVOY = re.compile(_BEGIN + _SIZES + _CALLER, re.ASCII)
_DETAILS = r'(?P<details>\S+) (?P<termination>\S+) "(?P<failure>[^"]*)" '
_PLACES = (
    r" (?P<cluster>\S+) (?P<upstream_local>\S+) (?P<local>\S+) (?P<remote>\S+) (?P<name>\S+) (?P<route>\S+)"
)
_ISTIO = re.compile(_BEGIN + _DETAILS + _SIZES + _CALLER + _PLACES, re.ASCII)


class Envoy(GatewayFormat):
    """Envoy's default format string."""

    name = "envoy"
    title = "Envoy's default text format"
    _pattern = _ENVOY
    _why = "its start is in brackets, its code has response flags behind it, and it ends with five texts in quotes"

    def recognise(self, line: bytes) -> str | None:
        """Recognise the whole line."""
        return self._why if self._pattern.fullmatch(text_of(line)) else None

    def ended_us(self, line: bytes) -> int | None:
        """Return start and duration together."""
        found = self._pattern.fullmatch(text_of(line))
        try:
            return None if found is None else us_of_seconds(timed(found["start"], found["duration"])["time"])
        except UnreadableLine:
            return None

    def read(self, line: bytes) -> Fields:
        """Return what the fields say."""
        found = self._pattern.fullmatch(text_of(line))
        if found is None:
            raise UnreadableLine(f"not a line of {self.title}")
        fields = timed(found["start"], found["duration"])
        fields |= flagged(found["status"], found["flags"])
        fields |= sent_on(found["host"], found["service"])
        for key, group in (
            ("method", "method"), ("request_id", "id"), ("server", "authority"), ("request_length", "received"), ("bytes_sent", "sent"),
        ):  # fmt: skip
            if not is_absent(found[group]):
                fields[key] = found[group]
        if not is_absent(found["path"]):
            fields["uri"] = path_of(found["path"])
        return fields


class Istio(Envoy):
    """Istio's default format string: Envoy's with details and places."""

    name = "istio"
    title = "Istio's default text format"
    _pattern = _ISTIO
    _why = "its code has response flags and code details behind it, and it ends with a cluster, four addresses and names"


FORMAT = Envoy()
ISTIO_FORMAT = Istio()
