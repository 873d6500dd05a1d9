"""Own what every section of the configuration has in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Section(BaseModel):
    """Some keys of the configuration, each with its default; keys that are not known are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_the_defaults(cls, given: Any) -> Any:
        return {} if given is None else given
