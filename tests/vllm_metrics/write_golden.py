"""Write what the recorded scrapes say anew: python -m tests.vllm_metrics.write_golden; then look at the difference."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from collectors.vllm_metrics.assembling import assemble
from collectors.vllm_metrics.consistency import contradictions
from collectors.vllm_metrics.exposition import parse
from collectors.vllm_metrics.lines import label_text
from fairclock.model.buckets import quantile_bounds

if TYPE_CHECKING:
    from collectors.vllm_metrics.readings import Series

FOLDER = Path(__file__).parent / "golden"
RECORDED = sorted(path.name.removesuffix(".txt.gz") for path in FOLDER.glob("*.txt.gz"))


def recorded(name: str) -> bytes:
    """Return an answer of /metrics that vLLM 0.32.0 gave on a CPU."""
    return gzip.decompress((FOLDER / f"{name}.txt.gz").read_bytes())


def told(body: bytes) -> str:
    """Return what a scrape says, a line for each reading; settings and what the process says of itself are left out."""
    exposition = parse(body)
    readings = assemble(exposition)
    seen = f"{len(exposition.samples)} samples, {len(exposition.bad_lines)} bad lines"
    rest = (
        f"{exposition.duplicates} duplicates, {readings.passed_over} passed over, {readings.unknown} unknown"
    )
    lines = [f"{seen}, {rest}"]
    for reading in readings.values:
        series = reading.series
        if not series.name.startswith(("process_", "python_")) and series.name != "vllm:cache_config_info":
            since = "" if reading.since_us is None else " since it was made"
            lines.append(f"{reading.kind} {_shown(series)} {reading.value}{since}")
    for histogram in readings.histograms:
        p99 = quantile_bounds(histogram.edges, histogram.counts, numerator=99, denominator=100)
        place = (
            f"p99 above {p99.above}, at most {p99.at_most}" if p99.is_computable else f"no p99: {p99.why_not}"
        )
        since = "" if histogram.since_us is None else ", since it was made"
        lines.append(
            f"histogram {_shown(histogram.series)} {histogram.count} in {len(histogram.edges)} buckets, {place}{since}"
        )
    lines += [
        f"suspect: engine {each.engine}: {' '.join(each.about)}: {each.reason} ({each.apart})"
        for each in contradictions(readings)
    ]
    return "\n".join(lines) + "\n"


def _shown(series: Series) -> str:
    return (
        f"{series.name}{{engine {series.engine or '-'}, {series.model or '-'}}}[{label_text(series.labels)}]"
    )


if __name__ == "__main__":
    for name in RECORDED:
        (FOLDER / f"{name}.told").write_text(told(recorded(name)), encoding="utf-8")
