"""Own the payload of an Alertmanager webhook, version 4, for receivers that understand that one."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from exporters.webhooks.event import AlertEvent, State
from exporters.webhooks.formats.format import JSON_TYPE, Format, Outgoing, by_status, json_bytes
from exporters.webhooks.posting import Request
from exporters.webhooks.runbooks import runbook_url
from exporters.webhooks.text import plain
from fairclock.model import utc_text

_NEVER = "0001-01-01T00:00:00Z"
_FINGERPRINT_CHARACTERS = 16


def compose(outgoing: Outgoing) -> Request:
    """Return the request; a secret is shown as a bearer token."""
    alerts = [
        _alert(event, paragraph.title, paragraph.body, outgoing.link, outgoing.runbooks)
        for event, paragraph in zip(outgoing.events, outgoing.text.paragraphs, strict=True)
    ]
    group = {"contract": plain(outgoing.events[0].contract_id)}
    body = json_bytes(
        {
            "version": "4",
            "groupKey": f"{{}}:{{contract={json.dumps(group['contract'], ensure_ascii=False)}}}",
            "truncatedAlerts": 0,
            "status": "firing" if any(each["status"] == "firing" for each in alerts) else "resolved",
            "receiver": outgoing.destination,
            "groupLabels": group,
            "commonLabels": _shared([each["labels"] for each in alerts]),
            "commonAnnotations": _shared([each["annotations"] for each in alerts]),
            "externalURL": outgoing.link or "",
            "alerts": alerts,
        }
    )
    headers = {"Content-Type": JSON_TYPE}
    if outgoing.secret is not None:
        headers["Authorization"] = f"Bearer {outgoing.secret.reveal()}"
    return Request(url=outgoing.url, body=body, headers=headers)


def _alert(
    event: AlertEvent, title: str, text: str, link: str | None, runbooks: str | None
) -> dict[str, Any]:
    """Return one alert: labels stay what they are from firing to resolution, annotations may change."""
    labels = {
        "alertname": event.rule,
        "alert_id": event.alert_id,
        "contract": event.contract_id,
        "objective": event.objective,
        "clock": event.clock,
        "severity": event.severity.value,
        "test": "true" if event.is_test else None,
    }
    annotations = {
        "summary": title,
        "description": text,
        "event_id": event.event_id,
        "state": event.state.value,
        "incident": event.incident,
        "runbook_url": runbook_url(event, runbooks),
    }
    is_resolved = event.state is State.RESOLVED
    return {
        "status": "resolved" if is_resolved else "firing",
        "labels": {name: plain(value) for name, value in labels.items() if value is not None},
        "annotations": {name: value for name, value in annotations.items() if value is not None},
        "startsAt": utc_text(event.since),
        "endsAt": utc_text(event.at) if is_resolved else _NEVER,
        "generatorURL": event.link or link or "",
        "fingerprint": hashlib.sha256(event.alert_id.encode("utf-8", "replace")).hexdigest()[
            :_FINGERPRINT_CHARACTERS
        ],
    }


def _shared(mappings: list[dict[str, str]]) -> dict[str, str]:
    first, *others = mappings
    return {name: value for name, value in first.items() if all(each.get(name) == value for each in others)}


FORMAT = Format(escape=plain, takes_groups=True, is_stateful=True, compose=compose, judge=by_status)
