"""Own the oracle's reading of the quota: whether a tenant was below it when it was refused."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.acceptance.oracle.contract import Clauses
    from tests.acceptance.oracle.judging import Case

_MINUTE_US = 60_000_000


def refused_below(cases: Sequence[Case], contract: Clauses) -> list[bool]:
    """Tell of each case whether its tenant had used less than every limit in the 60 s that end with it.

    What was let through uses the quota up; tokens that nobody counted do not.
    """
    quota = contract.get("quota", {})
    if quota.get("rejected_below") != "bad":
        return [False] * len(cases)
    used: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for case in cases:
        if case.outcome not in ("quota_rejected", "capacity_rejected"):
            row = case.row
            tokens = (row.prompt_tokens or 0) + (row.completion_tokens or 0)
            used[row.logged.tenant].append((row.logged.received_us, tokens))
    times, sums = {}, {}
    for tenant, each in used.items():
        times[tenant] = [received for received, _ in sorted(each)]
        sums[tenant] = [0, *accumulate(tokens for _, tokens in sorted(each))]
    answers = []
    for case in cases:
        tenant, at = case.row.logged.tenant, case.row.logged.received_us
        known = times.get(tenant, [])
        first, last = bisect_right(known, at - _MINUTE_US), bisect_right(known, at)
        tokens = sums[tenant][last] - sums[tenant][first] if known else 0
        answers.append(
            last - first < int(quota.get("requests_per_minute", last - first + 1))
            and tokens < int(quota.get("tokens_per_minute", tokens + 1))
        )
    return answers
