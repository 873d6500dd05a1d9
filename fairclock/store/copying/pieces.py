"""Own the pieces that a table is compared and copied in, and the SQL for them.

A piece is a day or a month of a table, or all of it. Two pieces are equal if they have as many rows and one digest: the sum,
modulo 2^128, of a hash of each row's bytes, so that the order of rows is nothing and an equal row twice is something.
Of tables whose merges drop rows, what is compared and copied is what a reader sees of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.store.schema import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a table as one store has it; `key` is its day or month as a number, 0 for all of a table."""

    key: int
    rows: int
    digest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A table as it is copied: its columns in order, and the instant before which no row may expire."""

    table: Table
    columns: tuple[str, ...]
    lasting_until_us: int

    @property
    def names(self) -> str:
        """Return the columns as SQL."""
        return ", ".join(f"`{name}`" for name in self.columns)

    @property
    def _key(self) -> str:
        return f"toUInt32({self.table.partition})" if self.table.partition else "toUInt32(0)"

    @property
    def _digest(self) -> str:
        return f"reinterpretAsUInt128(sipHash128(formatRow('RowBinary', {self.names})))"

    @property
    def _source(self) -> str:
        final = " FINAL" if self.table.is_replacing else ""
        # what expires while it is copied would be missing on one side, and be no loss
        lasts = (
            f"{self.table.ttl} > fromUnixTimestamp64Micro({{lasting_until_us:Int64}}, 'UTC')"
            if self.table.ttl
            else "1"
        )
        return f"{self.table.name}{final} WHERE {lasts}"

    @property
    def _parameters(self) -> dict[str, object]:
        return {"lasting_until_us": self.lasting_until_us} if self.table.ttl else {}

    def pieces(self) -> Query:
        """Return the query for (key, rows, digest) of each piece."""
        return Query(
            sql=f"SELECT {self._key} AS piece, count(), sum({self._digest}) FROM {self._source} GROUP BY piece ORDER BY piece",
            parameters=self._parameters,
        )

    def rows(self, key: int) -> Query:
        """Return the query for the rows of one piece."""
        return Query(
            sql=f"SELECT {self.names} FROM {self._source} AND {self._key} = {{piece:UInt32}}",
            parameters={**self._parameters, "piece": key},
        )

    def add_missing(self, staged: str, key: int) -> Query:
        """Return the statement that adds from the table `staged` what the piece lacks; what is there twice, it has twice."""
        numbered = "SELECT {columns}, digest, row_number() OVER (PARTITION BY digest) AS occurrence FROM"
        theirs = numbered.format(columns=self.names) + (
            f" (SELECT {self.names}, {self._digest} AS digest FROM {staged})"
        )
        ours = numbered.format(columns="0") + (
            f" (SELECT {self._digest} AS digest FROM {self._source} AND {self._key} = {{piece:UInt32}})"
        )
        return Query(
            sql=f"INSERT INTO {self.table.name} ({self.names}) SETTINGS insert_deduplicate = 0, optimize_on_insert = 0"
            f" SELECT {self.names} FROM ({theirs})"
            f" WHERE (digest, occurrence) NOT IN (SELECT digest, occurrence FROM ({ours}))",
            parameters={**self._parameters, "piece": key},
        )


def columns_of(names: Sequence[str]) -> Query:
    """Return the query for (table, column, type) of the columns that hold something, of the tables `names`."""
    return Query(
        sql="SELECT table, name, type FROM system.columns WHERE database = currentDatabase()"
        " AND table IN {tables:Array(String)} AND default_kind IN ('', 'DEFAULT') ORDER BY table, position",
        parameters={"tables": list(names)},
    )
