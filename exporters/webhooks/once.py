"""Own an event that is sent to one place once, by whoever asks for it, and not by the courier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporters.webhooks.event import derived_id
from exporters.webhooks.formats.format import Outcome
from exporters.webhooks.outbox import Entry, Fate

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from exporters.webhooks.destination import Attempt, Destination
    from exporters.webhooks.event import AlertEvent
    from exporters.webhooks.outbox import Outbox


def send_once(
    place: Destination,
    event: AlertEvent,
    outbox: Outbox,
    *,
    now: Callable[[], datetime],
    new_id: Callable[[], str],
) -> Attempt:
    """Send `event` to `place`, write down what came of it, and return that; whoever asked keeps the event after that.

    The delivery is written down before its event is kept, so that no courier finds an event to deliver.
    """
    message_id, delivery_id = derived_id("msg", place.name, event.event_id), new_id()
    attempt = place.send([event], message_id=message_id, delivery_id=delivery_id, now=now())
    entry = Entry(
        destination=place.name,
        event=event,
        fate=Fate.DELIVERED if attempt.outcome is Outcome.TAKEN else Fate.DEAD,
        message_id=message_id,
        delivery_id=delivery_id,
        attempt=1,
        http_status=attempt.status,
        problem=attempt.problem,
        planned_at=now(),
    )
    outbox.write([entry], now=now())
    return attempt
