"""Own the numbered SQL files that bring a store's schema up to date."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from fairclock.errors import StoreError, StoreNewer
from fairclock.store.query import Query

if TYPE_CHECKING:
    from fairclock.store.connection import Connection

_NAME = re.compile(r"^(\d{4})_(\w+)\.sql$")
_COMMENT = re.compile(r"--[^\n]*")
_BOOKKEEPING = """CREATE TABLE IF NOT EXISTS schema_migrations
(
    number UInt32,
    name String,
    sha256 String,
    applied_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY number"""


def bookkeeping() -> str:
    """Return the statement that makes the table of what was applied."""
    return _BOOKKEEPING


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One file: its number, its name, and its statements in order."""

    number: int
    name: str
    statements: tuple[str, ...]
    sha256: str


def migrations() -> list[Migration]:
    """Return all migrations that this program knows, in order."""
    found = []
    for entry in files("fairclock.store.migrations").iterdir():
        match = _NAME.match(entry.name)
        if match:
            text = entry.read_text(encoding="utf-8")
            statements = tuple(part.strip() for part in _COMMENT.sub("", text).split(";") if part.strip())
            digest = hashlib.sha256(text.encode()).hexdigest()
            found.append(Migration(number=int(match[1]), name=match[2], statements=statements, sha256=digest))
    return sorted(found, key=lambda each: each.number)


def applied(connection: Connection) -> int:
    """Return the number of the newest migration that the store has, 0 for an empty one."""
    known = connection.rows(
        Query(
            sql="SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'"
        )
    )
    if not known[0][0]:
        return 0
    return int(connection.rows(Query(sql="SELECT max(number) FROM schema_migrations"))[0][0])


def check(connection: Connection) -> None:
    """Refuse a store whose schema is newer or older than this program."""
    at, newest = applied(connection), migrations()[-1].number
    if at > newest:
        raise StoreNewer(
            str(connection.address),
            "the schema was written by a newer Fairclock",
            found=f"schema {at}, this program knows {newest}",
            remedy="upgrade this Fairclock",
        )
    if at < newest:
        raise StoreError(
            str(connection.address),
            "the schema is older than this program",
            found=f"schema {at}, this program needs {newest}",
            remedy="run fairclock migrate",
        )


def migrate(connection: Connection, *, cluster: str | None = None) -> list[Migration]:
    """Apply what is missing and return it; a newer schema is refused, and so is a store of another shape than `cluster` says."""
    at = applied(connection)
    if at > migrations()[-1].number:
        check(connection)
    _check_shape(connection, cluster=cluster)
    missing = [each for each in migrations() if each.number > at]
    for migration in missing:
        for statement in (*migration.statements, _BOOKKEEPING):
            for rendered in _rendered(connection, statement, cluster=cluster):
                connection.execute(Query(sql=rendered))
        connection.execute(
            Query(
                sql="INSERT INTO schema_migrations SELECT {number:UInt32}, {name:String}, {sha256:String}, now64(6, 'UTC')",
                parameters={"number": migration.number, "name": migration.name, "sha256": migration.sha256},
            )
        )
    return missing


def _rendered(connection: Connection, statement: str, *, cluster: str | None) -> list[str]:
    if cluster is None:
        return [statement]
    from fairclock.store.cluster import on_cluster  # noqa: PLC0415 - it reads the migrations

    return on_cluster(statement, cluster=cluster, database=connection.database)


def _check_shape(connection: Connection, *, cluster: str | None) -> None:
    found = connection.rows(
        Query(
            sql="SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'"
        )
    )
    if not found or (found[0][0] == "Distributed") == (cluster is not None):
        return
    where = str(connection.address)
    if cluster is None:
        raise StoreError(
            where, "its tables lie on a cluster, and none is named", remedy="name it with --cluster, or store.cluster"
        )  # fmt: skip
    raise StoreError(
        where, "its tables lie on one server, and not on a cluster", found=cluster,
        remedy="make another database on the cluster, and copy into it with fairclock migrate --copy-from",
    )  # fmt: skip
