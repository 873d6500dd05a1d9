"""Own the store's shape on a cluster: the same numbered migrations, made replicated and distributed.

Each table is a replicated one on every shard, and a Distributed one in front of them that has the table's name.
Which shard a row goes to: raw events by their request id, so that all copies of one event meet where they are merged;
`requests` by tenant and hour, so that one hour of a tenant is read on one machine. What is small, or a chain whose rows
have to be told apart by order, lies on one shard: the first for everything but measurements of machines.
"""

from __future__ import annotations

import re
from dataclasses import replace

from fairclock.store.access.accounts import quoted, quoted_name
from fairclock.store.schema import Table, parse_table, tables

LOCAL = "_local"

_SHARDING = {
    # a request without an id is told from others by its content
    "gateway_requests": "cityHash64(if(request_id = '', toString(content_hash), request_id))",
    "engine_requests": "cityHash64(if(join_id = '', toString(content_hash), join_id))",
    "requests": "cityHash64(tenant, toStartOfHour(received_at))",
    "engine_samples": "cityHash64(target)",
    "engine_histograms": "cityHash64(target)",
    "engine_states": "cityHash64(instance)",
    "gpu_samples": "cityHash64(host)",
    "gpu_events": "cityHash64(host)",
}
_FIRST_SHARD = "0"
_ALTER = re.compile(r"ALTER TABLE (\w+)(.*)", re.DOTALL)
_VIEW = re.compile(r"(CREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?\w+)(.*)", re.DOTALL)


def on_cluster(statement: str, *, cluster: str, database: str) -> list[str]:
    """Return the statements that one statement of a migration becomes on `cluster`; raises ValueError for one of another kind."""
    on = f" ON CLUSTER {quoted_name(cluster)}"
    table = parse_table(statement)
    if table is not None:
        last = _made_last(table)
        if table.again:
            # a cluster may have rows in it, and statements there are no transaction: what is made anew is only how it is kept
            return []
        return [_replicated(last, on), _distributed(last, on, cluster=cluster, database=database)]
    if altered := _ALTER.fullmatch(statement):
        name, change = altered.groups()
        first = f"ALTER TABLE {name}{LOCAL}{on}{change}"
        return [first, f"ALTER TABLE {name}{on}{change}"]
    if view := _VIEW.fullmatch(statement):
        return [f"{view[1]}{on}{view[2]}"]
    raise ValueError(f"no migration does this on a cluster: {statement[:80]}")


def _made_last(table: Table) -> Table:
    """Return `table` with the settings of its last making; raises ValueError where that changed more."""
    last = next((each for each in tables() if each.name == table.name), table)
    if replace(last, settings="", again="") != replace(table, settings="", again=""):
        raise ValueError(f"no migration makes a table anew on a cluster but for its settings: {table.name}")
    return last


def _replicated(table: Table, on: str) -> str:
    arguments = ", ".join(
        [
            f"'/clickhouse/tables/{{shard}}/{{database}}/{table.name}'",
            "'{replica}'",
            *([table.arguments] if table.arguments else []),
        ]
    )
    # a replicated table knows the tokens of inserts by itself, for as long
    settings = table.settings.replace(
        "non_replicated_deduplication_window", "replicated_deduplication_window"
    )
    clauses = [
        f"CREATE TABLE IF NOT EXISTS {table.name}{LOCAL}{on}\n(\n    {table.columns}\n)",
        f"ENGINE = Replicated{table.engine}({arguments})",
        *([f"PARTITION BY {table.partition}"] if table.partition else []),
        f"ORDER BY {table.order}",
        *([f"TTL {table.ttl}"] if table.ttl else []),
        *([f"SETTINGS {settings}"] if settings else []),
    ]
    return "\n".join(clauses)


def _distributed(table: Table, on: str, *, cluster: str, database: str) -> str:
    key = _SHARDING.get(table.name, _FIRST_SHARD)
    return (
        f"CREATE TABLE IF NOT EXISTS {table.name}{on} AS {table.name}{LOCAL}\n"
        f"ENGINE = Distributed({quoted(cluster)}, {quoted(database)}, {table.name}{LOCAL}, {key})"
    )
