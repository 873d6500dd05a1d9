"""Own ``measurement`` of ``report.json``: what probes say of how well a contract's service is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import utc_text
from fairclock.store.probes import probes_as_of
from sla.measurement.answers import answers_by_mode
from sla.measurement.reading import measured_as_of
from sla.probing import concerning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store.probes import Rows
    from sla.contracts import Contract
    from sla.measurement.bounding import ClockBounds
    from sla.measurement.differing import Difference
    from sla.measurement.figures import Measurement
    from sla.measurement.missing import SourceCount

_MICROSECONDS = 1_000_000


def measurement_section(
    store: Rows, contracts: Sequence[Contract], window: Interval, as_of: datetime
) -> dict[str, Any] | None:
    """Return what the probes of the contracts' service say that were to be sent in `window`; None where there were none."""
    found = measured_as_of(store, window, as_of, contracts=contracts)
    if not found.sent:
        return None
    judged = probes_as_of(store, window, as_of, judged=True)
    concerned = {each.id: each for contract in contracts for each in concerning(contract, judged)}
    return {**measurement_tree(found), "answers": answers_by_mode(concerned.values())}


def measurement_tree(measurement: Measurement) -> dict[str, Any]:
    """Return the figures as JSON has them: seconds, and counts."""
    late = measurement.lateness_us
    return {
        "probes": {
            "sent": measurement.sent,
            "answered": measurement.answered,
            "failed": measurement.failed,
            "reconciled": measurement.reconciled,
        },
        "lateness": None
        if late is None
        else {name: _seconds(each) for name, each in zip(("p50", "p99", "max"), late, strict=True)},
        "sources": [_source_tree(each) for each in measurement.sources],
        "differences": [_difference_tree(each) for each in measurement.differences],
        "clocks": [_clocks_tree(each) for each in measurement.clocks],
    }


def _source_tree(each: SourceCount) -> dict[str, Any]:
    return {
        "source": each.source.value,
        "expected": each.expected,
        "seen": each.seen,
        "missing": each.missing,
        "unseen_last": each.unseen_last,
        "unseen_since": None if each.unseen_since is None else utc_text(each.unseen_since),
    }


def _difference_tree(each: Difference) -> dict[str, Any]:
    of = each.comparison
    return {
        "clock": of.clock,
        "source": of.source.value,
        "against": of.against.value,
        "n": each.count,
        "min": _seconds(each.least_us),
        "median": _seconds(each.median_us),
        "max": _seconds(each.greatest_us),
        "size_p50": _seconds(each.size_p50_us),
        "size_p95": _seconds(each.size_p95_us),
        "size_p99": _seconds(each.size_p99_us),
        "tolerance": None if of.tolerance_us is None else _seconds(of.tolerance_us),
        "beyond": each.beyond,
        "may_be_beyond": None if of.tolerance_us is None else float(of.may_be_beyond),
    }


def _clocks_tree(each: ClockBounds) -> dict[str, Any]:
    return {
        "source": each.source.value,
        "instance": each.instance,
        "against": each.against.value,
        "against_instance": each.against_instance,
        "n": each.count,
        "ahead": [_seconds(each.low_us), _seconds(each.high_us)],
        "ahead_first": [_seconds(us) for us in each.first_us],
        "ahead_last": [_seconds(us) for us in each.last_us],
        "apart": _seconds(each.apart_us),
        "moved": _seconds(each.drift_us),
    }


def _seconds(microseconds: int) -> float:
    return microseconds / _MICROSECONDS
