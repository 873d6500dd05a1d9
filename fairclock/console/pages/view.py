"""Own how a page is looked at: by whom, in which language and theme, at which address, over which range."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

THEMES = ("auto", "light", "dark")
RANGES = ("1h", "24h", "7d", "month")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who looks, and what they may do; `tenant` is set where they see that tenant alone."""

    name: str
    tenant: str | None = None
    is_local: bool = False
    may_propose: bool = False
    may_audit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One look at one page.

    path, query: the address that was asked for; `query` without the language and the theme.
    form_token: what a form must carry, in the field `form_field`. now: when the page was made.
    """

    language: str
    path: str
    now: datetime
    theme: str = "auto"
    query: Mapping[str, str] = field(default_factory=dict)
    reader: Reader | None = None
    form_token: str = ""
    form_field: str = "form_token"

    def here(self, **changes: str | None) -> str:
        """Return the address of this page with parameters changed; None takes one away."""
        return address(self.path, {**self.query, **changes})

    def to(self, path: str, **parameters: str | None) -> str:
        """Return the address of another page over the same range."""
        return address(path, {**self.kept, **parameters})

    @property
    def kept(self) -> dict[str, str]:
        """Return the parameters that go along from page to page: those of the range."""
        return {name: self.query[name] for name in ("range", "month", "from", "to") if self.query.get(name)}


def address(path: str, parameters: Mapping[str, str | None]) -> str:
    """Return `path` with those `parameters` that are not None."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def segment(name: str) -> str:
    """Return `name` as one segment of a path, whatever it contains."""
    return quote(name, safe="")
