"""Own Azure Application Gateway's access log as diagnostic settings export it: one JSON record a line.

Version 2 counts ``timeTaken`` in seconds, version 1 in milliseconds; what tells them apart are the keys that only
version 2 has. The records' time is cut to the second. Read are a record on a line of its own (as in a storage
account's PT1H.json), ``{"records":[…]}`` with one record, and a row of the table AGWAccessLogs; several records in
one line are to be split before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.measured import mapping
from collectors.gateway.formats.times import seconds_text, us_of_iso
from collectors.gateway.formats.values import (
    MILLISECONDS,
    SECONDS,
    is_absent,
    json_object,
    plain,
    seconds_in,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.gateway.formats.format import Fields

_CATEGORY = "ApplicationGatewayAccessLog"
_TABLE = "AGWAccessLogs"
_OF_VERSION_2 = frozenset({
    "serverstatus", "serverrouted", "serverresponselatency", "clientresponsetime", "originalrequesturiwithargs",
    "transactionid", "wafevaluationtime", "sslclientverify", "backendpoolname",
    "listenername", "rulename",
})  # fmt: skip
_AS_THEY_ARE = (
    ("method", "httpmethod"),
    ("uri", "requesturi"),
    ("upstream_addr", "serverrouted"),
    ("upstream_status", "serverstatus"),
    ("upstream_response_time", "serverresponselatency"),
    ("request_length", "receivedbytes"),
    ("bytes_sent", "sentbytes"),
    ("request_id", "transactionid"),
    ("client_subject", "sslclientcertificatesubjectname"),
)
_NO_ERROR = "ERRORINFO_NO_ERROR"
_CLIENT_CLOSED = "ERRORINFO_CLIENT_CLOSED_REQUEST"
_MARKS = (_CATEGORY.encode(), b'"' + _TABLE.encode() + b'"')


class AzureApplicationGateway(GatewayFormat):
    """One record of the access log of Azure Application Gateway, version 1 or 2."""

    name = "azure-application-gateway"
    title = "Azure Application Gateway's access log"

    def recognise(self, line: bytes) -> str | None:
        """Recognise the records' category."""
        found = line.lstrip().startswith(b"{") and any(mark in line for mark in _MARKS)
        return "its records are of an application gateway's access log" if found else None

    def ignores(self, line: bytes) -> bool:
        """Return whether the line is a record of another log of the gateway, or the frame around records."""
        if line.strip() in (b'{"records":[', b'{"records": [', b'{ "records": [', b"]}", b"]", b"["):
            return True
        return (
            b'"category"' in line
            and not any(mark in line for mark in _MARKS)
            and b'"ApplicationGateway' in line
        )

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        record = _record(line)
        properties = record.get("properties")
        said = {key.lower(): plain(value) for key, value in record.items()}
        if isinstance(properties, dict):
            said |= {key.lower(): plain(value) for key, value in properties.items()}
        ended = _ended(said)
        taken = said.get("timetaken", "")
        unit_us = SECONDS if "." in taken or not _OF_VERSION_2.isdisjoint(said) else MILLISECONDS
        fields = {
            "time": seconds_text(ended),
            "request_time": seconds_in(taken, unit_us=unit_us, field="timeTaken"),
            "status": said.get("httpstatus", ""),
            "server": said.get("listenername", "") or said.get("host", ""),
        }
        fields |= {ours: said[theirs] for ours, theirs in _AS_THEY_ARE if theirs in said}
        error = said.get("errorinfo", "") or said.get("error_info", "")
        if error == _CLIENT_CLOSED:
            fields["client_cancelled"] = "1"
        if error != _NO_ERROR:
            fields["error_code"] = error
        return {key: value for key, value in fields.items() if not is_absent(value)}


def _record(line: bytes) -> Mapping[str, Any]:
    record = json_object(line.rstrip().removesuffix(b","))
    records = record.get("records")
    if records is None:
        return record
    if not isinstance(records, list) or len(records) != 1:
        raise UnreadableLine("records: several in one line; write them one a line (jq -c .records[])")
    return mapping(records[0])


def _ended(said: Mapping[str, str]) -> int:
    for field in ("timeStamp", "time", "TimeGenerated"):
        if text := said.get(field.lower(), ""):
            us = us_of_iso(text)
            if us is None:
                raise UnreadableLine(f"{field}: not an instant with its zone")
            return us
    raise UnreadableLine("timeStamp: absent")


FORMAT = AzureApplicationGateway()
