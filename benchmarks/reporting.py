"""Own the benchmark of reports: one contract's PDF, and those of many contracts in one run of the command.

``python -m benchmarks reporting=1000`` writes as many; the default is a hundred. Each contract has seven objectives and
`REQUESTS` requests in its month.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.evaluating import MONTH, contract_text, fill
from benchmarks.measuring import Figure, Timing, timed
from fairclock.documents.fonts import describe
from fairclock.documents.pdf import render_pdf
from fairclock.store import open_store
from sla.contracts import load_contract
from sla.evaluation import evaluate
from sla.reports.html import report_html

if TYPE_CHECKING:
    from pathlib import Path

CONTRACTS = 100
REQUESTS = 5_000
PDF_SECONDS = 2.0
THOUSAND_SECONDS = 15 * 60.0
_RUNS = 5
_CLAUSES = [
    *(
        f"{{name: {clock}, latency: {{clock: {clock}, percentile: {percentile}, at_most: {at_most}}}}}"
        for clock, percentile, at_most in (
            ("end_to_end", 99, "1.6s"),
            ("excluding_queue", 95, "1.2s"),
            ("queue", 99, "298ms"),
            ("inference", 99, "1.26s"),
            ("outside", 99, "304ms"),
            ("prefill", 99, "216ms"),
        )
    ),
    "{name: availability, availability: {formula: request_ratio, target: 99.9%}}",
]
"""As in a month that went well: most are met, and few minutes are bad."""

_MONTH = f"{MONTH.start:%Y-%m}"


def figures(folder: Path, contracts: int = CONTRACTS) -> list[Figure]:
    """Store `contracts` tenants' month; evaluate and draw one of them; then report all by the command."""
    dsn = f"chdb://{folder / 'store'}"
    files = []
    for number in range(contracts):
        tenant = f"tenant-{number:03d}"
        path = folder / f"{tenant}.yaml"
        path.write_text(contract_text(tenant, _CLAUSES), encoding="utf-8")
        files.append(path)
    with open_store(dsn) as store:
        fill(store, contracts * REQUESTS, tenants=contracts)
        fonts = describe()

        def evaluated() -> dict[str, object]:
            return evaluate(
                store, load_contract(files[0]), month=_MONTH, software_version="bench", fonts=fonts
            )

        report = evaluated()
        evaluating = timed(evaluated, times=_RUNS)
        html = {code: report_html(report, code) for code in ("en", "zh")}
        drawing = {
            code: timed(lambda text=text: render_pdf(text, identifier="bench"), times=_RUNS)  # type: ignore[misc]
            for code, text in html.items()
        }
    seconds, peak_bytes = _all_of_them(dsn, folder, files)
    return [
        _quick("a contract's month evaluated", evaluating, None),
        *(
            _quick(f"a contract's PDF, {name}", drawing[code], PDF_SECONDS)
            for code, name in (("en", "English"), ("zh", "Chinese"))
        ),
        Figure(
            what=f"the PDFs of {contracts:,} contracts, {contracts * REQUESTS:,} requests, in one run",
            measured=f"{seconds:.0f} s, {seconds / contracts:.2f} s each",
            target=f"<= {THOUSAND_SECONDS / 1000:.1f} s each",
            met=seconds / contracts <= THOUSAND_SECONDS / 1000,
            peak_bytes=peak_bytes,
        ),
    ]


def _all_of_them(dsn: str, folder: Path, files: list[Path]) -> tuple[float, int]:
    """Return how long the command took, and the most memory that one of its processes had."""
    words = ["report", *map(str, files), "--month", _MONTH, "--format", "pdf", "-o", str(folder / "out")]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "fairclock", *words],
        env={**os.environ, "FAIRCLOCK_DSN": dsn},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    seconds = time.perf_counter() - start
    written = len(list((folder / "out").glob("*.pdf")))
    if done.returncode not in {0, 1} or written != len(files):
        raise RuntimeError(f"{written} of {len(files)} reports were written, exit code {done.returncode}")
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def _quick(what: str, timing: Timing, target: float | None) -> Figure:
    return Figure(
        what=what,
        measured=f"{timing.seconds:.2f} s ({timing.cpu_seconds:.2f} s of a core)",
        target="" if target is None else f"<= {target:g} s",
        met=None if target is None else timing.seconds <= target,
        peak_bytes=timing.peak_bytes,
    )
