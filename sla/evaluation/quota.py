"""Own when a rejection for quota was wrong: the tenant was still below its quota.

The quota is a rate per minute, so it is measured over the 60 seconds that end with the refused request,
`(received - 60 s, received]`, over that tenant's requests in the contract's scope. Only requests that were let
through use it up: not those refused for quota or for want of capacity. Tokens are those of the prompt and of
the answer; tokens nobody counted use up nothing. The tenant was below its quota if it was below every limit
that the contract names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import to_us
from sla.evaluation.endings import QUOTA_REJECTED
from sla.evaluation.fragments import all_of, named, select, sql

if TYPE_CHECKING:
    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.contracts.frame import Quota

WINDOW_US = 60_000_000
_FRAME = f"(PARTITION BY tenant ORDER BY at_us RANGE BETWEEN {WINDOW_US - 1} PRECEDING AND CURRENT ROW)"


def refused_below_quota(quota: Quota, source: Query, period: Interval) -> Query:
    """Return the requests of `period` that were refused for quota although their tenant was below it."""
    let_through = "NOT is_refused"
    tokens = "toInt64(ifNull(prompt_tokens, 0)) + toInt64(ifNull(completion_tokens, 0))"
    used = select(
        (
            sql("*"),
            named(sql(f"countIf({let_through}) OVER {_FRAME}"), "used_requests"),
            named(sql(f"sumIf({tokens}, {let_through}) OVER {_FRAME}"), "used_tokens"),
        ),
        source,
    )
    conditions = [
        QUOTA_REJECTED,
        sql(
            "at_us >= {refused_from:Int64} AND at_us < {refused_to:Int64}",
            refused_from=to_us(period.start),
            refused_to=to_us(period.end),
        ),
    ]
    for column, limit in (
        ("used_requests", quota.requests_per_minute),
        ("used_tokens", quota.tokens_per_minute),
    ):
        if limit is not None:
            conditions.append(sql(f"{column} < {{{column}_limit:UInt64}}", **{f"{column}_limit": limit}))
    wanted = all_of(conditions)
    return select((sql("*"),), used, sql(f"WHERE {wanted.sql}", **wanted.parameters))
