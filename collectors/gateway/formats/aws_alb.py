"""Own the access log of an AWS Application Load Balancer, as it lies (gzipped) in S3.

A request takes from ``request_creation_time`` to ``time``, both of the balancer's clock. The three processing times
add up to the answer's first byte only, so they never stand for the whole; -1 in them is "not reached".
Status 000 is no client's leaving (that is 460): the balancer closed the connection, without an answer.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.measured import traceparent_of
from collectors.gateway.formats.times import seconds_text, us_of_iso
from collectors.gateway.formats.values import SECONDS, is_absent, path_of, seconds_or_nothing, text_of

if TYPE_CHECKING:
    from collectors.gateway.formats.format import Fields

_FIELD = re.compile(r'"((?:[^"\\]|\\.)*)"(?= |$)|"|([^" ]\S*)', re.DOTALL)
_RECOGNISED = re.compile(rb"(?:https?|h2|grpcs|wss?) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z app/\S+ ")
_BEGINNING = re.compile(rb"[a-z0-9]{2,6} (\d{4}-[0-9T:.-]{6,40}Z) ")
_NAMES = (
    "type", "time", "elb", "client:port", "target:port", "request_processing_time", "target_processing_time",
    "response_processing_time", "elb_status_code", "target_status_code", "received_bytes", "sent_bytes", "request",
    "user_agent", "ssl_cipher", "ssl_protocol", "target_group_arn", "trace_id", "domain_name", "chosen_cert_arn",
    "matched_rule_priority", "request_creation_time", "actions_executed", "redirect_url", "error_reason",
    "target:port_list", "target_status_code_list",
)  # fmt: skip
_NEEDED = _NAMES.index("request_creation_time") + 1
_ROOT = re.compile(r"(?:^|;)Root=1-([0-9a-f]{8})-([0-9a-f]{24})(?:;|$)")
_CLIENT_CLOSED = "460"
_NO_ANSWER = "000"
_BAD_GATEWAY = "502"
_ANSWERED_ITSELF = "fixed-response"


class AwsAlb(GatewayFormat):
    """One line of an Application Load Balancer's access log."""

    name = "aws-alb"
    title = "an AWS Application Load Balancer's log"

    def recognise(self, line: bytes) -> str | None:
        """Recognise the type, the time and the balancer's resource id."""
        return "it begins with a type, a time and app/" if _RECOGNISED.match(line) else None

    def ended_us(self, line: bytes) -> int | None:
        """Return the second field, without reading the rest."""
        found = _BEGINNING.match(line)
        return us_of_iso(found[1].decode()) if found else super().ended_us(line)

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        said = _split(text_of(line))
        ended = us_of_iso(said["time"])
        if ended is None:
            raise UnreadableLine("time: not an instant")
        began = us_of_iso(said["request_creation_time"])
        if began is None:
            raise UnreadableLine("request_creation_time: not an instant")
        if ended < began:
            raise UnreadableLine("request_creation_time: after time")
        status = said["elb_status_code"]
        if is_absent(status):
            raise UnreadableLine("elb_status_code: absent")
        method, _, target = said["request"].partition(" ")
        fields = {
            "time": seconds_text(ended),
            "request_time": seconds_text(ended - began),
            "status": status,
            "method": method,
            "uri": path_of(target.rpartition(" ")[0] or target),
            "server": said["elb"],
            "upstream_addr": _tries(said.get("target:port_list", ""), said["target:port"]),
            "upstream_status": _tries(said.get("target_status_code_list", ""), said["target_status_code"]),
            "forwarded": seconds_or_nothing(said["request_processing_time"], unit_us=SECONDS),
            "request_length": said["received_bytes"],
            "bytes_sent": said["sent_bytes"],
            "error_code": said.get("error_reason", ""),
        }
        fields |= _ids(said["trace_id"])
        if status == _NO_ANSWER:
            fields["status"] = _BAD_GATEWAY
        if status == _CLIENT_CLOSED:
            fields["client_cancelled"] = "1"
        if status.startswith("2") and said.get("actions_executed", "").endswith(_ANSWERED_ITSELF):
            fields["substituted"] = "1"
        return {key: value for key, value in fields.items() if not is_absent(value)}


def _split(text: str) -> dict[str, str]:
    values = []
    for found in islice(_FIELD.finditer(text), len(_NAMES)):
        if found[1] is None and found[2] is None:  # a quote that nothing closes
            break
        values.append(found[2] if found[1] is None else found[1])
    if len(values) < _NEEDED:
        raise UnreadableLine(f"{_NAMES[len(values)]}: the line ends here")
    return dict(zip(_NAMES, values, strict=False))


def _tries(listed: str, last: str) -> str:
    return last if is_absent(listed) else ", ".join(listed.split())


def _ids(trace: str) -> Fields:
    """Return the X-Ray id as request id, and as the trace that a propagator of X-Ray makes of it."""
    found = _ROOT.search(trace)
    if found is None:
        return {"request_id": trace}
    return {"request_id": f"1-{found[1]}-{found[2]}", "traceparent": traceparent_of(found[1] + found[2])}


FORMAT = AwsAlb()
