"""Own the simulation as a whole: traffic through gateway and engines, into files of real wire formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairclock.demo.arrivals import random_traffic
from fairclock.demo.gateway import Gateway, GatewayRules
from fairclock.demo.ids import Ids
from fairclock.demo.month import Month, month_of
from fairclock.demo.nginx_lines import gateway_lines
from fairclock.demo.rotation import write_daily
from fairclock.demo.scenario import incidents, pools
from fairclock.demo.spans import engine_lines
from fairclock.demo.tenants import TENANTS

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.demo.gateway import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a simulation left: the files, and what is in them."""

    month: Month
    requests: int
    gateway_files: tuple[Path, ...]
    engine_files: tuple[Path, ...]


def run_month(*, month: Month, requests: int, seed: int) -> Run:
    """Let the demonstration's month happen; nothing is written."""
    engines = pools(requests=requests)
    traffic = random_traffic(month=month, tenants=TENANTS, requests=requests, seed=seed)
    gateway = Gateway(traffic=traffic, pools=engines, rules=GatewayRules())
    return gateway.run(incidents(month, engines=engines))


def write_raw(run: Run, *, month: Month, folder: Path, seed: int) -> Simulated:
    """Write the logs of `run` into `folder`: ``gateway-DAY.jsonl[.gz]`` and ``engine-DAY.jsonl[.gz]``."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng([seed, 1])
    ids = Ids.drawn(random, run.traffic)
    return Simulated(
        month=month,
        requests=run.traffic.size,
        gateway_files=tuple(
            write_daily(gateway_lines(run, ids, random), name="gateway", month=month, folder=folder)
        ),
        engine_files=tuple(
            write_daily(engine_lines(run, ids, random), name="engine", month=month, folder=folder)
        ),
    )


def simulate(*, out: Path, month: str, requests: int, seed: int) -> Simulated:
    """Simulate `requests` requests in `month` and write their logs to ``OUT/raw``; equal seeds, equal bytes."""
    calendar = month_of(month)
    run = run_month(month=calendar, requests=requests, seed=seed)
    return write_raw(run, month=calendar, folder=out / "raw", seed=seed)
