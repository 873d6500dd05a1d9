"""Own the queries for how engines' time and memory are divided among what ran there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from fairclock.store.engine_timelines import Sweep


def pieces(ran: Query, sweep: Sweep) -> Query:
    """Return the query for what `ran` (as `timeline` has it), cut into lanes and pieces of time."""
    return Query(
        sql=sql_file("timeline_pieces").replace("FROM timeline", f"FROM ({ran.sql})"),
        parameters={**ran.parameters, **sweep.parameters()},
    )


def shares(ran: Query, sweep: Sweep) -> Query:
    """Return the query for the share of each sequence of `ran` in each piece.

    Columns: lane (from 1), piece_us, row_id, owned (row_id is not 0), tenant, picoseconds, over (beyond the ceiling, nobody's), busy_us, free, rest.
    """
    cut = pieces(ran, sweep)
    swept = sql_file("sweep").replace("FROM pieces", f"FROM ({cut.sql})")
    if sweep.ceiling_picoseconds is None:
        sql = f"SELECT lane, piece_us, row_id, owned, tenant, picoseconds, toInt64(0) AS over, busy_us, free, rest FROM ({swept})"
        return Query(sql=sql, parameters=cut.parameters)
    so_far = (
        "sum(toInt128(share)) OVER (PARTITION BY row_id ORDER BY piece_us ASC, lane ASC, share ASC"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    )
    sql = (
        "SELECT lane, piece_us, row_id, owned, tenant, share - over AS picoseconds, over, busy_us, free, rest FROM ("
        "SELECT *, if(NOT owned, 0, toInt64(least(share, greatest(total - {ceiling:Int128}, 0)))) AS over FROM ("
        f"SELECT lane, piece_us, row_id, owned, tenant, picoseconds AS share, busy_us, free, rest, {so_far} AS total FROM ({swept})))"
    )
    return Query(sql=sql, parameters={**cut.parameters, "ceiling": sweep.ceiling_picoseconds})


def lane_totals(ran: Query, sweep: Sweep) -> Query:
    """Return the query for (lane, piece_us, owned, tenant, picoseconds, over, busy_us, free, rest) of all that `ran`.

    One row for each tenant in each lane and piece; owned is 0 for what is nobody's, whose tenant is "".
    """
    each = shares(ran, sweep)
    sums = ", ".join(f"sum(toInt128({name}))" for name in ("picoseconds", "over", "busy_us", "free", "rest"))
    return Query(
        sql=f"SELECT lane, piece_us, owned, tenant, {sums} FROM ({each.sql}) GROUP BY ALL ORDER BY ALL",
        parameters=each.parameters,
    )


def kv_totals(ran: Query, sweep: Sweep) -> Query:
    """Return the query for (lane, piece_us, owned, tenant, peak_kv_tokens, kv_token_us) of all that `ran`."""
    cut = pieces(ran, sweep)
    return Query(
        sql=sql_file("kv_sweep").replace("FROM pieces", f"FROM ({cut.sql})"), parameters=cut.parameters
    )


def kv_peaks(ran: Query, sweep: Sweep) -> Query:
    """Return the query for (lane, piece_us, peak_kv_tokens) of all that `ran` at one time, whosever it was."""
    alike = Query(
        sql=f"SELECT * REPLACE (toUInt128(0) AS row_id, toLowCardinality('') AS tenant) FROM ({ran.sql})",
        parameters=ran.parameters,
    )
    totals = kv_totals(alike, sweep)
    return Query(
        sql=f"SELECT lane, piece_us, peak_kv_tokens FROM ({totals.sql})", parameters=totals.parameters
    )


def occupations(ran: Query, sweep: Sweep, engine: str, tenant: str) -> Query:
    """Return the query for (lane, piece_us, begun_us, ended_us, weight, request) of all that ran on `engine`, in order of time.

    request: of the tenant's own, its row_id in hexadecimal digits; "" for all others. Weights are 1 unless shares go by them.
    """
    cut = pieces(ran, sweep)
    return Query(
        sql="SELECT lane, piece_us, piece_begun_us, piece_ended_us, share,"
        " if(row_id != 0 AND tenant = {occupant:String}, lower(hex(row_id)), '') AS request"
        f" FROM ({cut.sql}) WHERE lane IN {{occupied_lanes:Array(UInt32)}}"
        " ORDER BY piece_begun_us, piece_ended_us, lane, share, request",
        parameters={
            **cut.parameters,
            "occupant": tenant,
            "occupied_lanes": [
                number for number, lane in enumerate(sweep.lanes, start=1) if lane.engine == engine
            ],
        },
    )
