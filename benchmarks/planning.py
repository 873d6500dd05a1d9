"""Own the benchmark of a report: one month of few requests, while it is joined live and once it is sealed.

With so few rows it is the planning of the questions that takes the time, not the reading. The figure is of the processor.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from benchmarks.evaluating import RULES, contract_with_rules
from benchmarks.measuring import Figure, timed
from benchmarks.sample import HOUR_START_SECONDS, engine_line, gateway_line, requests
from fairclock.store import LineBatch, open_store
from sla.evaluation import evaluate

if TYPE_CHECKING:
    from pathlib import Path

REQUESTS = 400
RUNS = 3


def figures(folder: Path) -> list[Figure]:
    """Report a month of `REQUESTS` requests from both sides, judged by 20 objectives, before and after it is sealed."""
    start = datetime.fromtimestamp(HOUR_START_SECONDS, UTC)
    sample = list(requests(REQUESTS, seed=3))
    contract = contract_with_rules(
        "reported",
        tenants=sorted({each.tenant for each in sample}),
        first=date(start.year, 1, 1),
        last=date(start.year, 12, 31),
    )
    with open_store(f"chdb://{folder / 'store'}") as store:
        store.ingest(LineBatch(kind="gateway", source="bench", lines=[gateway_line(each) for each in sample]))
        store.ingest(LineBatch(kind="engine", source="bench", lines=[engine_line(each) for each in sample]))

        def report() -> None:
            content = evaluate(store, contract, month=f"{start:%Y-%m}", software_version="benchmark")
            if content["evidence"]["rows"] != REQUESTS:
                raise RuntimeError(
                    f"{content['evidence']['rows']} of {REQUESTS} requests: the figures would mean nothing"
                )

        live = timed(report, times=RUNS).cpu_seconds
        store.seal()
        sealed = timed(report, times=RUNS).cpu_seconds
    what = f"a report of {REQUESTS} requests and {len(RULES)} objectives"
    return [
        Figure(what=f"{what}, joined live", measured=f"{live:.2f} s of a processor"),
        Figure(what=f"{what}, sealed", measured=f"{sealed:.2f} s of a processor"),
    ]
