"""Own what the migrations say of each table, as values: its engine, its key, its partitions, how long rows stay."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from fairclock.store.migrations import migrations

BOOKKEEPING = frozenset({"schema_migrations", "copies"})
"""Tables that say something of one store, and of no other."""

_CREATE = re.compile(
    r"CREATE (?:TABLE IF NOT EXISTS|(?P<again>OR REPLACE) TABLE) (?P<name>\w+)\s*\((?P<columns>.*)\)\s*\n"
    r"ENGINE = (?P<engine>\w+)(?:\((?P<arguments>[^)]*)\))?"
    r"(?:\s*\nPARTITION BY (?P<partition>[^\n]+))?"
    r"\s*\nORDER BY (?P<order>[^\n]+)"
    r"(?:\s*\nTTL (?P<ttl>[^\n]+))?"
    r"(?:\s*\nSETTINGS (?P<settings>[^\n]+))?"
    r"(?:\s*\nAS SELECT \* FROM (?P=name))?\s*",
    re.DOTALL,
)
_VIEW = re.compile(r"CREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table as it was made; what is absent is empty. `columns` are those of its making, as text.

    again: not empty where the statement makes a table that is there already anew, with its rows.
    """

    name: str
    columns: str
    engine: str
    arguments: str
    partition: str
    order: str
    ttl: str
    settings: str
    again: str = ""

    @property
    def is_replacing(self) -> bool:
        """Return whether merges drop rows, so that whoever reads it has to say FINAL."""
        return self.engine == "ReplacingMergeTree"


def parse_table(statement: str) -> Table | None:
    """Return the table that `statement` makes; None where it makes none. Raises ValueError for one it cannot read."""
    if not statement.startswith(("CREATE TABLE", "CREATE OR REPLACE TABLE")):
        return None
    match = _CREATE.fullmatch(statement)
    if match is None:
        raise ValueError(f"a table is written otherwise than the others: {statement[:80]}")
    return Table(**{name: (value or "").strip() for name, value in match.groupdict().items()})


@cache
def tables() -> tuple[Table, ...]:
    """Return the tables of the store in the order in which they were first made, as they were made last."""
    made = (parse_table(statement) for migration in migrations() for statement in migration.statements)
    return tuple({table.name: table for table in made if table is not None}.values())


@cache
def views() -> tuple[str, ...]:
    """Return the names of the store's views."""
    statements = (statement for migration in migrations() for statement in migration.statements)
    return tuple(dict.fromkeys(match[1] for each in statements if (match := _VIEW.match(each))))
