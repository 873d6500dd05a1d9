"""Own what an incident hit: the contract's own bad requests, whose they were, how long they took, where their time went."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairclock.model import Clock, Interval, clip, to_us
from sla.contracts.objectives import LatencyObjective
from sla.evaluation.clocks import column_of
from sla.evaluation.dataset import rows_of
from sla.evaluation.endings import BAD
from sla.evaluation.fragments import NEVER, all_of, separated, sql
from sla.evaluation.judging import judged_by
from sla.evaluation.rows import single_row
from sla.evaluation.subject import subject_of
from sla.incidents.observations import Phases

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from fairclock.store import Query
    from sla.evaluation.rows import Requests
    from sla.evaluation.subject import Subject
    from sla.slices.evaluator import InForce

_KNOWN = "queue_us IS NOT NULL AND prefill_us IS NOT NULL AND decode_us IS NOT NULL"
_ELAPSED = column_of(Clock.END_TO_END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The bad requests of one objective: whose, the longest time on its clock (µs), how they ended, where time went.

    usual: the answered requests of the time before. unanswered: bad ones without a value on the clock.
    """

    tenants: tuple[str, ...] = ()
    worst_us: int | None = None
    unanswered: int = 0
    outcomes: Mapping[str, int]
    over: Phases
    usual: Phases


def hits_of(
    store: Requests,
    versions: Iterable[InForce],
    objective: str,
    *,
    before: Interval,
    during: Interval,
    as_of: datetime,
) -> Hits:
    """Return what the objective of that name had of bad requests in `during`, as it was known at `as_of`."""
    tenants: set[str] = set()
    outcomes: dict[str, int] = {}
    worst: list[int] = []
    unanswered = 0
    over = usual = (0, 0, 0, 0, 0)
    for version in versions:
        interval = version.interval
        subject = subject_of(version.contract, excluded=version.excluded)
        found = [
            each
            for each in subject.promises.values()
            if each.objective.name == objective and each.part is None
        ]
        if interval is None or not found:
            continue
        # the other promises would be planned, too
        subject = replace(subject, promises={found[0].key: found[0]})
        aggregates = _aggregates(subject, found[0].key, before=before, during=during)
        for span in clip([interval], _hull(before, during)):
            row = single_row(store, aggregates, rows_of(store, subject, span, as_of))
            tenants |= set(row["tenants"])
            for name, count in row["outcomes"].items():
                outcomes[name] = outcomes.get(name, 0) + int(count)
            worst += [int(row["worst_us"])] if row["worst_us"] is not None else []
            unanswered += int(row["unanswered"])
            over, usual = _added(over, row, "over"), _added(usual, row, "usual")
    return Hits(
        tenants=tuple(sorted(tenants)),
        worst_us=max(worst, default=None),
        unanswered=unanswered,
        outcomes=outcomes,
        over=_phases(over),
        usual=_phases(usual),
    )


def _aggregates(subject: Subject, key: str, *, before: Interval, during: Interval) -> dict[str, Query]:
    promise = subject.promises[key]
    counted = [sql(promise.flag)]  # what is left out is not in it
    value, is_valued, is_unanswered = "NULL", NEVER, NEVER
    if isinstance(promise.objective, LatencyObjective):
        clock = promise.objective.latency.clock
        by = judged_by(clock, threshold="hit_at_most", threshold_us=promise.objective.latency.at_most_us)
        value = column_of(clock)
        is_valued = by.valued_over or NEVER
        is_unanswered = by.unanswered or NEVER
    else:
        is_unanswered = BAD
    either = separated(
        " OR ", [sql(f"({each.sql})", **each.parameters) for each in (is_valued, is_unanswered)]
    )
    hit = all_of([*counted, _within(during, "during"), either])
    valued = all_of([*counted, _within(during, "during"), is_valued])
    unanswered = all_of([*counted, _within(during, "during"), is_unanswered])
    usual = all_of([*counted, _within(before, "before"), sql("is_ok")])
    return {
        "tenants": _of("groupUniqArrayIf(toString(tenant), {})", hit),
        "outcomes": _of("sumMapIf(map(toString(judged_outcome), toUInt64(1)), {})", hit),
        "worst_us": _of(f"maxOrNullIf({value}, {{}})", valued) if value != "NULL" else sql("NULL"),
        "unanswered": _of("countIf({})", unanswered),
        **_sums("over", hit),
        **_sums("usual", usual),
    }


def _sums(name: str, condition: Query) -> dict[str, Query]:
    known = all_of([condition, sql(_KNOWN)])
    return {
        f"{name}_requests": _of("countIf({})", condition),
        f"{name}_known": _of("countIf({})", known),
        f"{name}_elapsed": _of(f"sumIf(toInt64({_ELAPSED}), {{}})", known),
        f"{name}_queue": _of("sumIf(toInt64(ifNull(queue_us, 0)), {})", known),
        f"{name}_inference": _of("sumIf(toInt64(ifNull(prefill_us + decode_us, 0)), {})", known),
    }


def _of(aggregate: str, condition: Query) -> Query:
    # not `format`: the condition's own placeholders have braces
    return sql(aggregate.replace("{}", f"ifNull({condition.sql}, 0)"), **condition.parameters)


def _within(interval: Interval, name: str) -> Query:
    return sql(
        f"at_us >= {{{name}_from:Int64}} AND at_us < {{{name}_to:Int64}}",
        **{f"{name}_from": to_us(interval.start), f"{name}_to": to_us(interval.end)},
    )


def _added(sums: tuple[int, ...], row: Mapping[str, int], name: str) -> tuple[int, int, int, int, int]:
    names = ("requests", "known", "elapsed", "queue", "inference")
    one, two, three, four, five = (
        have + int(row[f"{name}_{each}"]) for have, each in zip(sums, names, strict=True)
    )
    return one, two, three, four, five


def _phases(sums: tuple[int, ...]) -> Phases:
    requests, known, elapsed_us, queue_us, inference_us = sums
    return Phases(
        requests=requests, known=known, elapsed_us=elapsed_us, queue_us=queue_us, inference_us=inference_us
    )


def _hull(before: Interval, during: Interval) -> Interval:
    return Interval(start=min(before.start, during.start), end=max(before.end, during.end))
