"""Own the simulation as a whole: traffic through gateway and engines, into files of real wire formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairclock.demo.arrivals import random_traffic
from fairclock.demo.contract_files import MONTH_CONTRACTS, TRACE_CONTRACTS, write_contracts
from fairclock.demo.gateway import Gateway, GatewayRules
from fairclock.demo.ids import Ids
from fairclock.demo.month import month_of
from fairclock.demo.nginx_lines import gateway_lines
from fairclock.demo.rotation import write_daily
from fairclock.demo.scenario import TRACE_RULES, incidents, pools, trace_pools
from fairclock.demo.spans import engine_lines
from fairclock.demo.tenants import TENANTS
from fairclock.demo.trace import recorded_traffic
from fairclock.demo.upstreams import addresses

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairclock.demo.gateway import Run
    from fairclock.demo.month import Month
    from fairclock.demo.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a simulation left: the files, and what is in them."""

    month: Month
    requests: int
    gateway_files: tuple[Path, ...]
    engine_files: tuple[Path, ...]
    contracts: tuple[Path, ...]
    engines: Mapping[str, str]
    """Their addresses at the gateway, by name."""


def simulate(*, out: Path, month: str, requests: int, seed: int) -> Simulated:
    """Simulate `requests` requests in `month`; equal arguments give equal files.

    Writes ``OUT/raw/gateway-DAY.jsonl[.gz]``, ``OUT/raw/engine-DAY.jsonl[.gz]`` and ``OUT/contracts/*.yaml``.
    """
    calendar = month_of(month)
    run = run_month(month=calendar, requests=requests, seed=seed)
    return _write(run, month=calendar, out=out, seed=seed, contracts=MONTH_CONTRACTS)


def simulate_trace(*, out: Path, trace: Trace, replicas: int, seed: int) -> Simulated:
    """Play the recorded arrivals of `trace` through `replicas` engines; files as `simulate` writes them."""
    traffic = recorded_traffic(trace, seed=seed)
    run = Gateway(traffic=traffic, pools=trace_pools(replicas), rules=TRACE_RULES).run(())
    return _write(run, month=trace.month, out=out, seed=seed, contracts=TRACE_CONTRACTS)


def run_month(*, month: Month, requests: int, seed: int) -> Run:
    """Let the demonstration's month happen; nothing is written."""
    engines = pools(requests=requests)
    traffic = random_traffic(month=month, tenants=TENANTS, requests=requests, seed=seed)
    gateway = Gateway(traffic=traffic, pools=engines, rules=GatewayRules())
    return gateway.run(incidents(month, engines=engines))


def _write(run: Run, *, month: Month, out: Path, seed: int, contracts: tuple[str, ...]) -> Simulated:
    raw = out / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng([seed, 1])
    ids = Ids.drawn(random, run.traffic)
    return Simulated(
        month=month,
        requests=run.traffic.size,
        gateway_files=write_daily(gateway_lines(run, ids, random), name="gateway", month=month, folder=raw),
        engine_files=write_daily(engine_lines(run, ids, random), name="engine", month=month, folder=raw),
        contracts=write_contracts(contracts, month=month, folder=out / "contracts"),
        engines=dict(zip(run.replicas, addresses(run), strict=True)),
    )
