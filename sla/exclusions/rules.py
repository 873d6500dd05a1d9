"""Own what a contract says of one clause of exclusion, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sla.exclusions.caps import Cap

MAINTENANCE = "maintenance"
COLD_START = "cold_start"
CLIENT_NETWORK = "client_network"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseRule:
    """One clause.

    cap: how much of a month it may take; None for no limit.
    notice_us: how long before its start the customer must have been told; 0 asks for none.
    notice_to: the addresses that must all have been told.
    late_counts: whether a window without that notice counts like any other time.
    needs_evidence: whether a proposal must name what it rests on.
    """

    name: str
    cap: Cap | None = None
    notice_us: int = 0
    notice_to: tuple[str, ...] = ()
    late_counts: bool = True
    needs_evidence: bool = False
