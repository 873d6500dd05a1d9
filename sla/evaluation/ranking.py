"""Own the values at given ranks: exact order statistics, looked up in one pass once the counts are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sla.evaluation.fragments import all_of, sql
from sla.evaluation.rows import single_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.store import Query
    from sla.evaluation.rows import Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The rows that are ranked (`condition`, `count` of them), by which column, and the ranks asked for."""

    column: str
    condition: Query
    count: int
    ranks: tuple[int, ...]


def values_at_ranks(
    store: Requests, source: Query, ranked: Mapping[str, Ranked]
) -> dict[str, dict[int, int]]:
    """Return, for each name, the values (microseconds) at its ranks; ranks beyond its count have none.

    The engine's exact quantile of level L takes the element floor(L·n), counted from 0. A level of
    (rank - 1/2)/n lands half a step from either neighbour, far beyond what a float can lose, so the element
    is the one of that rank for any n the engine can hold.
    """
    asked = {
        name: tuple(sorted({rank for rank in each.ranks if 1 <= rank <= each.count}))
        for name, each in ranked.items()
    }
    aggregates = {name: _quantiles(name, ranked[name], ranks) for name, ranks in asked.items() if ranks}
    row = single_row(store, aggregates, source)
    return {
        name: dict(zip(ranks, map(int, row[name]), strict=True)) if ranks else {}
        for name, ranks in asked.items()
    }


def _quantiles(name: str, ranked: Ranked, ranks: Sequence[int]) -> Query:
    levels = {f"{name}_level_{rank}": (2 * rank - 1) / (2 * ranked.count) for rank in ranks}
    placeholders = ", ".join(f"{{{level}:Float64}}" for level in levels)
    condition = all_of([ranked.condition, sql(f"{ranked.column} IS NOT NULL")])
    return sql(
        f"quantilesExactIf({placeholders})(assumeNotNull({ranked.column}), {condition.sql})",
        **condition.parameters,
        **levels,
    )
