"""Own what is printed of a run: from its file alone, so that a file printed again says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inference_probe.prober.latencies import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from inference_probe.prober.result_files import Result

_HEADINGS = ("clock", "n", "P50 ms", "P95 ms", "P99 ms", "P99 lies in ms", "max ms")


def run_lines(result: Result) -> Iterator[str]:
    """Yield the lines of a run without stages."""
    header = result.header
    found = figures(result.seen)
    yield f"run {header['run']}: {header['mode']} of {header['endpoint']}, {header['model']}"
    if header.get("was_stopped"):
        yield "cut short: what follows is said of what was measured until then"
    yield f"{found['probes']} probes, " + said(found["outcomes"])
    if again := sum(each.again for each in result.seen):
        yield f"{again} were sent again: a connection that was open was being closed"
    if found["errors"]:
        yield "errors: " + said(found["errors"])
    if found["requests_per_second"] is not None:
        yield f"{found['requests_per_second']:g} requests/s, {found['output_tokens_per_second']:g} tokens/s"
    yield from own_lines(header["prober"])
    yield from aligned([_HEADINGS, *(clock_cells(name, each) for name, each in found["clocks"].items())])


def own_lines(itself: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield how late the prober was."""
    if itself is None:
        return
    for name, words in (("lateness", "sent late by"), ("loop_lag", "loop lag")):
        values = itself[name]
        yield f"{words}: P50 {ms(values['p50'])} ms, P99 {ms(values['p99'])} ms, max {ms(values['max'])} ms"


def clock_cells(name: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a clock's cells; what never came is a dash."""
    low, high = values["p99_interval"]
    return (
        name,
        str(values["n"]),
        *(ms(values[each]) for each in ("p50", "p95", "p99")),
        f"{ms(low)} to {ms(high)}",
        ms(values["max"]),
    )


def ms(seconds: float | None) -> str:
    """Return seconds as milliseconds; a dash for what is not known or never came."""
    return "-" if seconds is None else f"{seconds * 1e3:.1f}"


def said(counts: Mapping[str, int]) -> str:
    """Return counts by name."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as text in columns: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *others = (
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *others]).rstrip()
