"""Own the benchmark of reading a scrape: an answer of real vLLM, held against the parser of prometheus_client."""

from __future__ import annotations

import gzip
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.measuring import Figure, timed
from collectors.vllm_metrics.exposition import parse
from collectors.vllm_metrics.frames import Scrape
from collectors.vllm_metrics.lines import lines_of

ANSWER = Path(__file__).parents[1] / "tests/vllm_metrics/golden/after-load.txt.gz"
READS_A_RUN = 20
RUNS = 9
TARGET_RATIO = 5.0


def figures(folder: Path) -> list[Figure]:
    """Read the same answer with both parsers; the ratio is of one run."""
    del folder
    body = gzip.decompress(ANSWER.read_bytes())
    text = body.decode()

    def theirs() -> None:
        for _ in range(READS_A_RUN):
            [sample for family in text_string_to_metric_families(text) for sample in family.samples]

    def ours() -> None:
        for _ in range(READS_A_RUN):
            parse(body)

    def lines() -> None:
        for _ in range(READS_A_RUN):
            lines_of(Scrape(target="a", at_us=0, content=body))

    seconds = [timed(work, times=RUNS).seconds / READS_A_RUN for work in (theirs, ours, lines)]
    count, ratio = len(parse(body).samples), seconds[0] / seconds[1]
    return [
        Figure(what=f"a scrape of {count} samples, prometheus_client", measured=f"{seconds[0] * 1e3:.2f} ms"),
        Figure(what="the same, parsed here", measured=f"{seconds[1] * 1e3:.2f} ms"),
        Figure(
            what="ratio of the two",
            measured=f"1/{ratio:.1f}",
            target=f"<= 1/{TARGET_RATIO:.0f}",
            met=ratio >= TARGET_RATIO,
        ),
        Figure(what="the same, up to canonical lines", measured=f"{seconds[2] * 1e3:.2f} ms"),
    ]
