"""Own the face of a sweep: its table, and its chart as SVG; both follow from the findings alone."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from inference_probe.prober.printing import aligned, ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from inference_probe.prober.sweeping.findings import StageFinding, SweepFindings

_HEADINGS = (
    "", "requests/s", "tokens/s", "TTFT P50 ms", "P95", "P99", "end to end P50 ms", "P95", "P99", "a token P50 ms", "P95", "P99",
    "KV cache", "errors", "sent late P99 ms",
)  # fmt: skip
_CLOCKS = ("time_to_first_token", "end_to_end", "time_per_output_token")
_COLOURS = ("#3b6ea5", "#b5651d", "#7a3b69")
_WORDS = {"rate": "requests a second, meant", "concurrency": "at once"}


def sweep_lines(found: SweepFindings) -> Iterator[str]:
    """Yield the table, then where objectives break and the service is saturated."""
    yield from aligned([(found.kind, *_HEADINGS[1:]), *map(_cells, found.stages)])
    for stage in found.stages:
        if stage.void:
            yield f"{found.kind} {stage.load:g} is void: {stage.void}"
    if found.was_cut_short:
        yield "cut short: what follows is said of what was measured until then"
    for objective in found.breaks_at:
        yield f"{objective}: {_kept(found, objective)}"
    if found.saturated_from is not None:
        yield f"saturation: from {found.kind} {found.saturated_from:g} on more load brings hardly more work"
    elif found.is_saturation_known:
        yield "saturation: not reached"
    else:
        yield "saturation: not known, it takes two stages with answers"


def _kept(found: SweepFindings, objective: str) -> str:
    load, unmeasured = found.breaks_at[objective], found.unmeasured_at[objective]
    said = "kept at every load" if load is None else f"breaks at {found.kind} {load:g}"
    if not unmeasured:
        return said
    if load is None and all(stage.met.get(objective) is None for stage in found.stages):
        return "not measured at any load"
    if load is None:
        said = "kept where it was measured"
    return f"{said}; not measured at {found.kind} {', '.join(f'{each:g}' for each in unmeasured)}"


def _cells(stage: StageFinding) -> tuple[str, ...]:
    name = f"{stage.load:g}"
    if stage.figures is None:
        return (name, "void", *[""] * (len(_HEADINGS) - 3), ms(stage.late_seconds))
    clocks: Mapping[str, Any] = stage.figures["clocks"]
    missing: Mapping[str, Any] = {"p50": None, "p95": None, "p99": None}
    ratio = stage.figures["error_ratio"]
    return (
        name,
        _number(stage.figures["requests_per_second"]),
        _number(stage.figures["output_tokens_per_second"]),
        *(ms(clocks.get(clock, missing)[each]) for clock in _CLOCKS for each in ("p50", "p95", "p99")),
        "-" if stage.kv_cache_ratio is None else f"{stage.kv_cache_ratio * 100:.1f} %",
        "-" if ratio is None else f"{ratio * 100:.2f} %",
        ms(stage.late_seconds),
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def sweep_chart(found: SweepFindings, *, font_family: str) -> str:
    """Return the percentiles of the time to first token over the load, as one SVG document."""
    from fairclock.documents.charts import Across, Series, line_chart  # noqa: PLC0415 - it brings the reports' extra

    told = [each for each in found.stages if each.figures is not None]
    loads = [each.load for each in told]
    width = max(loads) - min(loads) or 1.0
    places = [(each - min(loads)) / width for each in loads]
    clock = next(
        (
            name
            for name in _CLOCKS[:2]
            if any(each.figures and name in each.figures["clocks"] for each in told)
        ),
        "end_to_end",
    )
    return str(
        line_chart(
            title=f"{clock} over {_WORDS[found.kind]}",
            axis=("ms", "ms, logarithmic"),
            across=Across(
                places=places, marks=[(place, f"{load:g}") for place, load in zip(places, loads, strict=True)]
            ),
            series=[
                Series(
                    name=name.upper(),
                    colour=colour,
                    is_broken=False,
                    values=[_milliseconds(each, clock, name) for each in told],
                )
                for name, colour in zip(("p50", "p95", "p99"), _COLOURS, strict=True)
            ],
            threshold=None,
            font_family=font_family,
        )
    )


def _milliseconds(stage: StageFinding, clock: str, percentile: str) -> Fraction | None:
    value = (stage.figures or {}).get("clocks", {}).get(clock, {}).get(percentile)
    return None if value is None else Fraction(str(value)) * 1000
