"""Own the live demonstration's contract and the report that is made of its traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock import __version__
from fairclock.documents.fonts import describe
from sla.contracts import load_contract
from sla.evaluation import evaluate
from sla.reports import FORMATS, LANGUAGES, write_reports
from sla.revisions import with_revision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from fairclock.demo.workspace import Workspace
    from fairclock.store import Store

_CONTRACT = """\
# The contract of the live demonstration: what two clients of this machine are promised for one day.
# It runs for minutes, so its coverage of the day is small: it is printed, and decides nothing here.
# Every fifth client leaves, and one that leaves late counts as late: no P99 would be kept, hence P75.
apiVersion: fairclock/v1
kind: Contract
id: live
title: {{en: Live demonstration, zh: 实测演示}}
language: {{authoritative: en}}
provider: {{name: vLLM on this machine}}
customer: {{name: The demonstration's clients, tenants: [acme, globex, bursty]}}
term: {{from: {first}, to: {last}, time_zone: UTC}}
scope: {{routes: [/v1/chat/completions, /v1/completions]}}
clock: {{start: received}}
objectives:
  - {{name: p75, latency: {{clock: end_to_end, percentile: 75, at_most: 500ms}}}}
  - {{name: p75-inference, latency: {{clock: inference, percentile: 75, at_most: 500ms}}}}
  - {{name: queue-cap, latency: {{clock: queue, percentile: 75, at_most: 500ms}}}}
  - {{name: outside-cap, latency: {{clock: outside, percentile: 75, at_most: 800ms}}}}
  - {{name: first-token, latency: {{clock: time_to_first_token, percentile: 75, at_most: 1s}}, where: {{stream: true}}}}
  - {{name: availability, availability: {{formula: request_ratio, target: 99%}}}}
insufficient: {{below: 20, verdict: void}}
unmeasured: {{time: void, coverage_floor: 0%, below_floor: void, unknown_clock: bad}}
"""


def write_contract(directory: Path, *, first: datetime, last: datetime) -> Path:
    """Write the contract for the days (UTC) from `first` to `last` and return its path."""
    path = directory / "live.yaml"
    path.write_text(_CONTRACT.format(first=first.date(), last=last.date()), encoding="utf-8")
    return path


def report_traffic(
    store: Store, *, workspace: Workspace, received: Sequence[datetime], as_of: datetime
) -> tuple[Path, ...]:
    """Evaluate the live contract on what was `received` then; return the reports written, none of nothing."""
    if not received:
        return ()
    first, last = min(received), max(received)
    contract = load_contract(write_contract(workspace.contracts, first=first, last=last))
    report = evaluate(
        store, contract, month=f"{first:%Y-%m}", as_of=as_of, software_version=__version__, fonts=describe()
    )
    report = with_revision(store, report)
    return tuple(write_reports(report, formats=FORMATS, languages=LANGUAGES, directory=workspace.reports))
