"""Own what comes of two sides matched: how many on either side, and how the customer's durations differ from each of our clocks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.model import utc_text
from fairclock.model.instants import from_us
from sla.bundle.comparison.ours import CLOCKS, is_within
from sla.evaluation.numbers import seconds
from sla.percentiles import rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model import Interval
    from sla.bundle.comparison.matching import Matched
    from sla.bundle.comparison.ours import Ours
    from sla.bundle.comparison.reading import BadLine, Theirs

FIRST_TOKEN = "time_to_first_token"  # noqa: S105 - a clock
_PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How values are spread, in microseconds; percentiles are nearest ranks. All None where there are none."""

    count: int
    least_us: int | None = None
    percentiles_us: tuple[int | None, ...] = (None, None, None)
    greatest_us: int | None = None

    @classmethod
    def of(cls, values: Sequence[int]) -> Spread:
        """Return the spread of values."""
        if not values:
            return cls(count=0)
        ordered = sorted(values)
        return cls(
            count=len(ordered),
            least_us=ordered[0],
            percentiles_us=tuple(ordered[rank(len(ordered), Fraction(each)) - 1] for each in _PERCENTILES),
            greatest_us=ordered[-1],
        )

    def tree(self) -> dict[str, Any]:
        """Return it as plain values, in seconds."""
        p50, p95, p99 = (seconds(each) for each in self.percentiles_us)
        return {
            "n": self.count,
            "min": seconds(self.least_us),
            "p50": p50,
            "p95": p95,
            "p99": p99,
            "max": seconds(self.greatest_us),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sides of a month. Of the customer's lines each is matched, only theirs, ambiguous, of another time, or bad.

    differences: theirs less ours, by our clock, over pairs that were answered on both sides. theirs, ours: the same pairs'
    own times. without_instant: lines of `only_theirs` that do not say when they were.
    """

    period: Interval
    matched: Matched
    bad: tuple[BadLine, ...]
    lines: int
    elsewhere: tuple[Theirs, ...]
    only_theirs: tuple[Theirs, ...]
    only_ours: tuple[Ours, ...]
    theirs: Spread
    ours: dict[str, Spread]
    differences: dict[str, Spread]
    other_status: int

    def tree(self) -> dict[str, Any]:
        """Return it as plain values."""
        matched = self.matched
        by = Counter(each.by for each in matched.pairs)
        return {
            "schema": "fairclock.comparison/1",
            "period": {"from": utc_text(self.period.start), "to": utc_text(self.period.end)},
            "their_lines": self.lines,
            "matched": {
                "requests": len(matched.pairs),
                **{f"by_{each}": by[each] for each in ("trace", "id", "time")},
            },
            "only_theirs": len(self.only_theirs),
            "only_ours": {
                "requests": len(self.only_ours),
                "by_outcome": dict(sorted(Counter(each.outcome for each in self.only_ours).items())),
            },
            "ambiguous": {"theirs": len(matched.ambiguous_theirs), "ours": len(matched.ambiguous_ours)},
            "outside_the_month": len(self.elsewhere),
            "bad_lines": [
                {"line": each.line, "problem": each.problem, "excerpt": each.excerpt} for each in self.bad
            ],
            "other_status": self.other_status,
            "clock_offset": seconds(matched.offset_us),
            "theirs": self.theirs.tree(),
            "clocks": {
                name: {"ours": self.ours[name].tree(), "theirs_less_ours": self.differences[name].tree()}
                for name in self.differences
            },
        }


def compare(matched: Matched, bad: Sequence[BadLine], *, lines: int, period: Interval) -> Comparison:
    """Return what comes of two sides; `lines` is how many the customer's log has, bad ones too.

    Durations are compared as each host measured them; the offset of the clocks is in none of the differences.
    """
    offset = matched.offset_us or 0
    elsewhere = tuple(
        each
        for each in matched.only_theirs
        if each.start_us is not None and not is_within(each.start_us - offset, period)
    )
    left_out = {each.line for each in elsewhere}
    answered = [each for each in matched.pairs if each.ours.outcome == "ok"]
    answered = [each for each in answered if not each.theirs.status or each.theirs.status == each.ours.status]
    first = [
        each
        for each in answered
        if each.theirs.first_token_us is not None and each.ours.first_token_us is not None
    ]
    ours = {name: Spread.of([each.ours.clock(name) for each in answered]) for name in CLOCKS}
    differences = {
        name: Spread.of([each.theirs.duration_us - each.ours.clock(name) for each in answered])
        for name in CLOCKS
    }
    if first:
        ours[FIRST_TOKEN] = Spread.of([each.ours.first_token_us or 0 for each in first])
        differences[FIRST_TOKEN] = Spread.of(
            [(each.theirs.first_token_us or 0) - (each.ours.first_token_us or 0) for each in first]
        )
    return Comparison(
        period=period,
        matched=matched,
        bad=tuple(bad),
        lines=lines,
        elsewhere=elsewhere,
        only_theirs=tuple(each for each in matched.only_theirs if each.line not in left_out),
        only_ours=tuple(each for each in matched.only_ours if is_within(each.received_us, period)),
        theirs=Spread.of([each.theirs.duration_us for each in answered]),
        ours=ours,
        differences=differences,
        other_status=sum(
            bool(each.theirs.status) and each.theirs.status != each.ours.status for each in matched.pairs
        ),
    )


def instant_text(us: int | None) -> str:
    """Return an instant as text; empty where there is none."""
    return "" if us is None else utc_text(from_us(us))
