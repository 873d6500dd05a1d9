"""Own the section ``billing`` of the configuration."""

from __future__ import annotations

from pydantic import Field

from fairclock.config import FilePath, Section


class BillingSection(Section):
    """What requests cost, and how long a month stays a draft."""

    prices: FilePath | None = Field(default=None, examples=["prices.yaml"])
    """The price book. Without it nothing is rated."""

    grace_days: int = Field(default=7, ge=0, le=366)
    """How many days after a month's end late rows may still change it, before it can be final."""
