"""Own the look back: what the months before hand to this one, where the contract carries requests over."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sla.carry_over import carried_in
from sla.evaluation.facts import Facts, facts_of
from sla.evaluation.judged import is_left_open, is_void, judge
from sla.evaluation.months import month_of, months_before
from sla.verdicts import Count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sla.contracts import Contract
    from sla.evaluation.promises import Evaluated
    from sla.evaluation.rows import Requests


def carried_counts(
    store: Requests,
    contract: Contract,
    objectives: Mapping[int, Evaluated],
    facts: Facts,
) -> dict[int, Count]:
    """Return what each objective's requests of earlier months add to the month of `facts`.

    Earlier months are read as of the same instant, only as far back as the answer depends on them.
    """
    if contract.insufficient.verdict != "carry_over" or is_void(contract, facts):
        return dict.fromkeys(objectives, Count())

    @cache
    def earlier(label: str) -> Facts:
        return facts_of(store, contract, month_of(contract, label, facts.as_of), facts.as_of)

    def carried(number: int, objective: Evaluated) -> Count:
        def own(label: str) -> Count:
            return Count() if is_void(contract, earlier(label)) else earlier(label).counts[number]

        def left_open(label: str, count: Count) -> bool:
            return is_left_open(contract, judge(contract, objective, earlier(label), count))

        return carried_in(months_before(contract, facts.month.label), own, left_open)

    return {number: carried(number, objective) for number, objective in objectives.items()}
