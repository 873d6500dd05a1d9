"""Own how templates become plain messages: in a sandbox, every value made harmless, nothing undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import BaseLoader


def message_environment(
    *, loader: BaseLoader, escape: Callable[[object], str]
) -> ImmutableSandboxedEnvironment:
    """Return the environment for messages; `escape` is applied to each value that a template puts out.

    What the template says itself is left as it is. Templates may be a customer's own, so they reach no
    attribute that begins with an underscore and change nothing they are given.
    """
    return ImmutableSandboxedEnvironment(
        loader=loader,
        finalize=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def file_loader(folders: Sequence[str]) -> BaseLoader:
    """Return what finds templates in `folders`, the first that has one."""
    return FileSystemLoader(list(folders))
