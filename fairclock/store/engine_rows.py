"""Own what an engine did with a sequence, where a span and the plugin may both have reported it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from fairclock.store.connection import Connection

_DAY_US = 86_400_000_000
_IN_TIME = (
    "arrived_at >= fromUnixTimestamp64Micro({engine_from_us:Int64}, 'UTC')"
    " AND arrived_at < fromUnixTimestamp64Micro({engine_to_us:Int64}, 'UTC') AND first_wins >= {as_of_wins:UInt64}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """How far spans and the plugin differ in one field: microseconds, or tokens.

    pairs: requests that each reported once, with this field in both.
    """

    field: str
    pairs: int
    differing: int
    median: int
    greatest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFigures:
    """What the plugins inside vLLM said in the last day: held against the spans, and what they lost on the way."""

    differences: tuple[FieldDifference, ...] = ()
    lost_records: int = 0


_RAW = "FROM engine_requests FINAL"


def reported_by_plugin(connection: Connection, *, from_us: int, to_us: int, as_of_us: int) -> bool:
    """Return whether the plugin reported any request that arrived in [from, to) µs and was stored by `as_of_us`."""
    query = Query(
        sql=f"SELECT 1 FROM engine_requests WHERE {_IN_TIME} AND reporter = 'plugin' LIMIT 1",
        parameters=engine_parameters(from_us, to_us, as_of_us),
    )
    return bool(connection.rows(query))


def reading_engine_rows(sql: str) -> str:
    """Return `sql` with one row a sequence wherever it read the raw table; it needs `engine_parameters` then."""
    return sql.replace(_RAW, f"FROM ({sql_file('engine_rows')})")


def engine_parameters(from_us: int, to_us: int, as_of_us: int) -> dict[str, object]:
    """Return the parameters that ``engine_rows.sql`` needs."""
    return {"engine_from_us": from_us, "engine_to_us": to_us, "as_of_wins": FIRST_WINS_BASE - as_of_us}


def engine_rows(connection: Connection, *, from_us: int, to_us: int, as_of_us: int) -> Query:
    """Return the query for one row a sequence that arrived in [from, to) µs, as it was stored by `as_of_us`.

    It has the columns of ``engine_requests``; `reporter` is span, plugin or both. Where the plugin reported nothing, the
    query is that of the raw table and costs no more.
    """
    raw = f"SELECT * {_RAW} WHERE {_IN_TIME}"
    merges = reported_by_plugin(connection, from_us=from_us, to_us=to_us, as_of_us=as_of_us)
    return Query(
        sql=sql_file("engine_rows") if merges else raw,
        parameters=engine_parameters(from_us, to_us, as_of_us),
    )


def engine_disagreement(
    connection: Connection, *, from_us: int, to_us: int, as_of_us: int
) -> list[FieldDifference]:
    """Return how far spans and the plugin differ about requests that arrived in [from, to) µs; [] without pairs."""
    query = Query(sql=sql_file("engine_disagreement"), parameters=engine_parameters(from_us, to_us, as_of_us))
    return [
        FieldDifference(
            field=field, pairs=int(pairs), differing=int(differing), median=int(median), greatest=int(greatest)
        )
        for field, pairs, differing, median, greatest in connection.rows(query)
    ]  # fmt: skip


def plugin_figures(connection: Connection, *, now_us: int) -> PluginFigures:
    """Return the last day's figures; nothing where the store's schema does not know the plugin yet."""
    known = "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'engine_states'"
    if not connection.rows(Query(sql=known))[0][0]:
        return PluginFigures()
    from_us = now_us - _DAY_US
    lost = Query(
        sql="SELECT sum(ifNull(lost_records, 0)) FROM engine_states FINAL WHERE event = 'lost'"
        " AND at >= fromUnixTimestamp64Micro({from_us:Int64}, 'UTC')",
        parameters={"from_us": from_us},
    )
    everything_us = FIRST_WINS_BASE  # as of any time to come
    differences = engine_disagreement(connection, from_us=from_us, to_us=now_us, as_of_us=everything_us)
    return PluginFigures(differences=tuple(differences), lost_records=int(connection.rows(lost)[0][0]))
