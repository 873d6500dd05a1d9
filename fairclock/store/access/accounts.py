"""Own the accounts of a server: what each is granted, and which rows of the views a tenant's reader sees.

Grafana's readers read views only. A view runs as the account `VIEWS`, which nobody can log in with, so whoever reads it
needs no right to what lies beneath. A view that says neither tenant nor contract is shown to no tenant's reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OWNER, WRITER, READER, VIEWS = "fairclock_owner", "fairclock_writer", "fairclock_reader", "fairclock_views"

# Tables of its own that a batch passes through; see fairclock.store.batches and fairclock.store.copying.
_STAGED = "staged_*"
_VIEWS_READ = "dashboard_*"
_SYSTEM = ("tables", "columns", "disks", "parts")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_READER_SECONDS, _READER_BYTES = 60, 8_000_000_000
# The cache of conditions makes queries miss rows after others that joined: docs/decisions/0105.
_EXACT = {"use_query_condition_cache": 0}
# 2: it may set what is no limit, as Grafana's plugin does, and write nothing
_READ_ONLY = {"readonly": 2, **_EXACT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Whom a reader of some tenants' rows stands for: `name` becomes ``fairclock_NAME``."""

    name: str
    tenants: tuple[str, ...]

    @property
    def account(self) -> str:
        """Return the name of the account."""
        return f"fairclock_{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One account: its grants as statements without ``TO``, its settings, and the rows of each view that it sees."""

    name: str
    grants: tuple[str, ...]
    settings: Mapping[str, int] = field(default_factory=_EXACT.copy)
    filters: Mapping[str, str] = field(default_factory=dict)
    may_log_in: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the store shows: its views with their columns, and the tenants of each contract."""

    views: Mapping[str, Sequence[str]]
    contracts: Mapping[str, Sequence[str]]


def parse_reader(text: str) -> Reader:
    """Read ``NAME=TENANT[,TENANT...]``; NAME alone stands for the tenant of that name. Raises `UsageError`."""
    name, _, tenants = text.partition("=")
    if not _NAME.fullmatch(name) or f"fairclock_{name}" in {OWNER, WRITER, READER, VIEWS}:
        raise UsageError(
            "--reader", "is no name of a reader", found=name,
            remedy="write NAME=TENANT,TENANT with small letters, digits and _ in the name, and none of owner, writer, reader, views",
        )  # fmt: skip
    found = tuple(each for each in tenants.split(",") if each) or (name,)
    return Reader(name=name, tenants=found)


def accounts(database: str, shown: Shown, readers: Sequence[Reader]) -> list[Account]:
    """Return the accounts of a server whose store lies in `database`."""
    system = tuple(f"GRANT SELECT ON system.{name}" for name in _SYSTEM)
    everything = f"{quoted_name(database)}.*"
    staged = f"{quoted_name(database)}.{_STAGED}"
    found = [
        Account(
            name=OWNER,
            grants=(
                f"GRANT SELECT, INSERT, CREATE TABLE, CREATE VIEW, CREATE DATABASE, ALTER, DROP TABLE, DROP VIEW, TRUNCATE ON {everything}",
                f"GRANT SET DEFINER ON {VIEWS}",
                "GRANT CLUSTER, REMOTE ON *.*",
                *system,
            ),
        ),
        Account(
            name=WRITER,
            grants=(
                f"GRANT SELECT, INSERT ON {everything}",
                f"GRANT CREATE TABLE, DROP TABLE, TRUNCATE ON {staged}",
                *system,
            ),
        ),
        Account(name=VIEWS, grants=(f"GRANT SELECT ON {everything}",), may_log_in=False),
        Account(
            name=READER,
            grants=(f"GRANT SELECT ON {quoted_name(database)}.{_VIEWS_READ}",),
            settings={**_READ_ONLY, "max_execution_time": _READER_SECONDS, "max_memory_usage": _READER_BYTES},
        ),
    ]
    found += [_tenants_reader(database, shown, reader) for reader in readers]
    names = [each.name for each in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError("--reader", "two readers have one name", found=twice, remedy="name each once")
    return found


def _tenants_reader(database: str, shown: Shown, reader: Reader) -> Account:
    contracts = sorted(
        contract
        for contract, tenants in shown.contracts.items()
        if tenants and set(tenants) <= set(reader.tenants)
    )
    filters = {}
    for view, columns in sorted(shown.views.items()):
        if "tenant" in columns:
            filters[view] = f"tenant IN ({', '.join(map(quoted, reader.tenants))})"
        elif "tenants" in columns:
            filters[view] = (
                f"notEmpty(tenants) AND hasAll([{', '.join(map(quoted, reader.tenants))}], tenants)"
            )
        elif "contract" in columns:
            filters[view] = f"contract IN ({', '.join(map(quoted, contracts))})" if contracts else "0"
    return Account(
        name=reader.account,
        grants=tuple(f"GRANT SELECT ON {quoted_name(database)}.{quoted_name(view)}" for view in filters),
        settings={**_READ_ONLY, "max_execution_time": _READER_SECONDS, "max_memory_usage": _READER_BYTES},
        filters=filters,
    )


def quoted(text: str) -> str:
    """Return `text` as a string of SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quoted_name(text: str) -> str:
    """Return `text` as a name in SQL; a plain one as it is."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        return text
    escaped = text.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"
