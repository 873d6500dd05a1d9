"""Own what is counted of a span of time beside its promises, because it is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.evaluation.breakdown import breakdown_aggregates
from sla.evaluation.excluding import left_out
from sla.evaluation.traffic import traffic_aggregates
from sla.evaluation.values import known_aggregates

if TYPE_CHECKING:
    from fairclock.store import Query
    from sla.evaluation.coverage import Coverage
    from sla.evaluation.excluded import Excluded


def printed(coverage: Coverage, *, excluded: Excluded) -> dict[str, Query]:
    """Return the aggregates of traffic, of what is known of each clock, and of the phases."""
    return {
        **traffic_aggregates(coverage.engine_intervals, left_out(excluded, name="excluded")),
        **known_aggregates(),
        **breakdown_aggregates(),
    }
