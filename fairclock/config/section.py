"""Own what every section of the configuration has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Some keys of the configuration, each with its default; keys that are not known are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
