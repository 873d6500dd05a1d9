"""Own what the parts of a month that several versions judged are together: their rows, and sums over them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.store import Query
from sla.evaluation.clocks import clock_columns
from sla.evaluation.dataset import KEPT
from sla.evaluation.endings import flags

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sla.evaluation.facts import Facts

_PLACEHOLDER = re.compile(r"\{(\w+):")
_ALIAS = re.compile(r"\w+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """The rows of all parts, with every column that no promise has of its own, and the sums of aggregates."""

    source: Query
    others: Mapping[str, Any]


def together(facts: Sequence[Facts]) -> Together:
    """Return what no version judges: all of a month's rows. Other aggregates are counts and sums, and add up."""
    if len(facts) == 1:
        return Together(source=facts[0].source, others=facts[0].others)
    columns = [*KEPT, "judged_outcome", *(_name(each) for each in (*flags(), *clock_columns("received")))]
    names = ", ".join(_name_of(column) for column in columns)
    parts = [renamed(each.source, f"version_{place}_") for place, each in enumerate(facts)]
    return Together(
        source=Query(
            sql="\nUNION ALL\n".join(f"SELECT {names} FROM\n(\n{part.sql}\n)" for part in parts),
            parameters={name: value for part in parts for name, value in part.parameters.items()},
        ),
        others={name: sum(each.others[name] for each in facts) for name in facts[0].others},
    )


def renamed(query: Query, prefix: str) -> Query:
    """Return a query whose parameters begin with `prefix`, so that it can stand beside another of its kind."""
    return Query(
        sql=_PLACEHOLDER.sub(rf"{{{prefix}\1:", query.sql),
        parameters={f"{prefix}{name}": value for name, value in query.parameters.items()},
    )


def _name(column: Query) -> str:
    return _name_of(column.sql)


def _name_of(column: str) -> str:
    (name,) = _ALIAS.findall(column)
    return str(name)
