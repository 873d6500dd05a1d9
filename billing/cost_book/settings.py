"""Own what is decided before a cost book is kept: how time is divided, what a request gets at most, who probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from billing.cost_book.machines import overlapping

if TYPE_CHECKING:
    from fractions import Fraction

    from billing.cost_book.machines import EngineMachine

Division: TypeAlias = Literal["equal", "tokens", "per_slot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostBookSettings:
    """How GPU time is attributed.

    ceiling_seconds: GPU-seconds that one request gets at most. owns_left: whether a request that its client left gets the
    time that the gateway saw it (on an engine whose upstream address is known), else that time is nobody's.
    """

    machines: tuple[EngineMachine, ...] = ()
    division: Division = "equal"
    ceiling_seconds: Fraction | None = None
    owns_left: bool = False
    probe_tenants: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse two machines of one engine at one time."""
        if (both := overlapping(self.machines)) is not None:
            raise ValueError(f"{both[0].engine} would have two machines at one time")
