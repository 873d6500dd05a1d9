"""Own what Envoy's fields mean, whichever way they are written down.

Envoy's ``START_TIME`` is the request's start and ``DURATION`` lasts until its last byte out, so the end is their
sum. ``x-envoy-upstream-service-time`` ends with the upstream's headers, not with its last byte: what lies before
the upstream cannot be had from it alone, only where ``RESPONSE_DURATION`` or ``REQUEST_TX_DURATION`` is logged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from collectors.gateway.formats.format import UnreadableLine
from collectors.gateway.formats.times import duration_text, seconds_text, us_of_iso, us_of_seconds
from collectors.gateway.formats.values import MILLISECONDS, is_absent, seconds_in, seconds_or_nothing

if TYPE_CHECKING:
    from collectors.gateway.formats.format import Fields

_SHORT_FLAGS = {
    "DownstreamConnectionTermination": "DC", "DownstreamRemoteReset": "DR", "UpstreamRequestTimeout": "UT",
    "StreamIdleTimeout": "SI", "DurationTimeout": "DT", "UpstreamMaxStreamDurationReached": "UMSDR", "RateLimited": "RL",
    "UpstreamOverflow": "UO", "OverloadManagerTerminated": "OM", "UpstreamConnectionFailure": "UF",
    "UpstreamConnectionTermination": "UC", "UpstreamRemoteReset": "UR", "LocalReset": "LR", "NoHealthyUpstream": "UH",
    "UpstreamRetryLimitExceeded": "URX", "UpstreamProtocolError": "UPE", "NoRouteFound": "NR", "NoClusterFound": "NC",
    "ConnectionTermination": "CT",
}  # fmt: skip
_CLIENT_LEFT = frozenset({"DC", "DR"})
_TIMED_OUT = frozenset({"UT", "SI", "DT", "UMSDR"})
_BROKEN_OFF = frozenset({"UF", "UC", "UR", "LR", "UH", "URX", "UPE", "UO", "OM", "CT"})
_NO_ANSWER = {"", "-", "0"}
_ANSWERED_FOR = re.compile(r"5\d\d|429", re.ASCII)
"""What Envoy had answered is what happened, though the client then left, too."""
_BAD_GATEWAY = "502"
_UNAVAILABLE = "503"
_MOST_ATTEMPTS = 255
_ATTEMPTS = re.compile(r"[1-9][0-9]{0,3}")


def start_us(text: str) -> int:
    """Return START_TIME; raises `UnreadableLine`."""
    found = us_of_iso(text)
    if found is None:
        found = us_of_seconds(text)
    if found is None:
        raise UnreadableLine("START_TIME: absent" if is_absent(text) else "START_TIME: not a time")
    return found


def timed(start: str, duration: str) -> Fields:
    """Return the request's end and how long it took; raises `UnreadableLine`."""
    seconds = seconds_in(duration, unit_us=MILLISECONDS, field="DURATION")
    took_us = us_of_seconds(seconds)
    if took_us is None:
        raise UnreadableLine("DURATION: negative")
    return {"time": seconds_text(start_us(start) + took_us), "request_time": seconds}


def flagged(status: str, flags: str) -> Fields:
    """Return the status and what RESPONSE_FLAGS, short or long, add to it.

    Envoy writes 0 where no answer had begun. The client's leaving explains that; an upstream's fault alone makes it
    a server's error, not a client's.
    """
    fields: Fields = {"status": status}
    if is_absent(flags):
        return fields
    names = {_SHORT_FLAGS.get(name, name) for name in flags.replace(" ", "").split(",")}
    fields["error_code"] = ",".join(sorted(names))
    if names & _TIMED_OUT:
        fields["timeout"] = "1"
    elif names & _CLIENT_LEFT and not _ANSWERED_FOR.fullmatch(status):
        fields["client_cancelled"] = "1"
    elif names & _BROKEN_OFF:
        fields["incomplete"] = "1"
        if status in _NO_ANSWER:
            fields["status"] = _BAD_GATEWAY
    if "RL" in names and status == _UNAVAILABLE:
        fields["limit_req_status"] = "REJECTED"
    return fields


def sent_on(host: str, service_time: str, attempts: str = "") -> Fields:
    """Return the upstream, one place a try of which only the last is known, and the time to its headers."""
    fields: Fields = {}
    if not is_absent(host):
        tries = min(int(attempts), _MOST_ATTEMPTS) if _ATTEMPTS.fullmatch(attempts) else 1
        fields["upstream_addr"] = ", ".join(["-"] * (tries - 1) + [host])
        seconds = seconds_or_nothing(service_time, unit_us=MILLISECONDS)
        if seconds:
            fields["upstream_header_time"] = seconds
    return fields


def forwarded_seconds(response_duration: str, service_time: str, transmit_duration: str) -> str:
    """Return how long the request was here before the upstream had it, or an empty text.

    ``REQUEST_TX_DURATION`` says it; else the upstream's first byte came after RESPONSE_DURATION and, by the
    upstream service time, so long after the request was sent on.
    """
    sent = seconds_or_nothing(transmit_duration, unit_us=MILLISECONDS)
    if sent:
        return sent
    if is_absent(response_duration) or is_absent(service_time):
        return ""
    answered, served = (
        duration_text(text, unit_us=MILLISECONDS) for text in (response_duration, service_time)
    )
    answered_us, served_us = us_of_seconds(answered or ""), us_of_seconds(served or "")
    if answered_us is None or served_us is None or answered_us < served_us:
        return ""
    return seconds_text(answered_us - served_us)
