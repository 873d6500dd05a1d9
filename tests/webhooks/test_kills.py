"""A process that keeps and delivers events is killed at random moments; another finishes what it began."""

import itertools
import json
import random
import selectors
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from exporters.webhooks.courier import Courier
from exporters.webhooks.destination import destinations
from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.store import Query, open_store
from tests.webhooks.factories import good_section, good_webhooks
from tests.webhooks.killed_courier import ALERTS
from tests.webhooks.receiver import Receiver

ROOT = Path(__file__).parents[2]
KILLS = 3


def killed(folder, receiver, first, *, after_seconds):
    """Let a child keep and deliver until it is killed; return the numbers of the events that it said are kept."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.webhooks.killed_courier", str(folder), receiver.url(), str(first)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    with child:
        with (
            selectors.DefaultSelector() as selector
        ):  # takes descriptors of any number, as a long run has them
            selector.register(child.stdout, selectors.EVENT_READ)
            assert selector.select(120), "the child never kept an event"
        deadline = time.monotonic() + 120
        while not receiver.received:
            assert time.monotonic() < deadline, "the child never sent anything"
            time.sleep(0.01)
        time.sleep(after_seconds)
        child.send_signal(signal.SIGKILL)
        told = child.stdout.read()
    assert child.returncode == -signal.SIGKILL
    return [int(line) for line in told[: told.rfind(b"\n") + 1].split()]


def mostly_working():
    """An answer that is 503 the first time and every third, and breaks off now and then."""
    asked = itertools.count()

    def answer(handler):
        number = next(asked)
        if number % 7 == 5:
            handler.close_connection = True
            handler.connection.close()
            return
        handler.send_response(200 if number % 3 else 503)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def test_no_event_is_lost_none_has_two_ids_and_each_alert_is_told_in_order(tmp_path):
    chance = random.Random(5)
    folder, kept, first = tmp_path / "store", set(), 0
    with Receiver(mostly_working()) as receiver:
        for _ in range(KILLS):
            told = killed(folder, receiver, first, after_seconds=chance.uniform(0.05, 1.0))
            kept |= set(told)
            with open_store(f"chdb://{folder}") as store:
                (row,) = store.rows(Query(sql="SELECT count() FROM alerts"))
            first = row[0]
        receiver.answers = [(200, {}, b"")]
        with open_store(f"chdb://{folder}") as store:
            outbox = StoreOutbox(store)
            # by now every next attempt is due
            clock = [datetime.now(UTC) + timedelta(hours=1)]

            def now():
                clock[0] += timedelta(seconds=1)
                return clock[0]

            section = good_section(url=receiver.url())
            webhooks = good_webhooks(section, allow_internal=("127.0.0.1",), group_wait="0s", hold_down="0s")
            places = destinations(webhooks, environment={"S": "secret"}, now=now)
            courier = Courier(outbox, places, now=now, random=lambda: 0.0)
            while courier.step("there") is not None:
                pass
            rows = store.rows(Query(sql="SELECT alert_id, sequence, event_id FROM alerts"))
            states = {row["delivery"] for row in outbox.newest()}
        received = list(receiver.received)
    assert len(rows) >= len(kept) >= KILLS
    assert {f"alert-{number % ALERTS}/{number // ALERTS + 1}" for number in kept} <= {
        f"{alert_id}/{sequence}" for alert_id, sequence, _ in rows
    }
    ids, order, members, deliveries = {}, {}, {}, []
    for each in received:
        tree = json.loads(each.body)
        members.setdefault(tree["message_id"], set()).add(
            tuple(event["event_id"] for event in tree["events"])
        )
        deliveries.append(each.headers["Fairclock-Delivery-Id"])
        for event in tree["events"]:
            ids.setdefault((event["alert_id"], event["sequence"]), set()).add(event["event_id"])
            order.setdefault(event["alert_id"], []).append(event["sequence"])
    assert ids == {(alert_id, sequence): {event_id} for alert_id, sequence, event_id in rows}
    assert states == {"delivered"}
    assert all(numbers == sorted(numbers) for numbers in order.values())
    assert all(len(each) == 1 for each in members.values())
    assert len(set(deliveries)) == len(deliveries)
    assert len(deliveries) > len(members), "nothing was ever sent twice, so nothing was tried"
