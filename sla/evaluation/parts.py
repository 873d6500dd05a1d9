"""Own the parts of the traffic that a contract judges apart: its models, its regions, or both."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from sla.evaluation.fragments import all_of, select, sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.contracts.where import Where
    from sla.evaluation.rows import Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One model, one region, or one of each; None where the contract does not judge by it.

    A request whose model or region was not logged belongs to every part.
    """

    model: str | None = None
    region: str | None = None

    def conditions(self, *, name: str) -> list[Query]:
        """Return the conditions that a row belongs to the part; `name` begins the parameters' names."""
        return [
            sql(f"{column} IN {{{name}_{column}:Array(String)}}", **{f"{name}_{column}": ["", value]})
            for column, value in (("model", self.model), ("region", self.region))
            if value is not None
        ]

    def may_meet(self, where: Where) -> bool:
        """Tell whether an objective with this `where` says anything about the part."""
        return all(
            value is None or wanted is None or value in wanted
            for value, wanted in ((self.model, where.models), (self.region, where.regions))
        )


def parts_of(store: Requests, contract: Contract, rows: Query) -> list[Part] | None:
    """Return the parts of the traffic in `rows`, sorted; None where the contract judges it as a whole.

    They are the models and regions that the scope names, with traffic or not; where it names none, those that
    were logged. Where none was logged either there is one part, of everything.
    """
    if not contract.evaluate_per:
        return None
    named = {"model": contract.scope.models, "region": contract.scope.regions}
    values: dict[str, Iterable[str | None]] = {}
    for column in ("model", "region"):
        if column in contract.evaluate_per:
            values[column] = named[column] or _logged(store, rows, column) or [None]
        else:
            values[column] = [None]
    return [Part(model=model, region=region) for model, region in product(values["model"], values["region"])]


def _logged(store: Requests, rows: Query, column: str) -> Sequence[str]:
    found = store.rows(select((sql(f"toString({column})"),), rows, sql(f"GROUP BY {column}")))
    return sorted(row[0] for row in found if row[0])


def belongs(part: Part | None, *, name: str) -> Query:
    """Return the condition that a row belongs to `part`; None is all of the traffic."""
    return all_of([] if part is None else part.conditions(name=name))
