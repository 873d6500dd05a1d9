"""Own what a minute counts: each request of an objective is good, bad, excluded or unknown, and only one of them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Clock, Interval
from sla.calendars import day_start
from sla.contracts.objectives import AvailabilityObjective, LatencyObjective
from sla.evaluation.clocks import column_of
from sla.evaluation.dataset import rows_of
from sla.evaluation.endings import BAD, GOOD_OR_BAD
from sla.evaluation.excluded import NOTHING
from sla.evaluation.fragments import NEVER, named, select, separated, sql
from sla.evaluation.instants import inside
from sla.evaluation.judging import judged_by
from sla.evaluation.promises import promises_of
from sla.evaluation.quota import WINDOW_US, refused_below_quota
from sla.evaluation.subject import subject_of
from sla.evaluation.together import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.excluded import Excluded
    from sla.evaluation.promises import Promise
    from sla.evaluation.rows import Requests

_CLASSES = {"good": 1, "bad": 2, "excluded": 3, "unknown": 4}
_ARRAYS = ("total", *_CLASSES)
_SUMS = ("requests", "queue_us", "queue_of_us")
_MINUTE = "intDiv(at_us, 60000000) * 60000000"
_CLAUSES_THAT_COUNT = {"calendar", "clock", "objectives", "outcomes", "quality", "quota", "retries", "scope"}
_QUOTA_WINDOW = timedelta(microseconds=WINDOW_US)


def counted_by_minute(
    store: Requests,
    contracts: Sequence[Contract],
    window: Interval,
    as_of: datetime,
    *,
    excluded: Excluded = NOTHING,
) -> Query:
    """Return the query for what `contracts` counted in each minute of `window` that has a request of theirs.

    They count alike (`way_of_counting`) and no tenant is a customer of two of them. Columns: `place`, from 1,
    of the contract; `minute_us`; `total`, `good`, `bad`, `excluded`, `unknown` with an entry an objective of the file;
    `requests` in scope; `queue_us` and `queue_of_us`, the waiting and the whole time of the `ok` requests whose
    waiting is known. Objectives that are judged by single requests, or by ratios of them, count; others have zeros.
    """
    contract = contracts[0]
    promises = _by_request(contract)
    subject = subject_of(_together(contracts))
    left_out = _left_out(excluded)
    classes = [named(_class_of(each, left_out), f"class_{each.number}") for each in promises]
    # an alias of the engine hides a column of that name
    place = _place(contracts)
    kept = [place, sql("at_us"), sql("is_ok"), sql("queue_us AS waited_us"), sql(column_of(Clock.END_TO_END))]
    rows = rows_of(store, subject, window, as_of)
    main = _by_minute(contract, promises, select([*kept, *classes], rows), _SUMMED)
    quota = contract.quota
    if quota is None or quota.rejected_below != "bad":
        return main
    first = max(window.start - _QUOTA_WINDOW, term_of(contract).start)
    wider = rows_of(store, subject, Interval(start=min(window.start, first), end=window.end), as_of)
    classes = [named(_class_of_refused(each, left_out), f"class_{each.number}") for each in promises]
    refused = select([place, sql("at_us"), *classes], refused_below_quota(quota, wider, window))
    return _added(main, _by_minute(contract, promises, refused, _SUMMED_ALREADY))


def way_of_counting(contract: Contract) -> str:
    """Return a text that two contracts share if they count alike, whoever their customers are."""
    clauses = contract.model_dump(mode="json", by_alias=True, include=_CLAUSES_THAT_COUNT)
    return json.dumps([clauses, contract.term.time_zone], sort_keys=True)


def reach_us(contract: Contract) -> int:
    """Return how long after a request's minute others may still be counted otherwise because of it."""
    return WINDOW_US if contract.quota is not None and contract.quota.rejected_below == "bad" else 0


def term_of(contract: Contract) -> Interval:
    """Return the instants at which `contract` is in force."""
    days, zone = contract.term.days, contract.zone
    return Interval(
        start=day_start(days.first_day, zone), end=day_start(days.last_day + timedelta(days=1), zone)
    )


_KNOWN = "is_ok AND waited_us IS NOT NULL"
_SUMMED = (
    named(sql("toUInt32(count())"), "requests"),
    named(sql(f"toInt64(sumIf(ifNull(waited_us, 0), {_KNOWN}))"), "queue_us"),
    named(sql(f"toInt64(sumIf({column_of(Clock.END_TO_END)}, {_KNOWN}))"), "queue_of_us"),
)
_SUMMED_ALREADY = (
    named(sql("toUInt32(0)"), "requests"),
    named(sql("toInt64(0)"), "queue_us"),
    named(sql("toInt64(0)"), "queue_of_us"),
)


