"""What the page of probes shows of latencies: from when a probe was meant to begin, and failures above all that was answered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from fairclock.console.access.callers import Caller
from fairclock.console.readings.models.base import RangeName
from fairclock.console.readings.probes import probe_page
from fairclock.console.readings.protocol import Wanted
from fairclock.console.readings.view import View
from fairclock.model.probes import Probe, ProbeOutcome
from fairclock.store.tokens import Scope

NOW = datetime(2026, 10, 21, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def a_probe(number: int, **changes: Any) -> Probe:
    at = NOW - timedelta(minutes=30) + number * SECOND
    told = {
        "id": f"p{number}", "target": "http://gw", "outcome": ProbeOutcome.OK, "intended_at": at, "sent_at": at + 2 * SECOND,
        "done_us": 1_000_000, "mode": "run",
    }  # fmt: skip
    return Probe(**(told | changes))


@pytest.fixture
def targets(monkeypatch):
    def shown(probes):
        monkeypatch.setattr("fairclock.console.readings.probes.probes_as_of", lambda *_, **__: list(probes))
        monkeypatch.setattr("fairclock.console.readings.probes.measured_of", lambda *_: {})
        view = View(
            store=None, caller=Caller(name="root", scope=Scope.ADMIN), as_of=NOW, now=NOW, contracts=(), prices=None,
            cost_book=None, memory=SimpleNamespace(),
        )  # fmt: skip
        return probe_page(view, Wanted(name=RangeName.HOUR)).targets

    return shown


def test_the_time_that_a_probe_waited_to_be_sent_is_in_its_latency(targets):
    (found,) = targets(map(a_probe, range(10)))
    assert (found.p50_seconds, found.p99_seconds, found.lateness_p99_seconds) == (3.0, 3.0, 2.0)


def test_a_percentile_that_falls_on_a_failure_is_none_and_no_smaller_number(targets):
    failed = [a_probe(n, outcome=ProbeOutcome.TIMEOUT, done_us=None) for n in range(2)]
    nothing = a_probe(2, outcome=ProbeOutcome.QUOTA_REJECTED, done_us=None)
    (found,) = targets([*failed, nothing, *map(a_probe, range(3, 10))])
    assert (found.p50_seconds, found.p99_seconds, found.failed) == (3.0, None, 2)


def test_a_sweep_that_overloads_is_no_part_of_what_a_run_saw(targets):
    swept = [a_probe(n, mode="sweep", outcome=ProbeOutcome.TIMEOUT, done_us=None) for n in range(5)]
    found = {each.probe: each for each in targets([a_probe(9), *swept])}
    assert (found["run"].failed, found["run"].answered, found["sweep"].failed) == (0, 1, 5)
