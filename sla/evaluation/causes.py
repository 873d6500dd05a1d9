"""Own which broken promises have one cause: the same requests broke them.

Two promises share a cause where one of them would have been kept without the requests that also count against the other. It is
asked of promises by request; availabilities by time share theirs with every other availability of the same part.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sla.contracts.objectives import AvailabilityObjective, LatencyObjective
from sla.evaluation.endings import BAD
from sla.evaluation.fragments import ALWAYS, all_of, count_if, separated, sql
from sla.evaluation.judging import judged_by
from sla.evaluation.rows import single_row
from sla.percentiles import is_met
from sla.verdicts import Count, Verdict, ratio_kept

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.store import Query
    from sla.evaluation.facts import Facts
    from sla.evaluation.judged import Judged
    from sla.evaluation.rows import Requests

Pair = tuple["Judged", "Judged"]


def causes_of(store: Requests, facts: Facts, judged: Mapping[str, Judged]) -> dict[str, str]:
    """Return a name for the cause of each broken promise, by the promise's key; promises with one name share it."""
    broken = [each for each in judged.values() if each.judgement.verdict is Verdict.VIOLATED]
    leader = {each.promise.key: each.promise.key for each in broken}
    pairs = [(one, other) for one, other in combinations(broken, 2) if one.promise.part == other.promise.part]
    counted = _both(store, facts, [each for each in pairs if _by_request(each[0]) and _by_request(each[1])])
    for one, other in pairs:
        both = counted.get((one.promise.key, other.promise.key))
        if both is None:
            shared = all(isinstance(each.promise.objective, AvailabilityObjective) for each in (one, other))
        else:
            shared = both > 0 and (_kept_without(one, both) or _kept_without(other, both))
        if shared:
            first, second = leader[one.promise.key], leader[other.promise.key]
            leader = {key: first if found == second else found for key, found in leader.items()}
    return leader


def _both(store: Requests, facts: Facts, pairs: Sequence[Pair]) -> dict[tuple[str, str], int]:
    """Return how many requests count against both of each pair."""
    unknown_is_bad = facts.subject.contract.unmeasured.unknown_clock == "bad"
    aggregates = {
        f"both_{one.promise.key}_{other.promise.key}": count_if(
            all_of(
                [_against(one, unknown_is_bad=unknown_is_bad), _against(other, unknown_is_bad=unknown_is_bad)]
            )
        )
        for one, other in pairs
    }
    row = single_row(store, aggregates, facts.source)
    return {
        (one.promise.key, other.promise.key): int(row[f"both_{one.promise.key}_{other.promise.key}"])
        for one, other in pairs
    }


def _against(judged: Judged, *, unknown_is_bad: bool) -> Query:
    """Return the condition that a row counts against a promise."""
    promise = judged.promise
    bad = BAD
    if isinstance(promise.objective, LatencyObjective):
        by = judged_by(
            promise.objective.latency.clock,
            threshold=f"cause_{promise.key}_at_most",
            threshold_us=promise.objective.latency.at_most_us,
        )
        parts = [by.valued_over, by.unanswered, by.unknown if unknown_is_bad else None]
        wrapped = [sql(f"({each.sql})", **each.parameters) for each in parts if each is not None]
        bad = separated(" OR ", wrapped) if wrapped else ALWAYS
    return all_of([sql(promise.flag), bad])


def _by_request(judged: Judged) -> bool:
    return judged.unit == "requests" and isinstance(judged.count, Count)


def _kept_without(judged: Judged, both: int) -> bool:
    counted, over = judged.counted - both, judged.over - both
    objective = judged.promise.objective
    if isinstance(objective, LatencyObjective):
        return is_met(over, counted, objective.latency.percentile)
    assert isinstance(objective, AvailabilityObjective)  # noqa: S101 - nothing else is judged by requests
    return ratio_kept(counted - over, counted, objective.availability.target)
