"""Own how what engines counted is held against what is known of requests: what neither side explains is a line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from fairclock.model.counters import increases

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from fairclock.model.counter_streams import Point
    from fairclock.model.counters import Increase


class Quantity(StrEnum):
    """What is counted on both sides; cached tokens are among those of the prompts."""

    PROMPT_TOKENS = "prompt_tokens"
    CACHED_TOKENS = "cached_tokens"
    COMPLETION_TOKENS = "completion_tokens"
    SEQUENCES = "sequences"


COUNTERS = {
    Quantity.PROMPT_TOKENS: "vllm:prompt_tokens",
    Quantity.CACHED_TOKENS: "vllm:prompt_tokens_cached",
    Quantity.COMPLETION_TOKENS: "vllm:generation_tokens",
    Quantity.SEQUENCES: "vllm:request_success",
}
"""The engine's own counter of each, summed over ranks, models and labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """One quantity of one engine in one hour.

    counted: the increase of the engine's counter, None where no reading tells. requests: what engine rows say that belong to
    requests. nobodys: what rows say that belong to none, impossible ones among them. left: what the gateway logged of requests
    that left no row. copied: what the responses' own usage says beyond the engine rows of the same requests; it explains nothing,
    and should be 0 but for tries that were repeated. at_least, at_most: what the counter can have counted in the hour, at_most None without a bound.
    """

    engine: str
    hour: datetime
    quantity: Quantity
    counted: int | None
    at_least: int = 0
    at_most: int | None = None
    requests: int
    nobodys: int
    left: int
    copied: int = 0

    @property
    def known(self) -> int:
        """Return what requests, rows of nobody's and left requests account for."""
        return self.requests + self.nobodys + self.left

    @property
    def unexplained(self) -> int | None:
        """Return what the engine counted beyond what is known; negative where more is known than was counted."""
        return None if self.counted is None else self.counted - self.known

    @property
    def is_possible(self) -> bool | None:
        """Return whether what is known lies within what the counter can have counted; None where nothing was read."""
        if self.counted is None:
            return None
        return self.at_least <= self.known and (self.at_most is None or self.known <= self.at_most)


def counted(series: Iterable[Sequence[Point]], edges_us: Sequence[int]) -> list[Increase] | None:
    """Return the increase of all `series` together between each two of `edges_us`; None where there is no series."""
    found = [increases(points, edges_us) for points in series]
    if not found:
        return None
    total = found[0]
    for each in found[1:]:
        total = [one + other for one, other in zip(total, each, strict=True)]
    return total
