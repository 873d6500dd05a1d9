"""Own what is watched: which condition, how soon somebody has to look, and in which words it is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from sla.alerting.configuration import SeverityName
    from sla.alerting.naming import AlertKey
    from sla.alerting.wording import Words
    from sla.alerts import Condition, Finding

BURN_RUNBOOK = "budget-burn"
"""The page of every rule on the speed of a budget, whatever a configuration calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One thing that is watched, and what is the case with it now; `condition` None: it was not looked at.

    hold: how long the condition has to hold before it fires. runbook: the page that says what to do; its rule's name where that
    is None. budget_left: what is left of the budget, where there
    is one; asked only where something is told.
    """

    key: AlertKey
    severity: SeverityName
    condition: Condition | None
    words: Callable[[Finding], Words]
    hold: timedelta = timedelta(0)
    tenants: tuple[str, ...] = ()
    runbook: str | None = None
    budget_left: Callable[[], Fraction | None] | None = None
