"""A burst on real vLLM behind real nginx: a signed webhook tells of it, the alert resolves, the incident names queueing."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from examples.verify_webhook import verify
from fairclock.demo.live.calls import ACME_KEY, Behaviour, Call
from fairclock.demo.live.clients import make_call
from fairclock.demo.live.gateway import running_gateway
from fairclock.demo.live.programs import free_port
from tests.sidecar.running import ANSWERING, Running, environment, fairclock
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.integration

SECRET = "burst-secret"
RESULT = os.environ.get("FAIRCLOCK_BURST_RESULT")
CALM_CALLS, BURST_CALLS = 12, 60
THRESHOLD_IN_CALM_CALLS = 4
PATIENCE_SECONDS = 300.0
CONTRACT = """
apiVersion: fairclock/v1
kind: Contract
id: burst
title: {{en: A burst, zh: 突发}}
language: {{authoritative: en}}
provider: {{name: Example Cloud}}
customer: {{name: Acme Finance, tenants: [acme]}}
term: {{from: {first}, to: {last}, time_zone: UTC}}
clock: {{start: received}}
objectives:
  - {{name: p95, latency: {{clock: end_to_end, percentile: 95, at_most: {at_most_ms}ms}}}}
  - {{name: availability, availability: {{formula: request_ratio, target: 99%}}}}
insufficient: {{below: 10, verdict: void}}
unmeasured: {{coverage_floor: 1%, below_floor: violated, unknown_clock: bad}}
"""


def calls(count):
    """So many calls that stay to their end and ask for much the same."""
    return [
        Call(
            number=number,
            chat=number % 2 == 0,
            stream=False,
            api_key=ACME_KEY,
            behaviour=Behaviour.STAYS,
            completion_tokens=32 + number % 8,
        )
        for number in range(count)
    ]


def one_by_one(url, count):
    """Make calls as somebody does who waits for each answer."""

    async def in_turn():
        async with client_of(url) as client:
            return [await make_call(client, call) for call in calls(count)]

    return asyncio.run(in_turn())


def all_at_once(url, count):
    """Make calls as in a burst: none waits for another."""

    async def together():
        async with client_of(url) as client:
            return await asyncio.gather(*(make_call(client, call) for call in calls(count)))

    return asyncio.run(together())


def client_of(url):
    return httpx.AsyncClient(base_url=url, timeout=PATIENCE_SECONDS, limits=httpx.Limits(), trust_env=False)


def waited_for(found, *, what):
    """Return what `found` returns once it is something, and when that was."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not (result := found()):
        assert time.monotonic() < until, what()
        time.sleep(0.05)
    return result, time.monotonic()


def a_calm_hour_before(folder, dsn, now):
    """Store the traffic of an hour that went before: an alert can end only where its window is known."""
    old = folder / "before.log"
    old.write_text(
        "".join(
            json.dumps(
                {
                    "time": f"{(now - timedelta(seconds=ago)).timestamp():.3f}",
                    "tenant": "acme",
                    "status": "200",
                    "request_time": "0.010",
                    "uri": "/v1/completions",
                    "request_id": f"{ago:032x}",
                }
            )
            + "\n"
            for ago in range(3600, 0, -60)
        )
    )
    covered = f"{(now - timedelta(hours=1)).isoformat()}..{now.isoformat()}"
    fairclock("ingest", "gateway", old, "--covers", covered, FAIRCLOCK_DSN=dsn)


