"""Run the benchmarks and print a table: ``python -m benchmarks [importing] [plugin] [prober] [scraping] [sealing] [tailing] [receiving]
[sidecar] [exposition] [evaluating[=REQUESTS]] [planning] [attributing[=SEQUENCES]] [reporting[=CONTRACTS]] [console[=REQUESTS]]
[scaling[=REQUESTS]] [simulating[=PROBES]]``; the last needs vLLM, and runs only where it is named.

Each figure is a median within one run on this machine. Ratios travel between machines, seconds do not. It
exits with 0 whatever the figures are, since a target is missed on a busy machine; the table says which were.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks import (
    attributing,
    console,
    evaluating,
    exposition,
    importing,
    planning,
    plugin,
    prober,
    receiving,
    reporting,
    scaling,
    scraping,
    sealing,
    sidecar,
    simulating,
    tailing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measuring import Figure

BENCHMARKS: dict[str, Callable[..., list[Figure]]] = {
    "attributing": attributing.figures,
    "importing": importing.figures,
    "plugin": plugin.figures,
    "prober": prober.figures,
    "scraping": scraping.figures,
    "sealing": sealing.figures,
    "tailing": tailing.figures,
    "receiving": receiving.figures,
    "sidecar": sidecar.figures,
    "evaluating": evaluating.figures,
    "exposition": exposition.figures,
    "reporting": reporting.figures,
    "planning": planning.figures,
    "console": console.figures,
    "scaling": scaling.figures,
    "simulating": simulating.figures,
}
_ONLY_NAMED = ("simulating",)
_SIZED = ("attributing", "console", "evaluating", "reporting", "scaling", "simulating")
_WIDTH = 150
_WORDS = {True: "met", False: "missed", None: ""}


def _is_known(name: str) -> bool:
    benchmark, sized, size = name.partition("=")
    return benchmark in BENCHMARKS and (not sized or (benchmark in _SIZED and size.isdigit()))


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all of them."""
    unknown = [name for name in names if not _is_known(name)]
    if unknown:
        print(
            f"benchmarks: no such benchmark ({', '.join(unknown)}); choose from {', '.join(BENCHMARKS)}",
            file=sys.stderr,
        )
        return 2
    table = Table(title=f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")
    for heading in ("what", "measured", "target", "", "of the limit", "rows/s", "peak memory", "bytes a row"):
        table.add_column(heading)
    for name in names or [each for each in BENCHMARKS if each not in _ONLY_NAMED]:
        print(f"· {name}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            benchmark, _, size = name.partition("=")
            for figure in BENCHMARKS[benchmark](Path(folder), *([int(size)] if size else [])):
                table.add_row(*_cells(figure))
    Console(width=_WIDTH).print(table)
    return 0


def _cells(figure: Figure) -> tuple[str, ...]:
    return (
        figure.what,
        figure.measured,
        figure.target,
        _WORDS[figure.met],
        "" if figure.ratio is None else f"{figure.ratio:.2f} ({figure.limit})",
        "" if figure.rows_per_second is None else f"{figure.rows_per_second:,.0f}",
        "" if figure.peak_bytes is None else f"{figure.peak_bytes / 1e6:,.0f} MB",
        "" if figure.row_bytes is None else f"{figure.row_bytes:.0f}",
    )


sys.exit(main(sys.argv[1:]))
