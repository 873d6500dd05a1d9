"""A process that alerts is killed at random moments, and started again: the alerts are those of one that never was."""

import hashlib
import hmac
import itertools
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from fairclock.store import Query, open_store
from sla.alerting.naming import AlertKey
from tests.alert_engine.killed_engine import PHASE, SECRET, next_minute
from tests.alert_engine.scene import MINUTE, START
from tests.webhooks.receiver import Receiver

ROOT = Path(__file__).parents[2]
KILLS = 3
MINUTES = 12
NEVER = 10**6


def start(folder, receiver, errors, *, until):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.alert_engine.killed_engine", str(folder), receiver.url(), str(until)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )


def kill(folder, receiver, errors, *, after_seconds):
    """Let a process go on for a minute of the script and some time more; then kill it."""
    child = start(folder, receiver, errors, until=NEVER)
    with child:
        assert child.stdout.readline(), "it ended before it had done anything"
        time.sleep(after_seconds)
        child.send_signal(signal.SIGKILL)
    return child.returncode


def some_failures():
    """An answer that is 503 now and then, or breaks off after it has taken what it was sent."""
    asked = itertools.count()

    def answer(handler):
        number = next(asked)
        if number % 4 == 1:
            handler.close_connection = True
            handler.connection.close()
            return
        handler.send_response(503 if number % 4 == 2 else 200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def expected(minutes):
    """(alert id, sequence, state, when) of every change in so many minutes, from the script alone."""
    key = AlertKey(contract="acme-2026", rule="burn", objective="availability")
    found = []
    for life, bad_from in enumerate(range(PHASE, minutes, 2 * PHASE), start=1):
        alert_id = key.alert_id(life)
        found.append((alert_id, 1, "firing", START + (bad_from + 1) * MINUTE))
        if bad_from + PHASE < minutes:
            found.append((alert_id, 2, "resolved", START + (bad_from + PHASE + 1) * MINUTE))
    return found


def test_no_alert_is_lost_and_none_is_sent_under_another_id(tmp_path):
    chance = random.Random(11)
    folder = tmp_path / "store"
    with Receiver(some_failures()) as receiver, (tmp_path / "errors").open("wb") as errors:
        codes = [kill(folder, receiver, errors, after_seconds=chance.uniform(0, 0.5)) for _ in range(KILLS)]
        with start(folder, receiver, errors, until=MINUTES) as last:
            said = last.communicate(timeout=300)[0].split()
        received = list(receiver.received)
    problems = (tmp_path / "errors").read_text()
    assert last.returncode == 0, problems
    assert said[-1] == "done", problems
    assert codes == [-signal.SIGKILL] * KILLS, problems
    with open_store(f"chdb://{folder}") as store:
        rows = store.rows(
            Query(
                sql="SELECT alert_id, sequence, state, changed_at, event_id FROM alerts ORDER BY changed_at, sequence"
            )
        )
        minutes = next_minute(store)
    assert minutes >= MINUTES
    assert [row[:4] for row in rows] == expected(minutes)
    ids, order, messages = {}, {}, set()
    for each in received:
        signed = each.headers["Fairclock-Timestamp"].encode() + b"." + each.body
        signature = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        assert each.headers["Fairclock-Signature"] == f"v1={signature}"
        message = json.loads(each.body)
        messages.add(message["message_id"])
        for event in message["events"]:
            ids.setdefault((event["alert_id"], event["sequence"]), set()).add(event["event_id"])
            order.setdefault(event["alert_id"], []).append(event["sequence"])
    assert ids == {(row[0], row[1]): {row[4]} for row in rows}
    assert all(numbers == sorted(numbers) for numbers in order.values())
    # two alerts that change while the courier waits go in one message
    assert len(received) > len(messages), "nothing was ever sent twice, so nothing was tried"
