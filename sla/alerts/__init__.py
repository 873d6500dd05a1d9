"""Own when an alert holds: conditions over counted windows, and what becomes of an alert's state. No I/O, no clock.

`windows` is what is known of one stretch of time; `burning`, `limits` and `gaps` judge it; `lives` moves an
alert's state on. Who keeps the states, and who tells of them, is above.
"""

from sla.alerts.burning import BurnRule, RefusedRule, burning, default_rules
from sla.alerts.conditions import Condition, Finding, Holds
from sla.alerts.gaps import failed_probes, silent_source, unexplained_gap
from sla.alerts.limits import above_limit, fast_burn, queue_share
from sla.alerts.lives import Alert, Phase, moved
from sla.alerts.windows import Measured, Window

__all__ = [
    "Alert",
    "BurnRule",
    "Condition",
    "Finding",
    "Holds",
    "Measured",
    "Phase",
    "RefusedRule",
    "Window",
    "above_limit",
    "burning",
    "default_rules",
    "failed_probes",
    "fast_burn",
    "moved",
    "queue_share",
    "silent_source",
    "unexplained_gap",
]
