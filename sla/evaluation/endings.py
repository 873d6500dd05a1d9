"""Own the ways in which a request can end, as the judgement groups them: one flag a row for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Outcome
from sla.evaluation.fragments import named, sql

if TYPE_CHECKING:
    from fairclock.store import Query
    from sla.contracts.remedies import Quality

_GROUPS = {
    "is_ok": (Outcome.OK,),
    # over on a clock that did not stop before the answer went wrong
    "is_failed": (Outcome.TIMEOUT, Outcome.SUBSTITUTED, Outcome.INCOMPLETE),
    "is_aborted": (Outcome.CLIENT_ABORTED,),
    "is_quota_rejected": (Outcome.QUOTA_REJECTED,),
    # not let through, for whatever reason of the provider's
    "is_refused": (Outcome.QUOTA_REJECTED, Outcome.CAPACITY_REJECTED),
}

OK = sql("is_ok")
FAILED = sql("is_failed")
ABORTED = sql("is_aborted")
BAD = sql("is_bad")
GOOD_OR_BAD = sql("is_good OR is_bad")
QUOTA_REJECTED = sql("is_quota_rejected")
REFUSED = sql("is_refused")
FULLY_MEASURED = sql("is_fully_measured")

_BAD_OUTCOMES = (
    Outcome.INCOMPLETE,
    Outcome.SUBSTITUTED,
    Outcome.SERVER_ERROR,
    Outcome.TIMEOUT,
    Outcome.CAPACITY_REJECTED,
)
"""Bad in an availability; a quota rejection is bad only below the quota (see `sla.evaluation.quota`)."""


def flags(quality: Quality | None = None) -> list[Query]:
    """Return the flags as columns, over a row that has `judged_outcome`."""
    return [
        *(named(_ended(outcomes), flag) for flag, outcomes in _GROUPS.items()),
        *_good_and_bad(quality),
        sql(
            "is_ok AND engine = 'joined' AND queue_us IS NOT NULL AND prefill_us IS NOT NULL"
            " AND decode_us IS NOT NULL AND frontend_us IS NOT NULL AS is_fully_measured"
        ),
    ]


def _good_and_bad(quality: Quality | None) -> list[Query]:
    """Return what availability calls good and bad: by outcome, and by the quality level of a whole answer.

    A level is known by the mode that was logged. A substituted answer is good where the contract names its
    level as good; an `ok` one is bad where the contract names its level as bad.
    """
    good, bad = _ended((Outcome.OK,)), _ended(_BAD_OUTCOMES)
    if quality is None:
        return [named(good, "is_good"), named(bad, "is_bad")]
    modes = {
        f"{counts}_modes": [
            mode for level in quality.levels if level.counts == counts for mode in level.modes
        ]
        for counts in ("good", "bad")
    }
    named_good = (
        f"judged_outcome = '{Outcome.SUBSTITUTED}' AND inference_mode IN {{good_modes:Array(String)}}"
    )
    named_bad = f"judged_outcome = '{Outcome.OK}' AND inference_mode IN {{bad_modes:Array(String)}}"
    return [
        sql(f"(({good.sql}) AND NOT ({named_bad})) OR ({named_good}) AS is_good", **modes),
        sql(f"(({bad.sql}) AND NOT ({named_good})) OR ({named_bad}) AS is_bad", **modes),
    ]


def _ended(outcomes: tuple[Outcome, ...]) -> Query:
    return sql(f"judged_outcome IN ({', '.join(repr(str(outcome)) for outcome in outcomes)})")
