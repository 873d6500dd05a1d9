"""Own the sample: an alert that is none, marked as a test, sent once and written down like any other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from exporters.webhooks.event import AlertEvent, Severity, State
from exporters.webhooks.formats.format import Outcome
from exporters.webhooks.once import send_once

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from exporters.webhooks.destination import Destination
    from exporters.webhooks.outbox import Outbox


def sample(*, alert_id: str, now: datetime) -> AlertEvent:
    """Return the event that is sent."""
    return AlertEvent(
        alert_id=alert_id,
        sequence=1,
        state=State.FIRING,
        severity=Severity.INFO,
        at=now,
        since=now,
        contract_id="test",
        rule="test",
        summary_en="a sample, to see that messages arrive",
        summary_zh="测试样例，用于确认消息能够送达",
        is_test=True,
    )


def send_sample(
    place: Destination, outbox: Outbox, *, now: Callable[[], datetime], new_id: Callable[[], str]
) -> Mapping[str, Any]:
    """Send a sample to `place` once, and return what came of it; where alerts stay open, resolve it too."""
    event = sample(alert_id=f"test/{place.name}/{new_id()}", now=now())
    events = [event]
    if place.format.is_stateful:
        events.append(replace(event, sequence=2, state=State.RESOLVED))
    result: dict[str, Any] = {"destination": place.name, "delivered": True, "http_status": 0, "problem": ""}
    for each in events:
        attempt = send_once(place, each, outbox, now=now, new_id=new_id)
        outbox.keep([each])
        is_taken = attempt.outcome is Outcome.TAKEN
        result |= {
            "delivered": is_taken,
            "event_id": each.event_id,
            "http_status": attempt.status,
            "problem": attempt.problem,
        }
        if not is_taken:
            break
    return result
