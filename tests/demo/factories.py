"""Small traffics for the simulator's tests."""

from __future__ import annotations

import numpy as np

from fairclock.demo.engine import EngineShape
from fairclock.demo.gateway import Gateway, GatewayRules, Pool
from fairclock.demo.tenants import Tenant
from fairclock.demo.traffic import PathTimes, Traffic

MODEL = "m"
EPOCH = 1_790_784_000  # 2026-10-01T00:00:00+08:00
SHAPE = EngineShape(max_num_seqs=2, max_queued=4)


def tenant(**changes):
    return Tenant(**{"name": "acme", "model": MODEL, **changes})


def traffic(received, *, tenants=None, **columns):
    """Requests at these seconds; a column is one value for all, or one for each."""
    size = len(received)

    def column(name, default, kind):
        return np.broadcast_to(np.array(columns.get(name, default), dtype=kind), (size,)).copy()

    prompt = column("prompt_tokens", 100, np.int64)
    return Traffic(
        epoch_seconds=EPOCH,
        tenants=tenants or (tenant(),),
        received_seconds=np.array(received, dtype=np.float64),
        tenant=column("tenant", 0, np.int16),
        prompt_tokens=prompt,
        completion_tokens=column("completion_tokens", 10, np.int64),
        stream=column("stream", False, np.bool_),
        malformed=column("malformed", False, np.bool_),
        patience_seconds=column("patience_seconds", np.inf, np.float64),
        leaves_after_tokens=column("leaves_after_tokens", 0, np.int64),
        path=PathTimes.drawn(np.random.default_rng(7), prompt),
    )


def run(some, *, replicas=1, shape=SHAPE, incidents=(), **rules):
    pool = Pool(model=MODEL, replicas=replicas, shape=shape)
    return Gateway(traffic=some, pools=[pool], rules=GatewayRules(**rules)).run(incidents)
