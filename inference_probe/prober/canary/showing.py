"""Own what is printed of a comparison, from its file alone: a row a step and version, and what was recommended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inference_probe.prober.printing import aligned, ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from inference_probe.prober.result_files import Result

_HEADINGS = ("share", "version", "probes", "mean ms", "failures", "memory MB", "sent late P99 ms")
_VERSIONS = ("baseline", "canary")


def canary_lines(result: Result) -> Iterator[str]:
    """Yield the steps, then what each recommended."""
    header = result.header
    yield f"run {header['run']}: canary of {header['endpoints']['canary']} against {header['endpoints']['baseline']}"
    rows = [_cells(stage, version) for stage in result.stages for version in _VERSIONS]
    yield from aligned([_HEADINGS, *rows])
    if header.get("was_stopped"):
        yield f"cut short in its step {len(result.stages) + 1}, on which nothing is recommended"
    for stage in result.stages:
        yield f"{stage['share_percent']:g} %: {stage['recommendation']} ({'; '.join(stage['reasons'])})"


def _cells(stage: Mapping[str, Any], version: str) -> tuple[str, ...]:
    side = stage[version]
    return (
        f"{stage['share_percent']:g} %",
        version,
        str(side["probes"]),
        ms(side["mean_seconds"]),
        "-" if side["error_ratio"] is None else f"{side['error_ratio'] * 100:.2f} %",
        "-" if side["memory_bytes"] is None else f"{side['memory_bytes'] / 1e6:.1f}",
        ms(stage["prober"]["lateness"]["p99"]),
    )
