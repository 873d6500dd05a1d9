"""Own the values at given ranks: exact order statistics, looked up in one pass once the counts are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sla.evaluation.fragments import sql
from sla.evaluation.rows import single_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.store import Query
    from sla.evaluation.rows import Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The rows that are ranked (`condition`, `count` of them), by which column, and the ranks asked for.

    No row that meets `condition` may lack the column.
    """

    column: str
    condition: Query
    count: int
    ranks: tuple[int, ...]


def values_at_ranks(
    store: Requests, source: Query, ranked: Mapping[str, Ranked]
) -> dict[str, dict[int, int]]:
    """Return, for each name, the values (microseconds) by rank; ranks beyond its count have none.

    Names that rank the same rows by the same column share one sort, so a name may get more than it asked for.
    """
    sorts: list[tuple[Ranked, set[int]]] = []
    sort_of: dict[str, int] = {}
    for name, each in ranked.items():
        place = next((at for at, (other, _) in enumerate(sorts) if _same_rows(each, other)), len(sorts))
        if place == len(sorts):
            sorts.append((each, set()))
        sorts[place][1].update(rank for rank in each.ranks if 1 <= rank <= each.count)
        sort_of[name] = place
    asked = {f"sort_{place}": (each, sorted(ranks)) for place, (each, ranks) in enumerate(sorts) if ranks}
    row = single_row(store, {name: _quantiles(name, *asked[name]) for name in asked}, source)
    values = {name: dict(zip(ranks, map(int, row[name]), strict=True)) for name, (_, ranks) in asked.items()}
    return {name: values.get(f"sort_{place}", {}) for name, place in sort_of.items()}


def _same_rows(one: Ranked, other: Ranked) -> bool:
    return (one.column, one.condition) == (other.column, other.condition)


def _quantiles(name: str, ranked: Ranked, ranks: Sequence[int]) -> Query:
    """Return the aggregate for the values at `ranks`, in their order.

    The engine's exact quantile of level L takes the element floor(L·n), counted from 0. A level of
    (rank - 1/2)/n lands half a step from either neighbour, far beyond what a float can lose, so the element
    is the one of that rank for any n the engine can hold.
    """
    levels = {f"{name}_level_{rank}": (2 * rank - 1) / (2 * ranked.count) for rank in ranks}
    placeholders = ", ".join(f"{{{level}:Float64}}" for level in levels)
    return sql(
        f"quantilesExactIf({placeholders})(assumeNotNull({ranked.column}), {ranked.condition.sql})",
        **ranked.condition.parameters,
        **levels,
    )
