"""What requests used: tokens by class, GPU time, peak KV memory; grouped by all that a price can ask for."""

from billing.usage.groups import Treatment, Usage

__all__ = ["Treatment", "Usage"]
