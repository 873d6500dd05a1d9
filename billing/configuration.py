"""Own the section ``billing`` of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from billing.cost_book.configuration import GpuTimeSection
from fairclock.config import FilePath, Seconds, Section

if TYPE_CHECKING:
    from billing.cost_book.settings import CostBookSettings


class BillingSection(Section):
    """What requests cost, and how long a month stays a draft."""

    prices: FilePath | None = Field(default=None, examples=["prices.yaml"])
    """The price book. Without it nothing is rated."""

    rate_every: Seconds = Field(default="10min", validate_default=True, ge=60)
    """How often `fairclock up` rates the ended hours of which something was stored."""

    grace_days: int = Field(default=7, ge=0, le=366)
    """How many days after a month's end late rows may still change it, before it can be final."""

    gpu_time: GpuTimeSection = GpuTimeSection()

    def cost_book(self) -> CostBookSettings:
        """Return how GPU time is attributed."""
        return self.gpu_time.settings()
