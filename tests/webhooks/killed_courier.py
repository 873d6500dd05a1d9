"""A process that keeps events and delivers them until it is killed: python -m tests.webhooks.killed_courier STORE URL FIRST.

It says the number of each event once it is kept.
"""

from __future__ import annotations

import itertools
import random
import sys
from datetime import UTC, datetime
from pathlib import Path

from exporters.webhooks.configuration import DestinationSection, WebhooksSection
from exporters.webhooks.courier import Courier
from exporters.webhooks.destination import destinations
from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.store import open_store
from tests.webhooks.factories import good_event

ALERTS = 3


def event_number(number):
    """The events of ALERTS alerts in turn, each firing and resolved by turns."""
    alert, change = number % ALERTS, number // ALERTS
    state = "resolved" if change % 2 else "firing"
    return good_event(change + 1, state, alert_id=f"alert-{alert}", at=datetime.now(UTC))


def main(folder, url, first):
    def now():
        return datetime.now(UTC)

    section = DestinationSection(name="there", format="json", url=url, secret_env="S")
    webhooks = WebhooksSection(
        destinations=(section,), allow_internal=("127.0.0.1",), group_wait="0s", hold_down="0s"
    )
    with open_store(f"chdb://{Path(folder)}") as store:
        outbox = StoreOutbox(store)
        places = destinations(webhooks, environment={"S": "secret"}, now=now)
        courier = Courier(outbox, places, now=now, random=random.random)
        courier.start()
        for number in itertools.count(first):
            outbox.keep([event_number(number)])
            courier.wake()
            print(number, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