def _together(contracts: Sequence[Contract]) -> Contract:
    """Return a contract with the tenants of all."""
    first = contracts[0]
    tenants = tuple(tenant for each in contracts for tenant in each.customer.tenants)
    return first.model_copy(update={"customer": first.customer.model_copy(update={"tenants": tenants})})


def _place(contracts: Sequence[Contract]) -> Query:
    """Return the place of the contract whose customer a row's tenant is."""
    places = {
        tenant: place
        for place, contract in enumerate(contracts, start=1)
        for tenant in contract.customer.tenants
    }
    return sql(
        "transform(CAST(tenant, 'String'), {place_tenants:Array(String)}, {places:Array(UInt32)}, toUInt32(0)) AS place",
        place_tenants=list(places),
        places=list(places.values()),
    )


def _by_request(contract: Contract) -> list[Promise]:
    """Return the promises that say of a single request whether it is good."""
    return [
        each
        for each in promises_of(contract).values()
        if isinstance(each.objective, LatencyObjective | AvailabilityObjective)
    ]


def _left_out(excluded: Excluded) -> Query:
    parts = [
        each for each in (inside(excluded.instants, name="left_out"), excluded.requests) if each != NEVER
    ]
    if not parts:
        return NEVER
    return separated(" OR ", [sql(f"({each.sql})", **each.parameters) for each in parts])


def _class_of(promise: Promise, left_out: Query) -> Query:
    """Return which of `_CLASSES` a row is for an objective; 0 where it does not count."""
    objective = promise.objective
    found: Sequence[tuple[Query | None, str]]
    if isinstance(objective, LatencyObjective):
        by = judged_by(
            objective.latency.clock,
            threshold=f"objective_{promise.key}_at_most",
            threshold_us=objective.latency.at_most_us,
        )
        found = (
            (by.valued_over, "bad"),
            (by.unanswered, "bad"),
            (by.unknown, "unknown"),
            (by.valued, "good"),
        )
    else:
        found = ((BAD, "bad"), (GOOD_OR_BAD, "good"))
    arms: list[Query] = [sql(f"NOT ({promise.flag})"), sql("0")]
    for condition, name in found:
        if condition is not None:
            arms += [condition, _class(name, left_out)]
    whole = separated(", ", [*arms, sql("0")])
    return sql(f"multiIf({whole.sql})", **whole.parameters)


def _class_of_refused(promise: Promise, left_out: Query) -> Query:
    if not isinstance(promise.objective, AvailabilityObjective):
        return sql("0")
    bad = _class("bad", left_out)
    return sql(f"if({promise.flag}, {bad.sql}, 0)", **bad.parameters)


def _class(name: str, left_out: Query) -> Query:
    if left_out == NEVER:
        return sql(str(_CLASSES[name]))
    return sql(f"if({left_out.sql}, {_CLASSES['excluded']}, {_CLASSES[name]})", **left_out.parameters)


def _by_minute(
    contract: Contract, promises: Sequence[Promise], classified: Query, sums: Sequence[Query]
) -> Query:
    counted = {each.number for each in promises}

    def array(condition: str, name: str) -> Query:
        entries = (
            f"toUInt32(countIf(class_{number} {condition}))" if number in counted else "toUInt32(0)"
            for number in range(len(contract.objectives))
        )
        return named(sql(f"[{', '.join(entries)}]"), name)

    arrays = [array("!= 0", "total"), *(array(f"= {number}", name) for name, number in _CLASSES.items())]
    return select(
        [sql("place"), named(sql(_MINUTE), "minute_us"), *arrays, *sums],
        classified,
        sql("GROUP BY place, minute_us"),
    )


def _added(main: Query, others: Query) -> Query:
    parts = separated("\nUNION ALL\n", (main, renamed(others, "refused_")))
    columns = [
        "place",
        "minute_us",
        *(f"sumForEach(part.{name}) AS {name}" for name in _ARRAYS),
        *(f"sum(part.{name}) AS {name}" for name in _SUMS),
    ]
    listed = ",\n    ".join(columns)
    return sql(
        f"SELECT\n    {listed}\nFROM\n(\n{parts.sql}\n) AS part\nGROUP BY place, minute_us",
        **parts.parameters,
    )
