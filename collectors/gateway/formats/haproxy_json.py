"""Own the JSON that the shipped log-format of HAProxy writes: unix time, and headers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.haproxy_timers import TIMERS, addresses, durations, ending
from collectors.gateway.formats.measured import end_of
from collectors.gateway.formats.times import us_of_seconds
from collectors.gateway.formats.values import (
    MILLISECONDS,
    is_absent,
    json_object,
    plain,
    seconds_or_nothing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.gateway.formats.format import Fields

_MARK = b'{"fairclock":"haproxy"'
_AS_THEY_ARE = ("request_id", "traceparent", "tenant", "method", "stream")
_RENAMED = (("path", "uri"), ("frontend", "server"), ("read", "bytes_sent"), ("uploaded", "request_length"))


class HaproxyJson(GatewayFormat):
    """One line of the shipped log-format, behind a syslog header or without one."""

    name = "haproxy-json"
    title = "the JSON of Fairclock's log-format for HAProxy"

    def recognise(self, line: bytes) -> str | None:
        """Recognise the mark that the shipped log-format begins with."""
        return 'its key fairclock says "haproxy"' if _MARK in line else None

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        begin = line.find(_MARK)
        said = {key: plain(value) for key, value in json_object(line[max(begin, 0) :]).items()}
        fields = durations([said.get(timer, "") for timer in TIMERS])
        fields |= ending(said.get("status", ""), said.get("termination", ""), said.get("server", ""))
        fields["time"] = end_of(_received_us(said), fields["request_time"], field="Ta")
        for key in _AS_THEY_ARE:
            if not is_absent(value := said.get(key, "")):
                fields[key] = value
        for theirs, ours in _RENAMED:
            if not is_absent(value := said.get(theirs, "")):
                fields[ours] = value
        fields["upstream_addr"] = addresses(
            said.get("backend", ""), said.get("server", ""), said.get("retries", "")
        )
        handshake = seconds_or_nothing(said.get("Th", ""), unit_us=MILLISECONDS)
        if us_of_seconds(handshake):  # 0 on a kept connection, and where there was none to measure
            fields["connected"] = handshake
        return fields


def _received_us(said: Mapping[str, str]) -> int:
    """Return when the request's first byte came: the connection's accept, its handshake and its idle time later."""
    us = us_of_seconds(said.get("accepted", ""))
    if us is None:
        raise UnreadableLine("accepted: not a number of seconds")
    for timer in ("Th", "Ti"):
        us += us_of_seconds(seconds_or_nothing(said.get(timer, ""), unit_us=MILLISECONDS)) or 0
    return us


FORMAT = HaproxyJson()
