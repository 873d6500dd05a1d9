"""``fairclock up`` as a process: lines in a log become a signed message, and a kill in between changes no id."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
import urllib.request
from datetime import UTC, datetime, timedelta

import yaml

from fairclock.demo.live.programs import free_port
from tests.alert_engine.factories import a_line
from tests.evaluation.factories import availability
from tests.faults.processes import Restarted, eventually
from tests.webhooks.receiver import Receiver

SECRET = "kept from logs"


def write_contract(path, year):
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "fairclock/v1", "kind": "Contract", "id": "acme", "title": "Inference",
                "provider": {"name": "Example Cloud"}, "customer": {"name": "Acme", "tenants": ["acme"]},
                "term": {"from": f"{year - 1}-01-01", "to": f"{year + 1}-12-31", "time_zone": "Etc/UTC"},
                "clock": {"start": "received"}, "objectives": [availability("99%")],
                "insufficient": {"below": 1, "verdict": "void"},
                "unmeasured": {"time": "bad", "coverage_floor": "0%", "below_floor": "violated", "unknown_clock": "bad"},
            }
        )
    )  # fmt: skip


def told(receiver):
    """Every event that arrived under a good signature, by (alert, number): the ids under which it came."""
    found = {}
    for each in list(receiver.received):
        signed = each.headers["Fairclock-Timestamp"].encode() + b"." + each.body
        signature = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        assert each.headers["Fairclock-Signature"] == f"v1={signature}"
        for event in json.loads(each.body)["events"]:
            found.setdefault(
                (event["rule"], event["alert_id"], event["sequence"], event["state"]), set()
            ).add(event["event_id"])
    return found


def test_a_burst_of_errors_in_a_log_is_told_and_a_kill_changes_no_id(tmp_path):
    port, log, now = free_port(), tmp_path / "access.log", datetime.now(UTC)
    write_contract(tmp_path / "acme.yaml", now.year)
    log.write_bytes(b"")
    numbers = iter(range(1, 100_000))

    def write(count, status):
        with log.open("ab") as file:
            for _ in range(count):
                at = datetime.now(UTC) - timedelta(seconds=1)
                file.write(a_line(at=at, number=next(numbers), status=status) + b"\n")

    with Receiver((200, {}, b"")) as receiver:
        place = {"name": "there", "format": "json", "url": receiver.url(), "secret_env": "S"}
        (tmp_path / "fairclock.yaml").write_text(
            json.dumps(
                {
                    "gateway": {"files": [str(log)]},
                    "sla": {"contracts": ["acme.yaml"]},
                    "webhooks": {
                        "destinations": [place], "allow_internal": ["127.0.0.1"], "group_wait": "0s", "hold_down": "0s",
                    },
                }
            )
        )  # fmt: skip
        up = Restarted(
            "fairclock", "up", "--listen", f"127.0.0.1:{port}", "--grpc", "off", "--http", "off",
            "--dsn", f"chdb://{tmp_path}/store", folder=tmp_path, port=port, S=SECRET,
        )  # fmt: skip
        try:
            up.start().wait_until_it_answers()
            write(30, "200")
            write(30, "500")
            begun = time.monotonic()

            def has_fired():
                return [key for key in told(receiver) if key[0] == "burn-1h" and key[3] == "firing"]

            ((_, alert_id, sequence, _),) = eventually(has_fired, what=lambda: up.said)
            print(f"from the last line to the message: {time.monotonic() - begun:.1f} s")  # noqa: T201
            assert (alert_id.startswith("acme/availability/burn-1h/"), sequence) == (True, 1)
            up.kill()
            write(30, "500")
            up.start().wait_until_it_answers()

            eventually(lambda: passes(port) >= 2, what=lambda: up.said, every=0.5)
            up.stop()
        finally:
            up.close()
        events = told(receiver)
    assert all(len(ids) == 1 for ids in events.values())
    changes = [key[1:3] for key in events]
    assert len(set(changes)) == len(changes), "one change was told as two"
    assert SECRET not in up.said


def passes(port):
    """How many passes of the evaluator ``/metrics`` speaks of."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        found = re.search(
            r"^fairclock_evaluator_passes(?:_total)? ([0-9.e+]+)$", answer.read().decode(), re.MULTILINE
        )
    return float(found[1]) if found else 0
