"""Own the percentile curve: the same requests with and without queueing, from the usual one to the very tail."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.model import Clock
from sla.evaluation.clocks import column_of
from sla.evaluation.endings import OK
from sla.evaluation.numbers import plain, seconds
from sla.evaluation.ranking import Ranked
from sla.percentiles import rank

if TYPE_CHECKING:
    from collections.abc import Mapping

PERCENTILES = tuple(
    Fraction(each)
    for each in (
        "10", "20", "30", "40", "50", "60", "70", "75", "80", "85", "90", "93", "95", "97", "98", "98.5",
        "99", "99.3", "99.5", "99.7", "99.8", "99.9", "99.95", "99.97", "99.98", "99.99",
    )
)  # fmt: skip
"""Dense where promises lie; even on the axis of the chart, which is logarithmic in what lies above."""

_CLOCKS = {"with_queue": Clock.END_TO_END, "without_queue": Clock.EXCLUDING_QUEUE}


def curve_ranks(known: Mapping[str, int]) -> dict[str, Ranked]:
    """Return the ranks that the curve asks for; both clocks are known of every `ok` request."""
    return {
        f"curve_{name}": Ranked(
            column=column_of(clock),
            condition=OK,
            count=known[f"known_{clock}"],
            ranks=tuple(rank(known[f"known_{clock}"], each) for each in _shown(known[f"known_{clock}"])),
        )
        for name, clock in _CLOCKS.items()
    }


def curve_section(known: Mapping[str, int], values: Mapping[str, Mapping[int, int]]) -> list[dict[str, Any]]:
    """Return the curve's points in seconds; where fewer than one request lies above, there is no point."""
    count = known[f"known_{Clock.END_TO_END}"]
    return [
        {
            "percentile": plain(each),
            **{name: seconds(values[f"curve_{name}"][rank(count, each)]) for name in _CLOCKS},
        }
        for each in _shown(count)
    ]


def _shown(count: int) -> list[Fraction]:
    """Return the percentiles above which at least one of `count` requests lies."""
    return [each for each in PERCENTILES if (100 - each) * count >= 100]  # noqa: PLR2004 - per cent
