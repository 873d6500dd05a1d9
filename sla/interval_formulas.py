"""Own availability by time: what each interval was, and what the intervals of a period add up to.

The rules, where the contract's words leave a choice, are those of docs/decisions/0054: the readings that
flatter the provider least. Everything is counted in integers and compared as exact fractions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Treatment = Literal["good", "bad", "void"]


class Seen(NamedTuple):
    """One interval: the time looked at in it, requests that count, bad ones, and whether it was read through.

    `probes_failed` says that the prober had no answer in it.
    """

    looked_at_us: int
    counted: int
    bad: int
    is_read: bool
    probes_failed: bool = False


class State(Enum):
    """What an interval was."""

    GOOD = "good"
    BAD = "bad"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The clauses of `downtime`; `bad_above` None means that any error makes an interval bad."""

    bad_above: Fraction | None
    consecutive: int
    min_requests: int
    below_min: Literal["merge_next", "good", "bad", "void"] | None
    empty: Treatment
    unread: Literal["bad", "void"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeCount:
    """What was counted over time: of `whole` is `lost`, both in microseconds or both in intervals.

    `intervals` count, `bad` of them are lost or have errors; `unread` were not read through.
    """

    intervals: int = 0
    bad: int = 0
    unread: int = 0
    whole: int = 0
    lost: Fraction = Fraction(0)

    def keeps(self, target: Fraction) -> bool:
        """Say whether 1 - lost/whole reaches `target`, without dividing; equality meets."""
        return self.lost <= (1 - target) * self.whole

    @property
    def available(self) -> Fraction | None:
        """Return 1 - lost/whole; None where nothing counts."""
        return 1 - self.lost / self.whole if self.whole else None


def downtime(cells: Sequence[Seen], rules: Rules) -> TimeCount:
    """Return the time that counts and the time that was down.

    Where unread time is void, an unread interval that is bad counts only if it is down: one bad interval alone would
    stand among the time that was up, and raise the result.
    """
    states = states_of(cells, rules)
    down = down_intervals(states, rules.consecutive)
    is_down = set(down)
    counted = [
        place
        for place, (cell, state) in enumerate(zip(cells, states, strict=True))
        if state is not State.VOID and (cell.is_read or rules.unread == "bad" or place in is_down)
    ]
    return TimeCount(
        intervals=len(counted),
        bad=len(down),
        unread=sum(cell.looked_at_us > 0 and not cell.is_read for cell in cells),
        whole=sum(cells[place].looked_at_us for place in counted),
        lost=Fraction(sum(cells[place].looked_at_us for place in down)),
    )


def states_of(cells: Sequence[Seen], rules: Rules) -> list[State]:
    """Return what each interval was.

    Intervals too small to judge wait for the next (`merge_next`) until they have enough requests together;
    then all of them are what the merged interval is. They wait no longer than to the end of the period, or to
    an interval without requests, unread, or not looked at: then they are judged as they are.
    """
    states = [State.VOID] * len(cells)
    waiting: list[int] = []

    def settle() -> None:
        if waiting:
            counted = sum(cells[place].counted for place in waiting)
            merged = _by_errors(counted, sum(cells[place].bad for place in waiting), rules)
            for place in waiting:
                states[place] = merged
            waiting.clear()

    for place, cell in enumerate(cells):
        if cell.looked_at_us == 0 or not cell.is_read or cell.counted == 0:
            settle()
            states[place] = _of_unjudged(cell, rules)
        elif rules.below_min == "merge_next":
            waiting.append(place)
            if sum(cells[each].counted for each in waiting) >= rules.min_requests:
                settle()
        elif cell.counted < rules.min_requests and rules.below_min is not None:
            states[place] = State(rules.below_min)
        else:
            states[place] = _by_errors(cell.counted, cell.bad, rules)
    settle()
    return states


def down_intervals(states: Sequence[State], consecutive: int) -> list[int]:
    """Return the places of the intervals that are down: bad ones, `consecutive` or more in a row.

    Only a good interval ends a row; one that counts as nothing neither ends it nor belongs to it.
    """
    down: list[int] = []
    row: list[int] = []
    for place, state in enumerate(states):
        if state is State.BAD:
            row.append(place)
        elif state is State.GOOD:
            down += row if len(row) >= consecutive else []
            row = []
    return down + (row if len(row) >= consecutive else [])


def mean_interval_error(
    cells: Sequence[Seen],
    *,
    empty: Literal["zero_error", "bad", "void"],
    unread: Literal["bad", "void"],
) -> TimeCount:
    """Return the intervals that count and the sum of their error ratios.

    An interval that was not read through is all error (`bad`); or (`void`) it counts with what was seen in
    it, and not at all where nothing was. The sum is taken by denominators, so that it stays exact and small.
    """
    bad_by_counted: Counter[int] = Counter()
    intervals = with_errors = unread_intervals = 0
    for cell in cells:
        if cell.looked_at_us == 0:
            continue
        unread_intervals += not cell.is_read
        if (not cell.is_read and unread == "bad") or _is_silent_outage(cell):
            counted, bad = 1, 1
        elif cell.counted:
            counted, bad = cell.counted, cell.bad
        elif not cell.is_read or empty == "void":
            continue
        else:
            counted, bad = 1, int(empty == "bad")
        intervals += 1
        with_errors += bad > 0
        bad_by_counted[counted] += bad
    return TimeCount(
        intervals=intervals,
        bad=with_errors,
        unread=unread_intervals,
        whole=intervals,
        lost=sum((Fraction(bad, counted) for counted, bad in bad_by_counted.items()), Fraction(0)),
    )


def _of_unjudged(cell: Seen, rules: Rules) -> State:
    """Return what an interval is that is not looked at, was not read through, or has no request."""
    if cell.looked_at_us == 0:
        return State.VOID
    if _is_silent_outage(cell):
        return State.BAD
    if cell.is_read:
        return State(rules.empty)
    enough = cell.counted >= max(1, rules.min_requests)
    seen_bad = enough and _by_errors(cell.counted, cell.bad, rules) is State.BAD
    return State.BAD if rules.unread == "bad" or seen_bad else State.VOID


def _is_silent_outage(cell: Seen) -> bool:
    """Say whether probes failed where nothing was read, or no request was logged: that is no quiet time."""
    return cell.probes_failed and (not cell.is_read or cell.counted == 0)


def _by_errors(counted: int, bad: int, rules: Rules) -> State:
    limit = rules.bad_above or 0
    return State.BAD if bad > limit * counted else State.GOOD
