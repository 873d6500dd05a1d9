"""Own how lines become rows: staged, normalised once inside the engine, counted, kept.

A batch is written between two notes in ``write_log``, so that no reader's ``as_of`` can lie beyond a write
in flight. Writing a batch again changes nothing: a row's identity is its content, and the first copy stays.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.errors import StoreUnreachable
from fairclock.model import from_us
from fairclock.store.inserting import IN_ONE_BLOCK, ONE_BLOCK, StagedRows, insert_rows, insert_token
from fairclock.store.kinds import KINDS
from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from fairclock.store.connection import Connection
    from fairclock.store.kinds import Kind, RowKind

FIRST_WINS_BASE = 9_000_000_000_000_000
_LEASE_SECONDS = 300
# A gateway's line that could not be read comes as a reason and the shape that it had.
_RAW_LINE = """if(startsWith(line, '{"line_hash":"') AND JSONHas(line, 'bad'), JSONExtractString(line, 'excerpt'), line)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBatch:
    """Lines of one source; `k` is the occurrence number that all of them have within their file or stream."""

    kind: Kind
    source: str
    lines: Sequence[bytes]
    k: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestCounts:
    """What became of the lines read; `read` is the sum of the other four."""

    read: int = 0
    stored: int = 0
    duplicates: int = 0
    ignored: int = 0
    dead_letters: int = 0
    first_event: datetime | None = None
    last_event: datetime | None = None

    def __add__(self, other: IngestCounts) -> IngestCounts:
        """Add up, and span both ranges of event time."""
        firsts = [each.first_event for each in (self, other) if each.first_event]
        lasts = [each.last_event for each in (self, other) if each.last_event]
        return IngestCounts(
            read=self.read + other.read,
            stored=self.stored + other.stored,
            duplicates=self.duplicates + other.duplicates,
            ignored=self.ignored + other.ignored,
            dead_letters=self.dead_letters + other.dead_letters,
            first_event=min(firsts, default=None),
            last_event=max(lasts, default=None),
        )


def _note(connection: Connection, batch: uuid.UUID, state: int, not_before_us: int = 0) -> None:
    connection.execute(
        Query(
            sql="INSERT INTO write_log SELECT {batch:UUID},"
            " greatest(now64(6, 'UTC'), fromUnixTimestamp64Micro({not_before_us:Int64}, 'UTC')), {state:Int8}",
            parameters={"batch": str(batch), "state": state, "not_before_us": not_before_us},
        )
    )


@contextmanager
def write_stamp(connection: Connection) -> Iterator[int]:
    """Announce a write and yield its ``stored_at`` in µs, later than every ``as_of`` handed out before."""
    batch = uuid.uuid4()
    _note(connection, batch, 1)
    stamp = 0
    try:
        stamp = int(
            connection.rows(
                Query(
                    sql="SELECT greatest(toUnixTimestamp64Micro(now64(6, 'UTC')),"
                    " (SELECT max(toUnixTimestamp64Micro(at)) FROM write_log)) + 1"
                )
            )[0][0]
        )
        yield stamp
    finally:
        # where the clock was set back, the watermark must not stay behind what is committed
        _note(connection, batch, -1, not_before_us=stamp)


_OPEN = (
    "SELECT batch, min(at) AS opened, sum(state) AS balance FROM write_log"
    " WHERE at > now64(6, 'UTC') - toIntervalSecond({lease:UInt32}) GROUP BY batch HAVING balance > 0"
)
"""The writes that were announced and neither committed nor given up; one that is older than the lease is dead."""


def open_writes(connection: Connection) -> int:
    """Return how many writes are open."""
    found = connection.rows(Query(sql=f"SELECT count() FROM ({_OPEN})", parameters={"lease": _LEASE_SECONDS}))
    return int(found[0][0])


def watermark_us(connection: Connection) -> int:
    """Return the latest instant, in µs, before which every write is committed or was given up."""
    return int(
        connection.rows(
            Query(
                sql=f"WITH (SELECT minOrNull(opened) FROM ({_OPEN})) AS oldest_open,"
                " (SELECT max(at) FROM write_log) AS newest"
                " SELECT toUnixTimestamp64Micro(if(isNull(oldest_open), greatest(now64(6, 'UTC'), newest), assumeNotNull(oldest_open))) - isNotNull(oldest_open)",
                parameters={"lease": _LEASE_SECONDS},
            )
        )[0][0]
    )


def abandon_open_writes(connection: Connection) -> None:
    """Close the notes of a holder that died; only the new holder of a folder may do this."""
    connection.execute(
        Query(
            sql="INSERT INTO write_log SELECT batch, now64(6, 'UTC'), -1 FROM"
            " (SELECT batch, sum(state) AS balance FROM write_log GROUP BY batch HAVING balance > 0)"
        )
    )


