"""What requests used: tokens by class, GPU time, peak KV memory; grouped by all that a price can ask for."""

from billing.usage.groups import RequestUsage, Treatment, Usage

__all__ = ["RequestUsage", "Treatment", "Usage"]
