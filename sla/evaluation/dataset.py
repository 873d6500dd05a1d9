"""Own the rows that one contract speaks of: its customer's requests within its scope, with clocks and outcome.

Everything that is counted, ranked or hashed for a contract reads this one subquery.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Outcome
from sla.evaluation.clocks import clock_columns
from sla.evaluation.endings import flags
from sla.evaluation.fragments import all_of, named, select, separated, sql
from sla.evaluation.membership import membership_columns, one_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.contracts.frame import OutcomeRule
    from sla.evaluation.rows import Requests
    from sla.evaluation.subject import Subject

KEPT = (
    "tenant",
    "received_at",
    "toUnixTimestamp64Micro(received_at) AS at_us",
    "content_hash",
    "k",
    "model",
    "route",
    "region",
    "upstream",
    "status",
    "outcome",
    "error_code",
    "stream",
    "inference_mode",
    "attempts",
    "end_to_end_us",
    "connected_us",
    "queue_us",
    "prefill_us",
    "decode_us",
    "frontend_us",
    "time_to_first_token_us",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "decode_tokens",
    "engine",
    "simulated",
)


def rows_of(store: Requests, subject: Subject, window: Interval, as_of: datetime) -> Query:
    """Return the contract's rows received in `window`, as they were known at `as_of`."""
    return dataset(subject, store.requests_as_of(window, as_of), window)


def dataset(subject: Subject, joined: Query, window: Interval) -> Query:
    """Return the requests of `joined` that are in the contract's scope.

    `joined` is what the store gives for `window` as of an instant. Added columns: `at_us` (received,
    microseconds since 1970), `judged_outcome` (after the contract's `outcomes`), the flags of
    `sla.evaluation.endings`, one column a clock, one flag a promise.
    """
    contract = subject.contract
    columns = [
        *(sql(column) for column in KEPT),
        named(_judged_outcome(contract.outcomes), "judged_outcome"),
        *flags(contract.quality),
        *clock_columns(contract.clock.start),
        *membership_columns(subject, window),
    ]
    conditions = in_scope(contract)
    return select(columns, joined, sql(f"WHERE {conditions.sql}", **conditions.parameters))


def in_scope(contract: Contract) -> Query:
    """Return the condition of customer and scope; a model or region that was not logged is in scope."""
    conditions = [sql("tenant IN {tenants:Array(String)}", tenants=list(contract.customer.tenants))]
    for column, name, wanted in (
        ("model", "models", contract.scope.models),
        ("route", "routes", contract.scope.routes),
        ("region", "regions", contract.scope.regions),
    ):
        if wanted:
            conditions.append(one_of(column, wanted, name=name))
    return all_of(conditions)


def _judged_outcome(rules: Sequence[OutcomeRule]) -> Query:
    """Return the outcome after the contract's `outcomes`: the first rule that matches wins."""
    if not rules:
        return sql("outcome")
    branches: list[Query] = []
    for number, rule in enumerate(rules):
        matches = []
        if rule.status is not None:
            matches.append(
                sql(f"status = {{rule_{number}_status:UInt64}}", **{f"rule_{number}_status": rule.status})
            )
        if rule.error_code is not None:
            name = f"rule_{number}_error_code"
            matches.append(sql(f"error_code = {{{name}:String}}", **{name: rule.error_code}))
        branches += [all_of(matches), sql(f"'{Outcome(rule.outcome)}'")]
    arms = separated(", ", [*branches, sql("toString(outcome)")])
    return sql(f"multiIf({arms.sql})", **arms.parameters)
