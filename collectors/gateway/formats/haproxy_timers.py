"""Own what HAProxy's timers, termination state, retries and messages mean, in whichever format they are written.

A timer of -1 was never reached: it is unknown, not 0. A total with a ``+`` was written before the answer ended
(``option logasap``): a lower bound is no measurement, so such a line is unreadable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from collectors.gateway.formats.format import UnreadableLine
from collectors.gateway.formats.measured import tries, whole_number
from collectors.gateway.formats.times import seconds_text
from collectors.gateway.formats.values import MILLISECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collectors.gateway.formats.format import Fields

_SUCCESS = range(200, 300)
_NO_STATUS_BELOW = 100
_MOST_DIGITS = 15
_TIMEOUT, _BAD_GATEWAY = 504, 502
_CLIENT, _CLIENT_TIMEOUT, _SERVER_TIMEOUT, _LOCAL, _NORMAL = "C", "c", "s", "L", "-"
_BEFORE_THE_ANSWER = "RQCH"
_CACHE = "<CACHE>"
_OF_ITSELF = re.compile(
    rb"(?:.*\]: |<\d{1,3}>|)(?:Proxy|Server|Backup Server|Backend|backend|Health check for|Stopping|Pausing) \S"
    rb"|\[(?:NOTICE|WARNING|ALERT)\] "
    rb"|.*\d\] [^\s/]+/\S+: ",
)
_FLAGS = frozenset("CSPLRIDUKcs-")
TIMERS = ("TR", "Tw", "Tc", "Tr", "Ta")


def durations(received_us: int, timers: Sequence[str]) -> Fields:
    """Return what TR, Tw, Tc, Tr and Ta (milliseconds) say, and the end; raises `UnreadableLine` without a total."""
    request, queued, connected, _first_byte, total = timers
    if total.startswith("+"):
        raise UnreadableLine("Ta: a lower bound, written before the answer ended (option logasap)")
    total_us = timer_us(total)
    if total_us is None:
        raise UnreadableLine("Ta: negative" if total.startswith("-") else "Ta: not a number of milliseconds")
    fields = {"time": seconds_text(received_us + total_us), "request_time": seconds_text(total_us)}
    request_us, queued_us, connected_us = timer_us(request), timer_us(queued), timer_us(connected)
    if queued_us is not None:
        fields["queue"] = seconds_text(queued_us)
        if request_us is not None and connected_us is not None:
            fields["forwarded"] = seconds_text(request_us + queued_us + connected_us)
    return fields


def timer_us(milliseconds: str) -> int | None:
    """Return a timer in µs, or None where it was not reached (-1) or is no number."""
    if milliseconds.isdigit() and milliseconds.isascii() and len(milliseconds) <= _MOST_DIGITS:
        return int(milliseconds) * MILLISECONDS
    return None


def ending(status: str, flags: str, server: str) -> Fields:
    """Return status and outcome of HAProxy's status (-1: none was sent) and termination state; raises `UnreadableLine`.

    Who ended a request is the state's first letter. A request that ended without a status is the client's
    (status 0) only where the state says so; otherwise it is what HAProxy would have answered: 504 or 502.
    """
    try:
        code = int(status)
    except ValueError as error:
        raise UnreadableLine("status: not a number") from error
    cause = flags[:1]
    if len(flags) not in (2, 4) or cause not in _FLAGS:
        raise UnreadableLine("termination state: not four letters")
    fields: Fields = {}
    answered, silent = code in _SUCCESS, code < _NO_STATUS_BELOW
    # once an answer has begun, an error is the engine's, whoever hung up afterwards
    by_client = (cause == _CLIENT and (answered or silent or flags[1] in _BEFORE_THE_ANSWER)) or (
        cause == _CLIENT_TIMEOUT and (answered or silent)
    )
    if by_client:
        fields["client_cancelled"] = "1"
    elif answered and cause == _SERVER_TIMEOUT:
        fields["timeout"] = "1"
    elif answered and (cause == _LOCAL or server == _CACHE):
        fields["substituted"] = "1"
    elif answered and cause != _NORMAL:
        fields["incomplete"] = "1"
    if silent:
        code = 0 if by_client else _TIMEOUT if cause == _SERVER_TIMEOUT else _BAD_GATEWAY
    fields["status"] = str(code)
    if flags[:2] != "--":
        fields["error_code"] = flags
    return fields


def addresses(backend: str, server: str, retries: str) -> str:
    """Return the servers tried, the last by name; "+1" is one that went to another server, <NOSRV> is none."""
    named = "" if server.startswith("<") or not server or server == "-" else f"{backend}/{server}"
    return tries(named, whole_number(retries.removeprefix("+")))


def says_of_itself(line: bytes) -> bool:
    """Return whether HAProxy says something about itself, or of a connection that never became a request.

    Ask only of what has not a request's shape: a client may send what looks like a message.
    """
    return _OF_ITSELF.match(line) is not None
