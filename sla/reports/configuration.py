"""Own the section ``reports`` of the configuration."""

from __future__ import annotations

from pydantic import Field

from fairclock.config import FilePath, Section


class ReportsSection(Section):
    """What the contract reports look like."""

    templates: FilePath | None = Field(default=None, examples=["report-templates"])
    """A folder with templates that take the place of the report's own of that name."""

    logo: FilePath | None = Field(default=None, examples=["logo.svg"])
    """The picture on the first page: PNG, JPEG or plain SVG, at most 1 MiB."""
