"""Own the ways in which a request can end, as the judgement groups them: one flag a row for each group."""

from __future__ import annotations

from fairclock.model import Outcome
from sla.evaluation.fragments import sql

_GROUPS = {
    "is_ok": (Outcome.OK,),
    # over on a clock that did not stop before the answer went wrong
    "is_failed": (Outcome.TIMEOUT, Outcome.SUBSTITUTED, Outcome.INCOMPLETE),
    "is_aborted": (Outcome.CLIENT_ABORTED,),
    # bad in a request_ratio; a quota rejection is bad only below the quota (see `sla.evaluation.quota`)
    "is_bad": (
        Outcome.INCOMPLETE,
        Outcome.SUBSTITUTED,
        Outcome.SERVER_ERROR,
        Outcome.TIMEOUT,
        Outcome.CAPACITY_REJECTED,
    ),
    "is_quota_rejected": (Outcome.QUOTA_REJECTED,),
    # not let through, for whatever reason of the provider's
    "is_refused": (Outcome.QUOTA_REJECTED, Outcome.CAPACITY_REJECTED),
}

OK = sql("is_ok")
FAILED = sql("is_failed")
ABORTED = sql("is_aborted")
BAD = sql("is_bad")
GOOD_OR_BAD = sql("is_ok OR is_bad")
QUOTA_REJECTED = sql("is_quota_rejected")
REFUSED = sql("is_refused")
FULLY_MEASURED = sql("is_fully_measured")

FLAGS = (
    *(
        sql(f"judged_outcome IN ({', '.join(repr(str(outcome)) for outcome in outcomes)}) AS {flag}")
        for flag, outcomes in _GROUPS.items()
    ),
    sql(
        "is_ok AND engine = 'joined' AND queue_us IS NOT NULL AND prefill_us IS NOT NULL"
        " AND decode_us IS NOT NULL AND frontend_us IS NOT NULL AS is_fully_measured"
    ),
)
"""The flags as columns, over a row that has `judged_outcome`."""
