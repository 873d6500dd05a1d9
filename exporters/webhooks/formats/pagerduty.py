"""Own events to PagerDuty's Events API v2: one a request, held together by the alert's id."""

from __future__ import annotations

import hashlib
from typing import Any

from exporters.webhooks.event import AlertEvent, Severity, State, event_tree
from exporters.webhooks.formats.format import JSON_TYPE, Format, Outgoing, by_status, json_bytes
from exporters.webhooks.posting import Request
from exporters.webhooks.runbooks import runbook_url
from exporters.webhooks.text import cut, plain
from fairclock.model import utc_text

_SUMMARY_CHARACTERS = 1_024
_KEY_CHARACTERS = 255
_SEVERITIES = {Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.INFO: "info"}


def compose(outgoing: Outgoing) -> Request:
    """Return the request: an incident is opened or told more, or resolved."""
    event = outgoing.events[0]
    tree: dict[str, Any] = {
        "routing_key": outgoing.secret.reveal() if outgoing.secret is not None else "",
        "event_action": "resolve" if event.state is State.RESOLVED else "trigger",
        "dedup_key": dedup_key(event),
        "client": "Fairclock",
        "payload": {
            "summary": cut(outgoing.text.title, _SUMMARY_CHARACTERS),
            "source": plain(event.contract_id),
            "severity": _SEVERITIES[event.severity],
            "timestamp": utc_text(event.at),
            "component": plain(event.objective or event.rule),
            "group": plain(event.contract_id),
            "class": plain(event.rule),
            "custom_details": {
                **{name: value for name, value in event_tree(event).items() if value is not None},
                "message_id": outgoing.message_id,
                "text": outgoing.text.paragraphs[0].body,
            },
        },
    }
    places = {"Fairclock": event.link or outgoing.link, "Runbook": runbook_url(event, outgoing.runbooks)}
    if links := [{"href": place, "text": name} for name, place in places.items() if place]:
        tree["links"] = links
    return Request(url=outgoing.url, body=json_bytes(tree), headers={"Content-Type": JSON_TYPE})


def dedup_key(event: AlertEvent) -> str:
    """Return what PagerDuty knows an alert by; an id that is too long for it is known by its hash."""
    if len(event.alert_id) <= _KEY_CHARACTERS and event.alert_id.isprintable():
        return event.alert_id
    return hashlib.sha256(event.alert_id.encode("utf-8", "replace")).hexdigest()


FORMAT = Format(escape=plain, takes_groups=False, is_stateful=True, compose=compose, judge=by_status)
