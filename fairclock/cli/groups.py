"""Own groups of commands whose modules are loaded only where a command of theirs is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class LazyGroup(click.Group):
    """Load what writes documents or knows keys only where it is asked for.

    elsewhere: the modules of commands that are not in the group's own, by name. order: the names as help lists them.
    """

    def __init__(
        self, *args: Any, elsewhere: Mapping[str, str], order: Sequence[str], **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self._elsewhere = elsewhere
        self._order = order

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of help."""
        del ctx
        return list(self._order)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, loading its module now if it lies elsewhere; None where there is none of that name."""
        if cmd_name not in self._elsewhere:
            return super().get_command(ctx, cmd_name)
        found: click.Command = getattr(importlib.import_module(self._elsewhere[cmd_name]), cmd_name)
        return found
