"""Own which requests an objective looks at: its `where` as a condition, its `during` as a test of the instant.

What was not measured or logged is in: a request whose tokens nobody counted is judged by every objective that
might have meant it, so missing data never thins out a promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.evaluation.fragments import NEVER, all_of, named, sql
from sla.evaluation.instants import inside
from sla.evaluation.parts import belongs
from sla.evaluation.promises import looked_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.contracts.where import TokenRange, Where
    from sla.evaluation.subject import Subject


def membership_columns(subject: Subject, window: Interval) -> list[Query]:
    """Return the flags of all promises, for rows received in `window`."""
    excluded = subject.excluded
    columns = []
    for promise in subject.promises.values():
        name = f"objective_{promise.number}"  # shared by its parts
        instants = looked_at(subject.contract, promise.objective, window, excluded)
        conditions = [
            membership(promise.objective.where, instants, name=name),
            belongs(promise.part, name=f"objective_{promise.key}_part"),
        ]
        if excluded.requests != NEVER:
            conditions.append(sql(f"NOT ({excluded.requests.sql})", **excluded.requests.parameters))
        columns.append(named(all_of(conditions), promise.flag))
    return columns


def membership(where: Where, intervals: Sequence[Interval] | None, *, name: str) -> Query:
    """Return the condition that a row belongs to an objective; `intervals` None means at any time.

    `name` begins the names of the parameters.
    """
    conditions = [] if intervals is None else [inside(intervals, name=f"{name}_during")]
    for column, wanted in (
        ("model", where.models),
        ("route", where.routes),
        ("region", where.regions),
        ("inference_mode", where.inference_mode),
    ):
        if wanted is not None:
            conditions.append(one_of(column, wanted, name=f"{name}_{column}s"))
    for column, span in (
        ("prompt_tokens", where.prompt_tokens),
        ("completion_tokens", where.completion_tokens),
    ):
        if span is not None:
            conditions.append(_in_range(column, span, name=f"{name}_{column}"))
    if where.stream is not None:
        parameter = f"{name}_stream"
        conditions.append(sql(f"ifNull(stream = {{{parameter}:UInt8}}, 1)", **{parameter: int(where.stream)}))
    return all_of(conditions)


def one_of(column: str, wanted: Sequence[str], *, name: str) -> Query:
    """Return the condition that `column` is one of `wanted` or was not logged; a route always is logged."""
    unlogged = () if column == "route" else ("",)
    return sql(f"{column} IN {{{name}:Array(String)}}", **{name: [*unlogged, *wanted]})


def _in_range(column: str, span: TokenRange, *, name: str) -> Query:
    tests = [sql(f"{column} >= {{{name}_lowest:UInt64}}", **{f"{name}_lowest": span.lowest})]
    if span.highest is not None:
        if span.highest < 0:
            return sql(f"{column} IS NULL")
        tests.append(sql(f"{column} <= {{{name}_highest:UInt64}}", **{f"{name}_highest": span.highest}))
    both = all_of(tests)
    return sql(f"ifNull({both.sql}, 1)", **both.parameters)
