"""Own the report's drawings: vector, with real text, each with its figures in a table."""

from sla.reports.drawings.burn_down import burn_down_charts
from sla.reports.drawings.colours import PHASE_COLOURS
from sla.reports.drawings.curve import curve_chart
from sla.reports.drawings.days import DailyThreshold, daily_chart, daily_threshold
from sla.reports.drawings.phases import phases_bar
from sla.reports.drawings.way import request_way

__all__ = [
    "PHASE_COLOURS",
    "DailyThreshold",
    "burn_down_charts",
    "curve_chart",
    "daily_chart",
    "daily_threshold",
    "phases_bar",
    "request_way",
]
