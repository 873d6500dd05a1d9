"""Own the proof that every figure of a report is what a second, brute-force computation makes of the raw files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

import pytest

from fairclock.demo.simulate import simulate
from tests.acceptance.commands import Worker, ingest
from tests.acceptance.contracts import good_contract, write_contract
from tests.acceptance.months import InventedMonth, invent
from tests.acceptance.oracle.contract import from_us, period_us, to_us
from tests.acceptance.traffic import Traffic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MONTHS = {
    "of thirty-one days in Shanghai": (1, "Asia/Shanghai", "2026-10"),
    "in which an hour comes twice in Berlin": (2, "Europe/Berlin", "2026-10"),
    "in which an hour is missing in New York": (3, "America/New_York", "2026-03"),
    "that begins on a half hour in Kolkata": (4, "Asia/Kolkata", "2026-02"),
    "in which half an hour comes twice on Lord Howe": (5, "Australia/Lord_Howe", "2026-04"),
    "that ends at a midnight which comes twice in Havana": (6, "America/Havana", "2026-10"),
}


ZONES = (
    "UTC",
    "Asia/Shanghai",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/Havana",
    "Pacific/Chatham",
    "Asia/Beirut",
)


IN_SOAK = {3, 4, 6}
"""Seeds of months that `make soak` holds against the oracle, beside sixty others."""


@pytest.fixture(
    params=[
        pytest.param(each, id=name, marks=[pytest.mark.soak] if each[0] in IN_SOAK else [])
        for name, each in MONTHS.items()
    ]
)
def month(request: pytest.FixtureRequest, tmp_path: Path) -> InventedMonth:
    seed, zone, name = request.param
    return invent(tmp_path / "month", seed=seed, zone=zone, month=name)


def test_every_figure_of_a_month_is_the_oracles(
    month: InventedMonth, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = request.node.callspec.params["month"][0]
    # a report of what is joined while it is asked costs four times one of what is sealed: every other month has one
    _holds(month, tmp_path, live=seed % 2 == 1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 160))
def test_every_figure_of_many_months_is_the_oracles(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    zone, number = random.choice(ZONES), random.randint(1, 10)
    _holds(invent(tmp_path / "month", seed=seed, zone=zone, month=f"2026-{number:02d}"), tmp_path)


def _holds(month: InventedMonth, tmp_path: Path, *, live: bool = True) -> None:
    first, *others = month.contracts
    with Worker(f"chdb://{tmp_path}/store") as worker:
        month.ingest(worker)
        if live:
            report, _ = worker.report(first, month.name, tmp_path / "live")
            assert month.differences(first, report) == []
        assert worker.run("evaluate").code == 0
        for contract in others if live else month.contracts:
            sealed, _ = worker.report(contract, month.name, tmp_path / "sealed")
            assert month.differences(contract, sealed) == [], contract.name


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Worker, InventedMonth]]:
    folder = tmp_path_factory.mktemp("demonstration")
    simulated = simulate(out=folder, month="2026-10", requests=4_000, seed=7)
    start, end = period_us(
        {"term": {"from": "2026-01-01", "to": "2026-12-31", "time_zone": simulated.month.zone}}, "2026-10"
    )
    month = InventedMonth(
        name="2026-10",
        gateway=list(simulated.gateway_files),
        engine=list(simulated.engine_files),
        contracts=list(simulated.contracts),
        covers={"gateway": [(start, end)], "engine": [(start, end)]},
    )
    with Worker(f"chdb://{folder}/store") as worker:
        month.ingest(worker)
        assert worker.run("evaluate").code == 0
        yield worker, month


def test_every_figure_of_the_demonstration_is_the_oracles(
    demonstration: tuple[Worker, InventedMonth],
) -> None:
    worker, month = demonstration
    assert len(month.contracts) >= 3
    for path in month.contracts:
        answer = worker.run("report", path, "--month", "2026-10", "--json")
        report = answer.out.encode()
        assert month.differences(path, report) == [], path.name
        assert answer.code == exit_code(report)
        assert json.loads(report)["simulated"] is True


def exit_code(report: bytes) -> int:
    verdicts = {each["verdict"] for each in json.loads(report)["objectives"]}
    if "violated" in verdicts:
        return 1
    return 3 if verdicts & {"insufficient_data", "not_measured"} else 0


def test_a_month_that_is_not_over_is_measured_up_to_as_of(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    name = now.strftime("%Y-%m")
    contract = write_contract(
        good_contract(term={"from": "2020-01-01", "to": "2100-12-31", "time_zone": "UTC"}), tmp_path
    )
    start, end = period_us({"term": {"from": "2020-01-01", "to": "2100-12-31", "time_zone": "UTC"}}, name)
    traffic = Traffic(random=Random(1))
    traffic.log(received_us=start, took_ms=100, request_id="a", tenant="acme")
    gateway, engine = traffic.write(tmp_path / "raw")
    until = start + (to_us(now) - start) // 2
    month = InventedMonth(
        name=name, gateway=[gateway], engine=[engine], contracts=[], covers={"gateway": [(start, until)]}
    )
    with Worker(f"chdb://{tmp_path}/store") as worker:
        ingest(worker, "gateway", [gateway], (from_us(start).isoformat(), from_us(until).isoformat()))
        report, _ = worker.report(contract, name, tmp_path)
    assert month.differences(contract, report) == []
    # up to the report's own instant, which is a while after the traffic's: in a month's first minute, long after
    as_of = min(to_us(datetime.fromisoformat(json.loads(report)["as_of"])), end)
    assert json.loads(report)["coverage"]["gateway"] == pytest.approx((until - start) / (as_of - start))
