"""The whole composition as plain processes: one burst through nginx and vLLM becomes a webhook, a figure, a slice and a report.

What is not run is what needs its image: ClickHouse, in whose place an embedded store stands, and Grafana.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import httpx
import pytest

from fairclock.demo.live.calls import Behaviour, Call
from fairclock.demo.live.clients import make_call
from tests.faults import processes
from tests.faults.processes import environment

pytestmark = pytest.mark.integration

BURST_CALLS = 50
PATIENCE_SECONDS = 300.0


# an alert may wait for a minute behind another of its group
eventually = functools.partial(processes.eventually, seconds=PATIENCE_SECONDS, every=0.2)


def as_this_user(name, text):
    """Let root's nginx keep its workers where the folders are root's; in its container it is nobody's root."""
    return f"user root;\n{text}" if name == "gateway.conf" and os.geteuid() == 0 else text


def to_a_receiver_on_loopback(name, text):
    return text.replace("allow_internal: [receiver]", "allow_internal: [127.0.0.1]")


def burst(url, key):
    """Make calls at once, none waiting for another."""

    async def together():
        async with httpx.AsyncClient(
            base_url=url, timeout=PATIENCE_SECONDS, limits=httpx.Limits(), trust_env=False
        ) as client:
            calls = [
                Call(
                    number=number, chat=True, stream=False, api_key=key, behaviour=Behaviour.STAYS,
                    completion_tokens=32,
                )
                for number in range(BURST_CALLS)
            ]  # fmt: skip
            return await asyncio.gather(*(make_call(client, call) for call in calls))

    return asyncio.run(together())


def fairclock(composition, *words):
    """Run a command as `docker compose exec fairclock` would, and return what it printed."""
    configuration = composition.place("fairclock", "/etc/fairclock/fairclock.yaml")
    done = subprocess.run(
        [sys.executable, "-m", "fairclock", *map(str, words), "-c", str(configuration)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def alive(composition):
    """The services beside the engine, started in the order in which the compose file has them wait for each other."""
    composition.run("migrate")
    with contextlib.ExitStack() as stack:
        for service, change in (
            ("receiver", None),
            ("fairclock", to_a_receiver_on_loopback),
            ("gateway", as_this_user),
            ("alertmanager", None),
            ("prometheus", None),
        ):
            stack.enter_context(composition.running(service, change=change))
        yield composition


def asked(composition, query):
    """Return what Prometheus answers, by its labels."""
    answer = httpx.get(
        f"{composition.url('prometheus', 9090)}/api/v1/query",
        params={"query": query},
        timeout=PATIENCE_SECONDS,
        trust_env=False,
    ).json()
    assert answer["status"] == "success", answer
    return answer["data"]["result"]


def scraped(composition):
    """Return what Prometheus is told."""
    return httpx.get(
        f"{composition.url('fairclock', 8780)}/metrics",
        headers={"Authorization": f"Bearer {composition.secret_file('metrics_token').read_text().strip()}"},
        timeout=PATIENCE_SECONDS,
        trust_env=False,
    ).text


def test_a_burst_becomes_a_webhook_a_figure_a_slice_and_a_report(alive):
    began = datetime.now(UTC)
    seen = burst(alive.url("gateway", 8080), alive.api_key)
    assert {each.status for each in seen} == {200}

    def heard(*words):
        return [line for line in alive.said("receiver").splitlines() if all(word in line for word in words)]

    # told by Fairclock itself, signed; and by Alertmanager, from what Prometheus scraped
    eventually(
        lambda: heard("fairclock firing"), what=lambda: alive.said("receiver") + alive.said("fairclock")
    )
    eventually(
        lambda: heard("alertmanager firing", "FairclockBudgetBurnsFast", "acme"),
        what=lambda: alive.said("receiver") + alive.said("prometheus") + alive.said("alertmanager"),
    )

    # figures
    def counted():
        return sum(
            float(each["value"][1]) for each in asked(alive, 'fairclock_requests_total{tenant="acme"}')
        )

    eventually(lambda: counted() == BURST_CALLS, what=lambda: f"{counted()} requests in Prometheus")
    # one in twenty may queue for long: of these few requests a hundredth is none, and of none no part is left
    budget = 'fairclock_error_budget_remaining_ratio{contract="acme",objective="queue-cap"}'

    def is_spent():
        return any(float(each["value"][1]) < 0 for each in asked(alive, budget))

    eventually(is_spent, what=lambda: scraped(alive))

    # slices
    def slices():
        sql = "SELECT sum(counted), sum(bad) FROM dashboard_objectives WHERE contract = 'acme' AND objective = 'p99'"
        return [int(each) for each in fairclock(alive, "query", sql, "--format", "TSV").split()]

    eventually(lambda: slices()[0] == BURST_CALLS, what=lambda: f"slices: {slices()}")

    # the report, with and without queueing
    contract = alive.place("fairclock", "/etc/fairclock/contracts/acme.yaml")

    def joined():
        """The report once the engine's spans have come, which are sent aside."""
        found = json.loads(fairclock(alive, "report", contract, "--month", f"{began:%Y-%m}", "--json"))
        return found if found["coverage"]["joined"] == 1 else None

    report = eventually(joined, what=lambda: alive.said("fairclock"))
    p99 = next(each for each in report["objectives"] if each["name"] == "p99")
    p99_by_clock = {each["clock"]: each["p99"] for each in report["latency"]}
    assert report["traffic"]["outcomes"]["ok"] == BURST_CALLS
    assert p99["violations"] > BURST_CALLS / 10
    assert p99_by_clock["end_to_end"] > p99_by_clock["excluding_queue"] > p99_by_clock["inference"] > 0
    eventually(lambda: slices()[1] == p99["violations"], what=lambda: f"slices: {slices()}, {p99}")
