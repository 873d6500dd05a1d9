"""Own how templates become HTML: everything escaped, nothing undefined, nothing loaded from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fairclock.documents.text import css_string, printable, shortened

if TYPE_CHECKING:
    from jinja2 import BaseLoader


def environment(package: str, *, loader: BaseLoader | None = None) -> Environment:
    """Return the environment for the folder ``templates`` of `package`.

    Filters: ``name`` makes text that others wrote printable, ``shortened(n)`` cuts it, ``css`` quotes it
    for the style sheet. `loader` takes the place of the package's folder (a customer's own templates).
    """
    result = Environment(
        loader=loader or PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    result.filters["name"] = printable
    result.filters["shortened"] = shortened
    result.filters["css"] = lambda text: Markup(css_string(printable(text)))  # noqa: S704 (quoted for CSS just here)
    return result
