"""Own what requests come to by tenant and model: how they ended, their tokens, and how many were how fast.

Everything is a whole number that adds up, so that the sums of two instants can be subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fairclock.model import Outcome, to_us
from fairclock.store.clocks import clock_expressions
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from fairclock.model import Interval

OUTCOMES = tuple(Outcome)
TOKENS = ("prompt", "cached", "completion")
_RECENT_US = 300_000_000
# all of them would cost the planning half as much again
_NEEDED = "tenant, model, outcome, trace_id, received_at, prompt_tokens, cached_tokens, completion_tokens, simulated"
CLOCKS = clock_expressions()
"""Each clock from `received`, in µs, as the evaluation of contracts has it; NULL where it was not measured."""


class Requests(Protocol):
    """A store of joined requests; `fairclock.store.Store` is one."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""

    def requests_as_of(self, window: Interval, as_of: datetime) -> Query:
        """Return the query for the joined requests received in `window`, as they were known at `as_of`."""


class Slowest(NamedTuple):
    """The slowest of some requests on a clock, of those that have a trace."""

    trace_id: str
    value_us: int
    received_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One clock: its SQL over a joined row, and the edges (µs, ascending) that its values are counted at.

    tenant_edges: those of the tenants that have others, as many for each.
    """

    clock: str
    expression: str
    edges: tuple[int, ...]
    tenant_edges: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def edges_of(self, tenant: str) -> tuple[int, ...]:
        """Return the edges of a tenant."""
        return self.tenant_edges.get(tenant, self.edges)


class RequestSum(NamedTuple):
    """What requests of one tenant and model come to.

    values: by outcome, tokens by class, simulated ones, and for each clock as many as are at most each edge long, all, and
    their sum in µs. Of clocks only `ok` requests that were measured on them count, as in a report.
    """

    tenant: str
    model: str
    values: tuple[int, ...]
    slowest: tuple[Slowest | None, ...]


def request_sums(
    store: Requests, window: Interval, as_of: datetime, clocks: Sequence[Measured]
) -> list[RequestSum]:
    """Return the sums of the requests received in `window`, as they were known at `as_of`."""
    found = store.rows(sums_query(store.requests_as_of(window, as_of), as_of, clocks))
    return [_sum(row, clocks) for row in found]


def sums_query(rows: Query, as_of: datetime, clocks: Sequence[Measured]) -> Query:
    """Return the query for the sums of `rows`; the slowest requests are those of the last minutes before `as_of`."""
    parameters: dict[str, object] = {
        **rows.parameters,
        "outcomes": [str(each) for each in OUTCOMES],
        "recent": to_us(as_of) - _RECENT_US,
    }
    computed, columns = [], []
    for number, each in enumerate(clocks):
        value = f"value_{number}"
        computed.append(f"CAST({each.expression}, 'Nullable(Int64)') AS {value}")
        edges = f"edges_{number}"
        parameters[edges] = list(each.edges)
        at = f"{{{edges}:Array(Int64)}}"
        if each.tenant_edges:
            names = f"tenants_{number}"
            parameters[names] = list(each.tenant_edges)
            parameters[f"{edges}_own"] = [list(own) for own in each.tenant_edges.values()]
            place = f"indexOf({{{names}:Array(String)}}, tenant)"
            at = f"if({place} = 0, {at}, {{{edges}_own:Array(Array(Int64))}}[{place}])"
        is_measured = f"outcome = 'ok' AND isNotNull({value})"
        slowest = (
            f"argMaxIf(tuple(lower(hex(trace_id)), ifNull({value}, 0), toUnixTimestamp64Micro(received_at)), ifNull({value}, 0),"
            f" {is_measured} AND reinterpretAsUInt128(trace_id) != 0 AND toUnixTimestamp64Micro(received_at) >= {{recent:Int64}})"
        )
        columns += [
            f"sumForEachIf(arrayMap(edge -> toUInt64(assumeNotNull({value}) <= edge), {at}), {is_measured})",
            f"countIf({is_measured})",
            f"sumIf(toInt128(ifNull({value}, 0)), {is_measured})",
            slowest,
        ]
    # a cached token is a prompt's token, too: each is counted in one class
    tokens = (
        "sum(toUInt64(greatest(toInt64(ifNull(prompt_tokens, 0)) - toInt64(ifNull(cached_tokens, 0)), 0))),"
        " sum(toUInt64(ifNull(cached_tokens, 0))), sum(toUInt64(ifNull(completion_tokens, 0)))"
    )
    sql = (
        "SELECT tenant, model, sumForEach(arrayMap(each -> toUInt64(each = outcome), {outcomes:Array(String)})),"
        f" {tokens}, countIf(simulated != 0), {', '.join(columns)}"
        f" FROM (SELECT {_NEEDED}, {', '.join(computed)} FROM ({rows.sql})) GROUP BY tenant, model ORDER BY tenant, model"
    )
    return Query(sql=sql, parameters=parameters)


def known_pairs(
    store: Requests, window: Interval, clocks: Sequence[Measured], *, most: int
) -> list[tuple[str, str, tuple[bool, ...]]]:
    """Return the pairs of tenant and model with the most requests in sealed hours of `window`, and which clocks they have."""
    has = ", ".join(f"countIf(isNotNull({each.expression})) > 0" for each in clocks)
    found = store.rows(
        Query(
            sql=f"SELECT tenant, model, {has} FROM requests"
            " WHERE received_at >= fromUnixTimestamp64Micro({pairs_from:Int64}, 'UTC')"
            " AND received_at < fromUnixTimestamp64Micro({pairs_to:Int64}, 'UTC')"
            " GROUP BY tenant, model ORDER BY count() DESC, tenant, model LIMIT {most:UInt32}",
            parameters={"pairs_from": to_us(window.start), "pairs_to": to_us(window.end), "most": most},
        )
    )
    return [(tenant, model, tuple(map(bool, flags))) for tenant, model, *flags in found]


def _sum(row: Sequence[Any], clocks: Sequence[Measured]) -> RequestSum:
    tenant, model, outcomes, prompt, cached, completion, simulated, *measured = row
    values = [*outcomes, prompt, cached, completion, simulated]
    slowest: list[Slowest | None] = []
    for number, each in enumerate(clocks):
        at_edges, count, total, (trace_id, value_us, received_us) = measured[4 * number : 4 * number + 4]
        # of no row there is an empty array
        values += [*(at_edges or (0,) * len(each.edges_of(tenant))), count, total]
        slowest.append(Slowest(trace_id, int(value_us), int(received_us)) if trace_id else None)
    return RequestSum(tenant, model, tuple(map(int, values)), tuple(slowest))
