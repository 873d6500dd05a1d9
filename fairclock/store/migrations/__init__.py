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


def migrate(connection: Connection) -> list[Migration]:
    """Apply what is missing and return it; a newer schema is refused."""
    at = applied(connection)
    if at > migrations()[-1].number:
        check(connection)
    missing = [each for each in migrations() if each.number > at]
    for migration in missing:
        for statement in migration.statements:
            connection.execute(Query(sql=statement))
        connection.execute(
            Query(
                sql="CREATE TABLE IF NOT EXISTS schema_migrations (number UInt32, name String, sha256 String,"
                " applied_at DateTime64(6, 'UTC')) ENGINE = MergeTree ORDER BY number"
            )
        )
        connection.execute(
            Query(
                sql="INSERT INTO schema_migrations SELECT {number:UInt32}, {name:String}, {sha256:String}, now64(6, 'UTC')",
                parameters={"number": migration.number, "name": migration.name, "sha256": migration.sha256},
            )
        )
    return missing
