"""Own how pieces of SQL are put together: each carries its parameters, so that no value is lost or inlined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.store import Query

if TYPE_CHECKING:
    from collections.abc import Iterable


ALWAYS = Query(sql="1")
NEVER = Query(sql="0")


def sql(text: str, **parameters: object) -> Query:
    """Return `text` with the values of its placeholders."""
    return Query(sql=text, parameters=parameters)


def named(expression: Query, column: str) -> Query:
    """Return an expression as the column `column`."""
    return Query(sql=f"{expression.sql} AS {column}", parameters=expression.parameters)


def separated(separator: str, parts: Iterable[Query]) -> Query:
    """Return the parts in a row with every parameter they need; two values for one name are refused."""
    texts: list[str] = []
    parameters: dict[str, object] = {}
    for part in parts:
        texts.append(part.sql)
        for name, value in part.parameters.items():
            if parameters.setdefault(name, value) != value:
                raise ValueError(f"two values for the parameter {name}: {parameters[name]!r} and {value!r}")
    return Query(sql=separator.join(texts), parameters=parameters)


def all_of(conditions: Iterable[Query]) -> Query:
    """Return a condition that holds where all hold; of none, one that always holds."""
    real = [each for each in conditions if each != ALWAYS]
    if len(real) == 1:
        return real[0]
    wrapped = [Query(sql=f"({each.sql})", parameters=each.parameters) for each in real]
    return separated(" AND ", wrapped) if wrapped else ALWAYS


def count_if(condition: Query) -> Query:
    """Return the aggregate that counts the rows which meet `condition`."""
    return Query(sql=f"countIf({condition.sql})", parameters=condition.parameters)


def select(columns: Iterable[Query], source: Query, *clauses: Query) -> Query:
    """Return a SELECT of `columns` from the subquery `source`, followed by `clauses`, a line each."""
    head = separated(",\n    ", columns)
    return separated(
        "\n",
        (
            Query(sql=f"SELECT\n    {head.sql}", parameters=head.parameters),
            Query(sql=f"FROM\n(\n{source.sql}\n)", parameters=source.parameters),
            *clauses,
        ),
    )
