"""Own how accounts are written down: as statements for an administrator, and as ClickHouse's file of users.

Neither holds a password. In SQL each account has a SHA-256 to be filled in; in the file it is taken from the
environment of the server. Both say the same, and the tests try what the file says on the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from fairclock.store.access.accounts import VIEWS, quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairclock.store.access.accounts import Account

_EVERYTHING = "1"
_NOBODYS = "0" * 64
"""A hash that no known password has."""


def as_sql(found: Sequence[Account], *, database: str, views: Sequence[str], cluster: str | None) -> str:
    """Return the statements that make `found`, and let `views` run as the account that reads for them.

    Rights of whoever sees some rows only come last: where a statement before them fails, no tenant's reader has a view whose
    rows are not told apart yet.
    """
    on = f" ON CLUSTER {quoted_name(cluster)}" if cluster else ""
    statements = [
        *(statement for account in found for statement in _account(account, on)),
        *_policies(found, database, on),
        *(
            f"ALTER TABLE {quoted_name(database)}.{quoted_name(view)}{on}"
            f" MODIFY SQL SECURITY DEFINER DEFINER = {VIEWS}"
            for view in views
        ),
        *(grant for account in found if account.filters for grant in _grants(account, on)),
    ]
    head = (
        "-- Accounts of Fairclock, for an administrator; may be run again after an upgrade, or when contracts were added.\n"
        '-- Replace each SHA256_OF_… by the output of: printf %s "$PASSWORD" | sha256sum\n'
    )  # fmt: skip
    return head + "".join(f"{statement};\n" for statement in statements)


def _account(account: Account, on: str) -> Iterator[str]:
    name = quoted_name(account.name)
    how = (
        f"IDENTIFIED WITH sha256_hash BY 'SHA256_OF_{account.name}' HOST ANY"
        if account.may_log_in
        else "IDENTIFIED WITH no_authentication HOST NONE"
    )
    settings = ", ".join(f"{key} = {value}" for key, value in account.settings.items())
    yield f"CREATE USER IF NOT EXISTS {name}{on} {how}" + (f" SETTINGS {settings}" if settings else "")
    yield f"REVOKE{on} ALL ON *.* FROM {name}"
    if not account.filters:
        yield from _grants(account, on)


def _grants(account: Account, on: str) -> Iterator[str]:
    for grant in account.grants:
        yield grant.replace("GRANT", f"GRANT{on}", 1) + f" TO {quoted_name(account.name)}"


def _policies(found: Sequence[Account], database: str, on: str) -> Iterator[str]:
    """Yield a policy for each reader's rows of a view, and one that shows all of it to everybody else who may read it."""
    filtered = sorted({view for account in found for view in account.filters})
    others = ", ".join(quoted_name(account.name) for account in found if not account.filters)
    for view in filtered:
        place = f"{quoted_name(database)}.{quoted_name(view)}"
        yield f"CREATE ROW POLICY OR REPLACE fairclock_all{on} ON {place} USING {_EVERYTHING} TO {others}"
        for account in found:
            if view in account.filters:
                yield (
                    f"CREATE ROW POLICY OR REPLACE {quoted_name(account.name)}{on} ON {place}"
                    f" USING {account.filters[view]} TO {quoted_name(account.name)}"
                )


def as_users_file(found: Sequence[Account], *, database: str) -> str:
    """Return a file for ``users.d``; passwords are SHA-256 in variables such as ``FAIRCLOCK_WRITER_SHA256``."""
    profiles = "".join(
        f"    <{account.name}>{''.join(f'<{key}>{value}</{key}>' for key, value in account.settings.items())}</{account.name}>\n"
        for account in found
    )
    users = "".join(_user(account, found, database) for account in found)
    return (
        f"<clickhouse>\n  <profiles>\n{profiles}  </profiles>\n  <users>\n{users}  </users>\n</clickhouse>\n"
    )


def _user(account: Account, found: Sequence[Account], database: str) -> str:
    how = (
        f'<password_sha256_hex from_env="{account.name.upper()}_SHA256"/>\n      <networks><ip>::/0</ip></networks>'
        if account.may_log_in
        else f"<password_sha256_hex>{_NOBODYS}</password_sha256_hex>\n      <networks><ip>::1</ip></networks>"
    )
    grants = "".join(f"        <query>{escape(grant)}</query>\n" for grant in account.grants)
    filtered = sorted({view for each in found for view in each.filters})
    rows = "".join(
        f"        <{view}><filter>{escape(account.filters.get(view, _EVERYTHING))}</filter></{view}>\n"
        for view in filtered
        if view in account.filters or not account.filters
    )
    return (
        f"    <{account.name}>\n      {how}\n      <profile>{account.name}</profile>\n      <quota>default</quota>\n"
        f"      <grants>\n{grants}      </grants>\n"
        + (f"      <databases><{database}>\n{rows}      </{database}></databases>\n" if rows else "")
        + f"    </{account.name}>\n"
    )
