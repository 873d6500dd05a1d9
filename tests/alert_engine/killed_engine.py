"""A process that logs, counts, alerts and delivers minute by minute until it is killed, or until a minute is reached.

python -m tests.alert_engine.killed_engine STORE URL UNTIL. It says each minute once it is through, and ``done`` once all is delivered.
"""

from __future__ import annotations

import random
import sys
import time
from datetime import timedelta
from pathlib import Path

from exporters.webhooks.configuration import DestinationSection, WebhooksSection
from exporters.webhooks.courier import Courier
from exporters.webhooks.destination import destinations
from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.store import Query, open_store
from tests.alert_engine.scene import MINUTE, START, Scene
from tests.evaluation.factories import a_contract, availability

SECRET = "a secret"
REQUESTS = 12
PHASE = 2  # so many good minutes, as many bad ones, …
SECTION = {
    "keep": "0s",
    "burn": {"rules": [{"name": "burn", "window": "12min", "part": "0.1%"}]},
    **{name: {"enabled": False} for name in ("pace", "queue_share", "gap", "latency")},
}


def is_bad(minute):
    return minute // PHASE % 2 == 1


def next_minute(store):
    """The minute after those that were read through."""
    ((newest,),) = store.rows(Query(sql="SELECT max(covered_to) FROM covered"))
    return max(0, (newest - START) // MINUTE)


def main(folder, url, until):
    begun = time.monotonic()
    clock = {"minute": 0, "ahead": timedelta()}

    def now():
        return START + clock["minute"] * MINUTE + timedelta(seconds=time.monotonic() - begun) + clock["ahead"]

    section = DestinationSection(name="there", format="json", url=url, secret_env="S")
    webhooks = WebhooksSection(
        destinations=(section,), allow_internal=("127.0.0.1",), group_wait="0s", hold_down="0s"
    )
    with open_store(f"chdb://{Path(folder)}") as store:
        scene = Scene(store, contracts=[a_contract(objectives=[availability("99%")])], **SECTION)
        places = destinations(webhooks, environment={"S": SECRET}, now=now)
        courier = Courier(StoreOutbox(store), places, now=now, random=random.random)
        scene.engine.told = courier.wake
        courier.start()
        # the last minute may have been killed before it was looked at
        clock["minute"] = next_minute(store)
        if clock["minute"]:
            scene.look(clock["minute"])
        while clock["minute"] < until:
            minute = clock["minute"]
            scene.number = minute * REQUESTS
            scene.log(minute, REQUESTS, bad=REQUESTS if is_bad(minute) else 0)
            clock["minute"] = minute + 1
            scene.look(minute + 1)
            print(minute, flush=True)  # noqa: T201
        courier.stop()
        # by now every next attempt is due
        clock["ahead"] = timedelta(hours=1)
        last = Courier(StoreOutbox(store), places, now=now, random=random.random)
        while last.step("there") is not None:
            clock["ahead"] += timedelta(minutes=1)
        print("done", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
