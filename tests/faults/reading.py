"""What is in a store, as one JSON object: ``python -m tests.faults.reading DSN CONTRACT MONTH``.

A process of its own: the engine works on one folder in a process's life.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.faults.processes import ROOT, environment

CONTRACT = ROOT / "examples" / "contracts" / "basic.yaml"


def read(dsn, contract, month):
    from fairclock.model import Interval
    from fairclock.store import Query, open_store
    from sla.contracts import load_contract
    from sla.evaluation import evaluate

    window = Interval(start=datetime(2026, 9, 1, tzinfo=UTC), end=datetime(2026, 12, 1, tzinfo=UTC))
    with open_store(dsn) as store:
        as_of = store.watermark()
        report = evaluate(
            store,
            load_contract(Path(contract)),
            month=month,
            as_of=as_of,
            software_version="tested",
            fonts=[],
        )
        del report["as_of"], report["evidence"]["seals"]
        return {
            "lines": store.rows(Query(sql="SELECT request_id, k FROM gateway_requests FINAL ORDER BY 1, 2")),
            "spans": [
                row[0]
                for row in store.rows(Query(sql="SELECT span_id FROM engine_requests FINAL ORDER BY 1"))
            ],
            "dead_letters": store.rows(Query(sql="SELECT kind, reason, excerpt FROM dead_letters FINAL")),
            "covered": {
                kind: [[str(each.start), str(each.end)] for each in store.covered(kind, window, as_of)]
                for kind in ("gateway", "engine")
            },
            "staged": store.rows(
                Query(
                    sql="SELECT name FROM system.tables WHERE database = 'fairclock' AND name LIKE 'staged%'"
                )
            ),
            "report": report,
        }


def books_of(dsn, *, contract=CONTRACT, month="2026-10"):
    """Read the store at `dsn` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.reading", dsn, str(contract), month],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


if __name__ == "__main__":
    json.dump(read(*sys.argv[1:]), sys.stdout, default=str)
