"""Own how ``fairclock up`` reconciles probes."""

from __future__ import annotations

from pydantic import Field, model_validator

from fairclock.config import Seconds, Section, refuse


class ReconcileSection(Section):
    """The probes in the store, held against every source's rows."""

    enabled: bool = True
    """Whether `fairclock up` does it."""

    every: Seconds = Field(default="1min", validate_default=True, ge=1)
    """How often."""

    settle: Seconds = Field(default="30s", validate_default=True, ge=0)
    """How old a probe has to be: until then its rows are on their way."""

    again_for: Seconds = Field(default="1h", validate_default=True)
    """For how long a probe is looked at again, since rows come late."""

    @model_validator(mode="after")
    def _looks_at_something(self) -> ReconcileSection:
        if self.settle >= self.again_for:
            raise refuse(
                "settle is not shorter than again_for: no probe is ever looked at", "make again_for longer"
            )
        return self
