"""Own the look for a ClickHouse server; whose account Fairclock's is to be cannot be found, only said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.cli.discovery.discovered import Discovered, absent

if TYPE_CHECKING:
    from fairclock.cli.discovery.machine import Machine

_SUBJECT = "ClickHouse"
_PORT = 8123
_OK = 200


def look_for_clickhouse(machine: Machine) -> Discovered:
    """Ask the usual port of ClickHouse's HTTP interface."""
    answer = machine.ask(_PORT, "/ping")
    if answer is not None and answer.status == _OK and answer.text.strip() == "Ok.":
        return Discovered(
            subject=_SUBJECT,
            detail=f"a server answers on port {_PORT}; to use it, give it a user and a database for Fairclock and name"
            " them in store.dsn or store.dsn_file. Without that the store is a folder of this user's",
        )
    return absent(_SUBJECT, f"nothing on port {_PORT}; the store is a folder of this user's, or store.dsn")
