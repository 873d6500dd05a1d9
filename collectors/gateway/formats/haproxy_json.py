"""Own the JSON that the shipped log-format of HAProxy writes: unix time, and headers by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.haproxy_timers import (
    TIMERS,
    addresses,
    durations,
    ending,
    says_of_itself,
    timer_us,
)
from collectors.gateway.formats.times import seconds_text, us_of_seconds
from collectors.gateway.formats.values import is_absent, json_object, plain

if TYPE_CHECKING:
    from collectors.gateway.formats.format import Fields

_MARK = b'{"fairclock":"haproxy"'
_USUAL_TIMES = re.compile(
    rb'"accepted":"(\d{10}\.\d{3})","Th":"(\d{1,15}|-1)","Ti":"(\d{1,15}|-1)",(?:"T[Rwcr]":"-?\d+",){4}"Ta":"(\d{1,15})"'
)
_TIMES = 7
_AS_THEY_ARE = ("request_id", "traceparent", "tenant", "method", "stream")
_RENAMED = (("path", "uri"), ("frontend", "server"), ("read", "bytes_sent"), ("uploaded", "request_length"))


class HaproxyJson(GatewayFormat):
    """One line of the shipped log-format, behind a syslog header or without one."""

    name = "haproxy-json"
    title = "the JSON of Fairclock's log-format for HAProxy"

    def recognise(self, line: bytes) -> str | None:
        """Recognise the mark that the shipped log-format begins with."""
        return 'its key fairclock says "haproxy"' if _MARK in line else None

    def ignores(self, line: bytes) -> bool:
        """Return whether HAProxy says something about itself."""
        return _MARK not in line and says_of_itself(line)

    def ended_us(self, line: bytes) -> int | None:
        """Return the end from the first keys alone, in the order in which the shipped log-format has them."""
        found = (
            _USUAL_TIMES.search(line)
            if line.count(b'"T') == _TIMES and line.count(b'"accepted"') == 1
            else None
        )
        if found is None:
            return super().ended_us(line)
        accepted, handshake, idle, total = (each.decode() for each in found.groups())
        return (us_of_seconds(accepted) or 0) + sum(timer_us(each) or 0 for each in (handshake, idle, total))

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        begin = line.find(_MARK)
        said = {key: plain(value) for key, value in json_object(line[max(begin, 0) :]).items()}
        handshake_us = timer_us(said.get("Th", "")) or 0
        accepted_us = us_of_seconds(said.get("accepted", ""))
        if accepted_us is None:
            raise UnreadableLine("accepted: not a number of seconds")
        # the request's first byte came after the connection's handshake and the time it lay idle
        received_us = accepted_us + handshake_us + (timer_us(said.get("Ti", "")) or 0)
        fields = durations(received_us, [said.get(timer, "") for timer in TIMERS])
        fields |= ending(said.get("status", ""), said.get("termination", ""), said.get("server", ""))
        for key in _AS_THEY_ARE:
            if not is_absent(value := said.get(key, "")):
                fields[key] = value
        for theirs, ours in _RENAMED:
            if not is_absent(value := said.get(theirs, "")):
                fields[ours] = value
        fields["upstream_addr"] = addresses(
            said.get("backend", ""), said.get("server", ""), said.get("retries", "")
        )
        if handshake_us:  # 0 on a kept connection, and where there was none to measure
            fields["connected"] = seconds_text(handshake_us)
        return fields


FORMAT = HaproxyJson()
