"""Own how a reconciliation is printed: what was sent, who saw it, how far they differ, how their clocks stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.measurement.problems import clock_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inference_probe.reconciliation.reconciling import Reconciliation
    from sla.measurement import ClockBounds, Difference, Measurement, SourceCount
    from sla.measurement.problems import Problem

_DIFFERENCE_HEADINGS = ("clock", "of", "against", "n", "median", "P50 of sizes", "P95", "P99", "beyond")
_CLOCK_HEADINGS = ("clock of", "is ahead of that of", "n", "at least", "at most", "moved")


def printed(
    reconciliation: Reconciliation, measurement: Measurement, problems: Sequence[Problem]
) -> Iterator[str]:
    """Yield the lines of a reconciliation for a person."""
    yield (
        f"{measurement.sent} probes sent, {measurement.answered} answered, {measurement.reconciled} reconciled,"
        f" {reconciliation.kept} of them with something new"
    )
    if measurement.lateness_us is not None:
        p50, p99, most = measurement.lateness_us
        yield f"sent later than intended by {_ms(p50)} (P50), {_ms(p99)} (P99), {_ms(most)} (most)"
    for source, count in reconciliation.repeated.items():
        yield f"{source} told of {count} probes more than once"
    if measurement.sources:
        yield ""
        yield from _table(("source", "should see", "saw", "missing"), map(_source_row, measurement.sources))
    if measurement.differences:
        yield ""
        yield from _table(_DIFFERENCE_HEADINGS, map(_difference_row, measurement.differences))
    if measurement.clocks:
        yield ""
        yield from _table(_CLOCK_HEADINGS, map(_clocks_row, measurement.clocks))
    yield ""
    yield from (f"! {each.sentence}" for each in problems)
    if not problems and measurement.reconciled:
        yield "the sources agree"


def _source_row(each: SourceCount) -> tuple[str, ...]:
    if not each.seen:
        return each.source.value, str(each.expected), "none", "not connected, or all of them"
    return each.source.value, str(each.expected), str(each.seen), str(each.missing)


def _difference_row(each: Difference) -> tuple[str, ...]:
    of = each.comparison
    beyond = "" if of.tolerance_us is None else f"{each.beyond} > {_ms(of.tolerance_us)}"
    sizes = (each.size_p50_us, each.size_p95_us, each.size_p99_us)
    return (
        of.clock,
        of.source.value,
        of.against.value,
        str(each.count),
        _ms(each.median_us),
        *map(_ms, sizes),
        beyond,
    )


def _clocks_row(each: ClockBounds) -> tuple[str, ...]:
    # bounds that cross are no bounds: what is known then is that the clocks moved
    low, high = sorted((each.low_us, each.high_us))
    return (
        clock_name(each.source.value, each.instance),
        clock_name(each.against.value, each.against_instance),
        str(each.count),
        _ms(low),
        _ms(high),
        _ms(each.drift_us) if each.drift_us else "",
    )


def _table(headings: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    lines = [tuple(headings), *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(headings))]
    for line in lines:
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def _ms(microseconds: int) -> str:
    return f"{microseconds / 1000:.3f} ms"
