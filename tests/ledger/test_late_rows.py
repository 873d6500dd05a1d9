"""The default of ``ledger rate``: a late engine row shifts shares of requests in other hours, and those are rated again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairclock.cli import main
from tests.cost_book.traffic import engine, feed, gateway

BOOK = Path(__file__).parent / "prices.yaml"


@pytest.fixture
def rate(store, tmp_path, capsys):
    config = tmp_path / "fairclock.yaml"
    engines = {"engines": [{"engine": "engine-a", "machine": "NVIDIA H200", "gpus": 1}]}
    config.write_text(json.dumps({"billing": {"prices": str(BOOK), "gpu_time": engines}}))

    def run(command, *words):
        with pytest.raises(SystemExit) as end:
            main(["ledger", command, "-c", str(config), "--dsn", store.dsn, "--json", *words])
        assert not end.value.code
        return json.loads(capsys.readouterr().out)

    return run


def test_a_late_row_shifts_the_share_of_a_request_received_hours_before(store, rate):
    hour = 3600
    # received 20 min before 04:00 and runs for three hours
    feed(store, [gateway(2400, 3 * hour, 1)], [engine(2400, 3 * hour, 1)])
    assert rate("rate")["entries"] == 1
    assert rate("show")[0]["gpu_seconds"] == "10800.0"
    # ten minutes of somebody else's, two hours later: nothing was stored about the first hour
    feed(store, [], [engine(2 * hour + 1800, 600, 2)])
    again = rate("rate")
    assert (again["entries"], again["reversals"]) == (2, 1)
    assert rate("show")[0]["gpu_seconds"] == "10500.0"
    assert rate("rate", "--month", "2026-10")["entries"] == 0
    assert rate("rate")["entries"] == 0


def test_a_statement_about_simulated_requests_says_so(store, rate):
    feed(store, [gateway(10, 5, 9, tenant="played", simulated="1"), gateway(10, 5, 10, tenant="real")])
    rate("rate", "--month", "2026-10")
    for tenant, simulated in (("played", True), ("real", False)):
        assert rate("invoice", "--month", "2026-10", "--tenant", tenant)["simulated"] is simulated
