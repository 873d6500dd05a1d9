"""Own all that is said of how well requests are measured, from probes that every source saw or should have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import to_us
from fairclock.model.probes import FAILED, ProbeOutcome
from sla.measurement.bounding import clock_bounds
from sla.measurement.differing import differences
from sla.measurement.missing import source_counts
from sla.percentiles import rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairclock.model.probes import Probe
    from fairclock.model.sightings import Reconciled
    from sla.measurement.bounding import ClockBounds
    from sla.measurement.differing import Difference
    from sla.measurement.missing import SourceCount

_MEDIAN, _P99, _GREATEST = Fraction(50), Fraction(99), Fraction(100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What probes say of the measurement.

    sent, answered, failed: of the probes. reconciled: those that were laid beside what other sources saw. lateness: the
    prober's own, P50, P99 and greatest, in microseconds; None where nothing was sent.
    """

    sent: int
    answered: int
    failed: int
    reconciled: int
    lateness_us: tuple[int, int, int] | None
    sources: tuple[SourceCount, ...]
    differences: tuple[Difference, ...]
    clocks: tuple[ClockBounds, ...]


def measured(probes: Iterable[Probe], found: Iterable[Reconciled]) -> Measurement:
    """Return the figures of `probes`, of which `found` were reconciled."""
    sent = [each for each in probes if each.sent_at is not None]
    outcomes = Counter(each.outcome for each in sent)
    reconciled = list(found)
    return Measurement(
        sent=len(sent),
        answered=outcomes[ProbeOutcome.OK],
        failed=sum(outcomes[each] for each in FAILED),
        reconciled=len(reconciled),
        lateness_us=_lateness_us(sent),
        sources=tuple(source_counts(reconciled)) if reconciled else (),
        differences=tuple(differences(reconciled)),
        clocks=tuple(clock_bounds(reconciled)),
    )


def _lateness_us(sent: Sequence[Probe]) -> tuple[int, int, int] | None:
    late = sorted(
        max(0, to_us(each.sent_at) - to_us(each.intended_at)) for each in sent if each.sent_at is not None
    )
    if not late:
        return None
    p50, p99, greatest = (late[rank(len(late), each) - 1] for each in (_MEDIAN, _P99, _GREATEST))
    return p50, p99, greatest
