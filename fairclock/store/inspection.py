"""Own a look at a store that changes nothing in it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from fairclock.errors import StoreReadOnly
from fairclock.store.connection import Connection
from fairclock.store.disks import Disk, disks
from fairclock.store.dsn import EmbeddedAddress, parse_dsn
from fairclock.store.engine_inspection import EngineFigures, engine_figures
from fairclock.store.engine_rows import PluginFigures, plugin_figures
from fairclock.store.migrations import applied, migrations
from fairclock.store.query import Query

_US_PER_SECOND = 1_000_000
_NS_PER_US = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInspection:
    """What a look at a store found.

    exists: whether there is one; an embedded store is made by its first use.
    schema, newest_schema: what the store has, and what this program knows.
    server_version: of the engine, whichever process runs it.
    clock_ahead_seconds: by how much the engine's clock is ahead of this machine's.
    is_embedded: whether it is migrated by being opened.
    is_served: whether another process on this machine holds the embedded store and serves it.
    engines: what the engines' series of the last hour are like.
    plugin: what the plugins inside vLLM said in the last day.
    disks: those of a server; None where the account may not look, none where the store is a folder of this machine.
    """

    exists: bool
    schema: int = 0
    newest_schema: int
    server_version: str = ""
    clock_ahead_seconds: float = 0.0
    is_embedded: bool = False
    is_served: bool = False
    engines: EngineFigures = field(default_factory=EngineFigures)
    plugin: PluginFigures = field(default_factory=PluginFigures)
    disks: tuple[Disk, ...] | None = ()


def inspect_store(dsn: str) -> StoreInspection:
    """Look at the store at `dsn` without making or migrating it; raises `StoreError` and `UsageError`."""
    address, newest = parse_dsn(dsn), migrations()[-1].number
    is_embedded = isinstance(address, EmbeddedAddress)
    if isinstance(address, EmbeddedAddress) and not (address.path / "data").exists():
        return StoreInspection(exists=False, newest_schema=newest, is_embedded=True)
    connection = Connection(address)
    try:
        schema = applied(connection)
        before_us = time.time_ns() // _NS_PER_US
        version, engine_us = connection.rows(
            Query(sql="SELECT version(), toUnixTimestamp64Micro(now64(6, 'UTC'))")
        )[0]
        after_us = time.time_ns() // _NS_PER_US
        return StoreInspection(
            exists=True,
            schema=schema,
            newest_schema=newest,
            server_version=str(version),
            clock_ahead_seconds=(int(engine_us) - (before_us + after_us) / 2) / _US_PER_SECOND,
            is_embedded=is_embedded,
            is_served=is_embedded and not connection.is_holder,
            engines=engine_figures(connection),
            plugin=plugin_figures(connection, now_us=int(engine_us)),
            disks=() if is_embedded else _disks(connection),
        )
    finally:
        connection.close()


def _disks(connection: Connection) -> tuple[Disk, ...] | None:
    try:
        return tuple(disks(connection))
    except StoreReadOnly:
        return None
