"""Own Fairclock's own JSON: everything that is known, signed with the time over the bytes that are sent."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any

from exporters.webhooks.event import event_tree
from exporters.webhooks.formats.format import JSON_TYPE, Format, Outgoing, by_status, json_bytes
from exporters.webhooks.posting import Request
from exporters.webhooks.runbooks import runbook_url
from exporters.webhooks.text import plain

if TYPE_CHECKING:
    from datetime import datetime

    from exporters.webhooks.credentials import Secret
    from exporters.webhooks.event import AlertEvent

SCHEMA = "fairclock.alert/1"
ALGORITHM = "hmac-sha256"
VERSION = "v1"


def compose(outgoing: Outgoing) -> Request:
    """Return the request; body and ids are the same at every attempt, time and signature are of this one."""
    body = json_bytes(
        {
            "schema": SCHEMA,
            "message_id": outgoing.message_id,
            "destination": outgoing.destination,
            "title": outgoing.text.title,
            "events": [
                _event(event, paragraph.title, paragraph.body, outgoing)
                for event, paragraph in zip(outgoing.events, outgoing.text.paragraphs, strict=True)
            ],
        }
    )
    headers = {
        "Content-Type": JSON_TYPE,
        "Fairclock-Event-Id": ",".join(event.event_id for event in outgoing.events),
        "Fairclock-Message-Id": outgoing.message_id,
        "Fairclock-Delivery-Id": outgoing.delivery_id,
        **signed_headers(body, outgoing.secret, now=outgoing.now),
    }
    return Request(url=outgoing.url, body=body, headers=headers)


def signed_headers(body: bytes, secret: Secret | None, *, now: datetime) -> dict[str, str]:
    """Return the headers that sign a body which is sent at `now`; without a secret they only say when that is."""
    timestamp = str(int(now.timestamp()))
    headers = {"Fairclock-Timestamp": timestamp, "Fairclock-Signature-Algorithm": ALGORITHM}
    if secret is not None:
        headers["Fairclock-Signature"] = f"{VERSION}={signature(secret, timestamp, body)}"
    return headers


def signature(secret: Secret, timestamp: str, body: bytes) -> str:
    """Return the HMAC-SHA256 over ``timestamp.body`` in hexadecimal digits."""
    signed = timestamp.encode() + b"." + body
    return hmac.new(secret.reveal().encode(), signed, hashlib.sha256).hexdigest()


def _event(event: AlertEvent, title: str, text: str, outgoing: Outgoing) -> dict[str, Any]:
    return {
        **event_tree(event),
        "link": event.link or outgoing.link,
        "runbook_url": runbook_url(event, outgoing.runbooks),
        "title": title,
        "text": text,
    }


FORMAT = Format(escape=plain, takes_groups=True, is_stateful=False, compose=compose, judge=by_status)
