"""Own the counts of a month that no clause decides: outcomes, joining, retries, what was left unconfirmed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.model import Outcome
from sla.evaluation.endings import OK
from sla.evaluation.fragments import NEVER, all_of, count_if, sql
from sla.evaluation.instants import inside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.model import Interval
    from fairclock.store import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Requests in scope, counted; `outcomes` holds every outcome, in report order."""

    admitted: int
    outcomes: Mapping[Outcome, int]
    joined_ok: int
    unconfirmed: int
    quarantined: int
    ambiguous: int
    retried: int
    simulated: int
    excluded: int


def traffic_aggregates(engine_covered: Sequence[Interval], left_out: Query = NEVER) -> dict[str, Query]:
    """Return the aggregates that `read_traffic` reads; `engine_covered` is when engines were read through.

    `left_out` is the condition that exclusions leave a request out; it is counted among the others all the same.

    Unconfirmed is every `ok` request whose engine row is missing, ambiguous or quarantined although engines
    were covered when it was received: no usable measurement confirms it.
    """
    unconfirmed = all_of([OK, sql("engine != 'joined'"), inside(engine_covered, name="engine_covered")])
    return {
        "admitted": sql("count()"),
        **{f"ended_{outcome}": count_if(sql(f"judged_outcome = '{outcome}'")) for outcome in Outcome},
        "joined_ok": count_if(all_of([OK, sql("engine = 'joined'")])),
        "unconfirmed": count_if(unconfirmed),
        "quarantined": count_if(sql("engine = 'quarantined'")),
        "ambiguous": count_if(sql("engine = 'ambiguous'")),
        "retried": count_if(sql("attempts > 1")),
        "simulated": count_if(sql("simulated != 0")),
        "excluded": count_if(left_out),
    }


def read_traffic(row: Mapping[str, Any]) -> Traffic:
    """Return the counts from a row of `traffic_aggregates`."""
    return Traffic(
        admitted=row["admitted"],
        outcomes={outcome: row[f"ended_{outcome}"] for outcome in Outcome},
        joined_ok=row["joined_ok"],
        unconfirmed=row["unconfirmed"],
        quarantined=row["quarantined"],
        ambiguous=row["ambiguous"],
        retried=row["retried"],
        simulated=row["simulated"],
        excluded=row["excluded"],
    )