def drop_abandoned_stages(connection: Connection, *, older_than_seconds: int = _LEASE_SECONDS) -> None:
    """Drop the staged lines of writers that died; they would stay in the server's memory."""
    found = connection.rows(
        Query(
            sql="SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'Memory'"
            " AND match(name, '^staged_(lines|rows)_[0-9a-f]{32}$')"
            " AND metadata_modification_time <= now() - toIntervalSecond({age:UInt32})",
            parameters={"age": older_than_seconds},
        )
    )
    for (name,) in found:
        connection.execute(Query(sql=f"DROP TABLE IF EXISTS {name}"))


def _require_staged(connection: Connection, rows: str, expected: int) -> None:
    """Refuse to count a batch as stored of which the server forgot what was staged: it was started anew meanwhile."""
    found = int(connection.rows(Query(sql=f"SELECT count() FROM {rows}"))[0][0])
    if found != expected:
        raise StoreUnreachable(
            str(connection.address),
            "it was started anew while a batch was written",
            found=f"{found} of {expected} staged lines",
            remedy="write the batch again; that adds only what is missing",
        )


def _staging(kind: RowKind) -> str:
    columns = ", ".join(kind.staged_columns)
    # only a dead letter's line is wanted again, and copying the others would cost more than parsing them
    line = "if(reason IN ('', 'blank'), '', line) AS line"
    return f"SELECT reason, {line}, event_us, {kind.time_us}, {columns} FROM ({sql_file(kind.normalisation)})"


def ingest(connection: Connection, batch: LineBatch) -> IngestCounts:
    """Store `batch` and return what became of each line; storing it again gives only duplicates."""
    token = uuid.uuid4().hex
    lines, rows = f"staged_lines_{token}", f"staged_rows_{token}"
    kind = KINDS[batch.kind]
    time_us = kind.time_us
    body = b"\n".join(batch.lines) + b"\n"
    insert = insert_token(kind, source=batch.source, k=batch.k, body=body)
    with write_stamp(connection) as stamp:
        base = {"lines": lines, "stored_us": stamp}
        tag = {"k": batch.k, "source": batch.source, "first_wins": FIRST_WINS_BASE - stamp}
        try:
            connection.execute(Query(sql=f"CREATE TABLE {lines} (line String) ENGINE = Memory"))
            connection.insert_raw(lines, body, "LineAsString")
            connection.execute(
                Query(sql=f"CREATE TABLE {rows} ENGINE = Memory AS {_staging(kind)}", parameters=base)
            )
            counted = connection.rows(
                Query(
                    sql="SELECT count(), countIf(reason = 'blank'), countIf(reason NOT IN ('', 'blank')),"
                    f" countIf(reason = ''), uniqExactIf((content_hash, {time_us}), reason = ''),"
                    " minIf(event_us, reason = ''), maxIf(event_us, reason = ''),"
                    f" minIf({time_us}, reason = ''), maxIf({time_us}, reason = '') FROM {rows}"
                )
            )[0]
            read, blank, dead, good, distinct, first_us, last_us, earliest_us, latest_us = map(int, counted)
            stored = 0
            if good:
                staged = StagedRows(
                    kind=kind,
                    name=rows,
                    count=good,
                    distinct=distinct,
                    earliest_us=earliest_us,
                    latest_us=latest_us,
                    tag=tag,
                )
                stored = insert_rows(connection, staged, insert)
            if dead:
                _keep_dead_letters(connection, rows, batch, tag, insert)
            _require_staged(connection, rows, len(batch.lines))
        finally:
            connection.execute(Query(sql=f"DROP TABLE IF EXISTS {rows}"))
            connection.execute(Query(sql=f"DROP TABLE IF EXISTS {lines}"))
    return IngestCounts(
        read=read,
        stored=stored,
        duplicates=good - stored,
        ignored=blank,
        dead_letters=dead,
        first_event=from_us(first_us) if good else None,
        last_event=from_us(last_us) if good else None,
    )


def _keep_dead_letters(
    connection: Connection, rows: str, batch: LineBatch, tag: dict[str, object], insert: str
) -> None:
    """Keep the reason and the shape of what could not be read: letters become x, digits 0, so no text enters."""
    connection.execute(
        Query(
            sql=f"INSERT INTO dead_letters {IN_ONE_BLOCK}"
            " SELECT fromUnixTimestamp64Micro(toInt64({base:UInt64} - {first_wins:UInt64}), 'UTC'),"
            " {kind:String}, {source:String}, reason,"
            f" replaceRegexpAll(replaceRegexpAll(toValidUTF8(substring({_RAW_LINE}, 1, 4096)), '[0-9]', '0'), '[A-Za-z]|[^ -~]', 'x'),"
            f" content_hash, {{k:UInt16}}, {{first_wins:UInt64}} FROM {rows} WHERE reason NOT IN ('', 'blank')",
            parameters={
                **tag,
                "kind": batch.kind,
                "base": FIRST_WINS_BASE,
                "token": f"{insert}-dead",
                "one_block": ONE_BLOCK,
            },
        )
    )