def reported(folder, dsn, *, month):
    """Return report.json of the burst's contract; violated or not, it is written."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "fairclock",
            "report",
            "burst.yaml",
            "--month",
            month,
            "--json",
            "-c",
            os.devnull,
        ],
        cwd=folder,
        env=environment(FAIRCLOCK_DSN=dsn),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return json.loads(done.stdout)


def test_a_burst_is_told_of_and_resolves_and_its_incident_names_queueing(tmp_path, composition):
    # where the composition's engine sends its spans
    grpc, http = f"127.0.0.1:{composition.port('fairclock', 4317)}", f"127.0.0.1:{free_port()}"
    dsn, began = f"chdb://{tmp_path}/store", datetime.now(UTC)
    log = tmp_path / "gateway" / "access.log"
    with (
        Receiver((200, {}, b"")) as receiver,
        running_gateway(
            directory=tmp_path / "gateway", port=free_port(), engine_url=composition.url("vllm", 8000),
            tenants={ACME_KEY: "acme"},
        ) as gateway,
    ):  # fmt: skip
        one_by_one(gateway.url, 2)  # the first ones compile
        calm = one_by_one(gateway.url, CALM_CALLS)
        # the median: where this machine stood still in one of them, no burst would be four times as slow
        calm_us = int(statistics.median(seen.elapsed_us for seen in calm))
        a_calm_hour_before(tmp_path, dsn, datetime.now(UTC) - timedelta(seconds=1))
        (tmp_path / "burst.yaml").write_text(
            CONTRACT.format(
                first=(began - timedelta(days=40)).date(),
                last=(began + timedelta(days=40)).date(),
                at_most_ms=THRESHOLD_IN_CALM_CALLS * calm_us // 1000,
            )
        )
        (tmp_path / "fairclock.yaml").write_text(
            json.dumps(
                {
                    "gateway": {"files": [str(log)], "source": "gateway"},
                    "otlp": {"grpc": grpc, "http": http},
                    "sla": {
                        "contracts": ["burst.yaml"],
                        "alerts": {
                            "keep": "5s",
                            "burn": {"rules": [{"name": "burst", "window": "12min", "part": "0.1%"}]},
                        },
                    },
                    "webhooks": {
                        "destinations": [
                            {
                                "name": "there",
                                "format": "json",
                                "url": receiver.url(),
                                "secret_env": "BURST_SECRET",
                            }
                        ],
                        "allow_internal": ["127.0.0.1"],
                        "hold_down": "0s",
                    },
                }
            )
        )

        def told(state):
            events = [
                event
                for received in tuple(receiver.received)
                for event in json.loads(received.body)["events"]
            ]
            about = {"rule": "burst", "objective": "p95", "state": state}
            return [each for each in events if {name: each[name] for name in about} == about]

        with Running(
            "up", "--listen", "127.0.0.1:0", folder=tmp_path, FAIRCLOCK_DSN=dsn, BURST_SECRET=SECRET
        ) as up:
            up.says(ANSWERING)
            burst_began = datetime.now(UTC)
            seen = all_at_once(gateway.url, BURST_CALLS)
            ended = time.monotonic()
            (fired, *_), at = waited_for(lambda: told("firing"), what=lambda: up.said)
            for _ in range(3):  # what comes after it is calm again
                one_by_one(gateway.url, 2)
            (resolved, *_), over = waited_for(lambda: told("resolved"), what=lambda: up.said)
            assert up.stop() == 0, up.said
    for received in receiver.received:
        verify(received.body, received.headers, SECRET, now=time.time())
    report = reported(tmp_path, dsn, month=f"{burst_began:%Y-%m}")
    found = {
        "burst": BURST_CALLS,
        "over_the_threshold": sum(each.elapsed_us > THRESHOLD_IN_CALM_CALLS * calm_us for each in seen),
        "told_after_the_burst_seconds": at - ended,
        "resolved_after_the_burst_seconds": over - ended,
        "load_average": os.getloadavg()[0],
    }
    if RESULT:
        Path(RESULT).write_text(
            json.dumps({**found, "fired": fired, "incidents": report["incidents"]}, indent=2)
        )
    assert found["over_the_threshold"] > BURST_CALLS / 4
    assert (fired["contract_id"], fired["objective"], resolved["alert_id"]) == (
        "burst",
        "p95",
        fired["alert_id"],
    )
    assert fired["event_id"] != resolved["event_id"]
    incident = next(each for each in report["incidents"] if each["objective"] == "p95")
    assert fired["incident"] in {incident["id"], None}
    assert "queue" in json.dumps([each["kind"] for each in incident["evidence"]])
