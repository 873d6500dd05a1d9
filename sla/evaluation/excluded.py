"""Own what is left out of a judgement: instants, and single requests; numerator and denominator both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sla.evaluation.fragments import NEVER

if TYPE_CHECKING:
    from fairclock.model import Interval
    from fairclock.store import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """Requests received in `instants`, and those that meet `requests` (over the dataset's columns), leave n.

    Availability by time leaves out the instants only: single requests stand for no time.
    """

    instants: tuple[Interval, ...] = ()
    requests: Query = NEVER


NOTHING = Excluded()
