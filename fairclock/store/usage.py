"""Own the query for what requests used: tokens by class, GPU time and KV memory, grouped by all that a price can ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, from_us, to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.engine_shares import shares
from fairclock.store.engine_timelines import DAY_US, MARGIN_US, POSSIBLE, hour_edges, timeline
from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from fairclock.store.engine_timelines import Sweep


_NOTHING_RAN = Query(
    sql="SELECT toUInt128(0) AS request, toInt128(0) AS picoseconds, toInt64(0) AS lane WHERE 0"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """How requests are grouped.

    classes: (name, from how many prompt tokens on), from 0 and upwards. lane_machines: what the machine of each lane of the
    sweep is called. upstream_machines: what answers behind an address that the gateway logs, for requests without a share.
    """

    classes: tuple[tuple[str, int], ...]
    lane_machines: tuple[str, ...] = ()
    upstream_machines: tuple[tuple[str, str], ...] = ()
    probe_tenants: tuple[str, ...] = ()
    cuts: tuple[datetime, ...] = ()


def usage_window(store: Store, window: Interval, as_of: datetime) -> Interval:
    """Return the whole hours in which the requests received in the hours of `window` ran, as known at `as_of`.

    An engine row lies at most ten minutes off its request's hour; what is known to be longer than a day is impossible.
    """
    edges = hour_edges(window)
    ends = [
        store.rows(
            Query(
                sql=f"SELECT max(toUnixTimestamp64Micro({begun}) + {length}) FROM {table}"
                f" WHERE {begun} >= fromUnixTimestamp64Micro({{from_us:Int64}}, 'UTC')"
                f" AND {begun} < fromUnixTimestamp64Micro({{to_us:Int64}}, 'UTC') AND first_wins >= {{as_of_wins:UInt64}} AND {condition}",
                parameters={
                    "from_us": max(edges[0] - MARGIN_US, 0),
                    "to_us": edges[-1] + MARGIN_US,
                    "as_of_wins": FIRST_WINS_BASE - to_us(as_of),
                },
            )
        )[0][0]
        for table, begun, length, condition in (
            ("engine_requests", "arrived_at", "end_to_end_us", POSSIBLE),
            ("gateway_requests", "received_at", "responded_us", f"responded_us <= {DAY_US}"),
        )
    ]
    last_us = max([edges[-1], *(int(each) for each in ends)])
    whole = Interval(start=from_us(max(edges[0] - MARGIN_US, 0)), end=from_us(last_us))
    edges = hour_edges(whole)
    return Interval(start=from_us(edges[0]), end=from_us(edges[-1]))


def usage_groups(
    store: Store, window: Interval, as_of: datetime, sweep: Sweep | None, grouping: Grouping
) -> list[tuple[Any, ...]]:
    """Return the usage of the requests received in the whole hours of `window`, as known at `as_of`.

    sweep: of `usage_window`; None where no engine is known. A row: tenant, start_us, end_us, model, length_class, inference_mode,
    machine, treatment, estimated, requests, uncached_prompt_tokens, cached_prompt_tokens, completion_tokens, gpu_picoseconds,
    peak_kv_tokens.
    """
    edges = hour_edges(window, grouping.cuts)
    parameters = _grouped_by(grouping, edges)
    return _with_shares(store, "usage", _whole(edges), as_of, sweep=sweep, parameters=parameters)


def request_usage(
    store: Store,
    window: Interval,
    as_of: datetime,
    sweep: Sweep | None,
    *,
    tenant: str,
    lane_machines: Sequence[str],
) -> list[tuple[Any, ...]]:
    """Return what each of a tenant's requests received in the whole hours of `window` used, in order of time.

    A row: received_at, request_id, request (its row_id), model, outcome, machine, prompt_tokens, cached_tokens,
    completion_tokens, gpu_picoseconds; None is unknown.
    """
    parameters: dict[str, object] = {"of_tenant": tenant, "lane_machines": list(lane_machines)}
    whole = _whole(hour_edges(window))
    return _with_shares(store, "request_usage", whole, as_of, sweep=sweep, parameters=parameters)


def _whole(edges: Sequence[int]) -> Interval:
    return Interval(start=from_us(edges[0]), end=from_us(edges[-1]))


def _with_shares(
    store: Store,
    sql: str,
    window: Interval,
    as_of: datetime,
    *,
    sweep: Sweep | None,
    parameters: Mapping[str, object],
) -> list[tuple[Any, ...]]:
    """Return what the file `sql` makes of the requests of `window` and their shares."""
    joined = store.requests_as_of(window, as_of)

    def read(attributed: Query) -> list[tuple[Any, ...]]:
        text = sql_file(sql).replace("FROM joined", f"FROM ({joined.sql}) AS joined")
        return store.rows(
            Query(
                sql=text.replace("LEFT JOIN attributed", f"LEFT JOIN ({attributed.sql}) AS attributed"),
                parameters={**joined.parameters, **attributed.parameters, **parameters},
            )
        )

    if sweep is None:
        return read(_NOTHING_RAN)
    with timeline(store, _whole(sweep.edges_us), as_of, sweep) as ran:
        return read(_attributed(shares(ran, sweep)))


def _attributed(each: Query) -> Query:
    """Return the query for (request, picoseconds, lane) of requests with a share; the lane is where they ran last."""
    return Query(
        sql="SELECT row_id AS request, sum(toInt128(picoseconds)) AS picoseconds, toInt64(argMax(lane, (piece_us, lane))) AS lane"
        f" FROM ({each.sql}) WHERE row_id != 0 GROUP BY row_id",
        parameters=each.parameters,
    )


def _grouped_by(grouping: Grouping, edges: Sequence[int]) -> dict[str, object]:
    return {
        "group_edges_us": list(edges[:-1]),
        "group_next_edges_us": list(edges[1:]),
        "probe_tenants": list(grouping.probe_tenants),
        "class_names": [name for name, _ in grouping.classes],
        "class_from_tokens": [least for _, least in grouping.classes],
        "lane_machines": list(grouping.lane_machines),
        "machine_upstreams": [address for address, _ in grouping.upstream_machines],
        "upstream_machines": [machine for _, machine in grouping.upstream_machines],
    }
