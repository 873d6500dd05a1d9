"""Own the migrations as one text, for those who review or run statements themselves."""

from __future__ import annotations

from fairclock.store.access.accounts import quoted
from fairclock.store.cluster import on_cluster
from fairclock.store.migrations import bookkeeping, migrations


def statements(*, database: str, cluster: str | None) -> str:
    """Return all that makes an empty store current, as `fairclock migrate` would run it on one server or on `cluster`."""
    parts = []
    for migration in migrations():
        parts.append(f"-- {migration.number:04d} {migration.name}\n")
        made = (*migration.statements, bookkeeping()) if migration.number == 1 else migration.statements
        for statement in made:
            rendered = (
                [statement] if cluster is None else on_cluster(statement, cluster=cluster, database=database)
            )
            parts += [f"{each};\n" for each in rendered]
        parts.append(
            "INSERT INTO schema_migrations SELECT"
            f" {migration.number}, {quoted(migration.name)}, {quoted(migration.sha256)}, now64(6, 'UTC');\n\n"
        )
    return "".join(parts)
