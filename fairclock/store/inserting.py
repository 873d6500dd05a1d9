"""Own the insert of a batch's rows: under the batch's token, and with a look at whether they are there.

A batch that is inserted again, while or after the first insert may have been carried out, has the same token, and the
server drops it: ``insert_deduplication_token``. That alone would lose rows. A server notes the token of a part
before the part itself, so that a kill in between leaves a token without rows; and it knows the token still after
somebody deleted them. So rows that no copy in the table answers for go in again, under a token that was never used.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from fairclock.store.connection import Connection
    from fairclock.store.kinds import RowKind

# One block, and so one part a partition: a token counts for each of an insert's blocks, and where the second of two
# begins would be different the next time.
IN_ONE_BLOCK = (
    "SETTINGS insert_deduplication_token = {token:String}, max_insert_threads = 1,"
    " min_insert_block_size_rows = {one_block:UInt64}, min_insert_block_size_bytes = 0"
)
ONE_BLOCK = 1 << 40


def insert_token(kind: RowKind, *, source: str, k: int, body: bytes) -> str:
    """Return what names the rows that `body` becomes: its content, where it is from, and how it is read."""
    digest = hashlib.sha256()
    for part in (kind.table, sql_file(kind.normalisation), *kind.columns, source, str(k)):
        digest.update(part.encode() + b"\0")
    digest.update(body)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedRows:
    """Good rows in the table `name` on their way into that of `kind`.

    count: how many they are; distinct: how many events they are; earliest_us, latest_us: their event times.
    tag: the parameters `source`, `k` and `first_wins`, the last of which no other write has.
    """

    kind: RowKind
    name: str
    count: int
    distinct: int
    earliest_us: int
    latest_us: int
    tag: dict[str, object]


def insert_rows(connection: Connection, staged: StagedRows, token: str) -> int:
    """Insert what is staged; return how many events were not there before."""
    new = staged.distinct - _found(connection, staged)
    _insert(connection, staged, token)
    if not new:
        return 0
    added = _added(connection, staged)
    if added < new and _found(connection, staged) < staged.distinct:
        _insert(connection, staged, uuid.uuid4().hex)
        added = _added(connection, staged)
    return min(new, added)


def _insert(connection: Connection, staged: StagedRows, token: str) -> None:
    kind = staged.kind
    connection.execute(
        Query(
            sql=f"INSERT INTO {kind.table} ({', '.join(kind.columns)}) {IN_ONE_BLOCK},"
            # to merge the rows of a block costs three times what storing it does, and is for equal ones only
            " optimize_on_insert = {has_equals:UInt8}"
            f" SELECT {', '.join(kind.values)} FROM {staged.name} WHERE reason = ''",
            parameters={
                **staged.tag,
                "token": token,
                "one_block": ONE_BLOCK,
                "has_equals": int(staged.count > staged.distinct),
            },
        )
    )


def _inside(staged: StagedRows) -> Query:
    """Return the condition on the table that keeps to the time of what is staged and to its `k`."""
    column = staged.kind.time_column
    return Query(
        sql=f"{column} >= fromUnixTimestamp64Micro({{from_us:Int64}}, 'UTC')"
        f" AND {column} <= fromUnixTimestamp64Micro({{to_us:Int64}}, 'UTC') AND k = {{k:UInt16}}",
        parameters={"from_us": staged.earliest_us, "to_us": staged.latest_us, "k": staged.tag["k"]},
    )


def _found(connection: Connection, staged: StagedRows) -> int:
    """Return how many of the events staged are in the table, whoever wrote them."""
    kind, inside = staged.kind, _inside(staged)
    sql = (
        f"SELECT uniqExact(content_hash, {kind.time_us}) FROM {staged.name} WHERE reason = ''"
        f" AND ({kind.time_us}, content_hash) IN"
        f" (SELECT toUnixTimestamp64Micro({kind.time_column}), content_hash FROM {kind.table} WHERE {inside.sql})"
    )
    return int(connection.rows(Query(sql=sql, parameters=inside.parameters))[0][0])


def _added(connection: Connection, staged: StagedRows) -> int:
    """Return how many rows this write put in; merges may have dropped some for copies that were there before."""
    inside = _inside(staged)
    sql = (
        f"SELECT count() FROM {staged.kind.table} WHERE {inside.sql}"
        " AND source = {source:String} AND first_wins = {first_wins:UInt64}"
    )
    return int(connection.rows(Query(sql=sql, parameters={**inside.parameters, **staged.tag}))[0][0])
