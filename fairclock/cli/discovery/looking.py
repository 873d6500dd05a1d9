"""Own the whole look at a machine, and what of it goes into the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.cli.discovery.engines import look_for_engines
from fairclock.cli.discovery.gpus import look_for_gpus
from fairclock.cli.discovery.limits import look_at_limits
from fairclock.cli.discovery.nginx import look_for_nginx
from fairclock.cli.discovery.stores import look_for_clickhouse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.cli.discovery.discovered import Discovered
    from fairclock.cli.discovery.machine import Machine


def look(machine: Machine) -> list[Discovered]:
    """Return every statement about the machine, in the order of the file's sections."""
    gateways = look_for_nginx(machine)
    return [
        look_for_clickhouse(machine),
        *gateways.statements,
        *look_for_engines(machine, behind_gateways=gateways.engine_ports),
        look_for_gpus(machine),
        look_at_limits(machine),
    ]


def settings_of(statements: Sequence[Discovered]) -> dict[str, Any]:
    """Return the keys that follow from the statements."""
    return {path: value for each in statements for path, value in each.settings.items()}


def lines_of(statements: Sequence[Discovered]) -> list[str]:
    """Return the statements as text, one a line: found (and set), seen (and left alone), not found."""
    width = max(len(each.subject) for each in statements)
    return [f"{each.mark:<9}  {each.subject:<{width}}  {each.detail}" for each in statements]
