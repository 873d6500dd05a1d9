"""Own the queries for what engines and GPUs say that the cost book is held against: starts, tokens, memory in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import Interval, to_us
from fairclock.store.engine_rows import engine_parameters, engine_rows
from fairclock.store.engine_timelines import earliest_us
from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Store


def unknown_engines(ran: Query, window: Interval, known: Sequence[str]) -> Query:
    """Return the query for (engine, sequences, running_us) of engines beside the `known` ones that ran any in `window`.

    A sequence is counted where it began.
    """
    return Query(
        sql="SELECT instance, countIf(begun_us >= {ran_from:Int64}), sum(least(ended_us, {ran_to:Int64}) - greatest(begun_us, {ran_from:Int64}))"
        f" FROM ({ran.sql}) WHERE NOT has({{known:Array(String)}}, instance) AND begun_us < {{ran_to:Int64}}"
        " AND ended_us > {ran_from:Int64} GROUP BY instance ORDER BY instance",
        parameters={
            **ran.parameters,
            "known": list(known),
            "ran_from": to_us(window.start),
            "ran_to": to_us(window.end),
        },
    )


def engine_starts(window: Interval, as_of: datetime) -> Query:
    """Return the query for (engine, at_us, gpus of all ranks, slots of all ranks) of what engines said when they started.

    Each start within `window`, and the last one before it. What is not said is 0.
    """
    said = (
        "SELECT instance, toUnixTimestamp64Micro(at) AS at_us, toUInt64(ifNull(gpus, 0)) * greatest(ifNull(data_parallel, 1), 1) AS all_gpus,"
        " toUInt64(ifNull(max_num_seqs, 0)) * greatest(ifNull(data_parallel, 1), 1) AS all_slots FROM engine_states FINAL"
        " WHERE event = 'started' AND first_wins >= {as_of_wins:UInt64} AND at < fromUnixTimestamp64Micro({engine_to_us:Int64}, 'UTC')"
    )
    return Query(
        sql="SELECT instance, at_us, max(all_gpus), max(all_slots) FROM"
        f" (SELECT *, max(if(at_us <= {{engine_from_us:Int64}}, at_us, 0)) OVER (PARTITION BY instance) AS last_before_us FROM ({said}))"
        " WHERE at_us >= last_before_us GROUP BY instance, at_us ORDER BY instance, at_us",
        parameters=engine_parameters(to_us(window.start), to_us(window.end), to_us(as_of)),
    )


def reported_tokens(store: Store, window: Interval, as_of: datetime) -> Query:
    """Return the query for (engine, hour_us, prompt, cached, completion tokens, sequences) that engines reported in `window`."""
    first_us = earliest_us(store, window, as_of)
    rows = engine_rows(store._connection, from_us=first_us, to_us=to_us(window.end), as_of_us=to_us(as_of))  # noqa: SLF001 - one package
    return Query(
        sql=sql_file("reported_tokens").replace("FROM engine_rows", f"FROM ({rows.sql})"),
        parameters={
            **rows.parameters,
            "hours_from_us": to_us(window.start),
            "hours_to_us": to_us(window.end),
        },
    )


def owned_tokens(ran: Query, window: Interval) -> Query:
    """Return the query for (engine, hour_us, is_left, prompt, cached, completion tokens, sequences) of all that is a request's.

    is_left: the request left no row at its engine; its tokens are those that the gateway logged, if it did.
    """
    return Query(
        sql="SELECT toString(instance) AS engine, intDiv(at.1, 3600000000) * 3600000000 AS hour_us, is_left,"
        " sum(at.2), sum(at.3), sum(at.4), sum(at.5) FROM"
        f" (SELECT * FROM ({ran.sql}) WHERE row_id != 0 OR is_left)"
        " ARRAY JOIN [(first_us, prompt_tokens, cached_tokens, toInt64(0), toInt64(0)),"
        " (done_us, toInt64(0), toInt64(0), completion_tokens, toInt64(NOT is_left))] AS at"
        " WHERE at.1 >= {owned_from:Int64} AND at.1 < {owned_to:Int64} GROUP BY ALL ORDER BY ALL",
        parameters={**ran.parameters, "owned_from": to_us(window.start), "owned_to": to_us(window.end)},
    )


def copied_tokens(ran: Query, joined: Query, window: Interval) -> Query:
    """Return the query for (engine, hour_us, prompt, cached, completion tokens) by which responses' usage exceeds their engine rows.

    Of requests with rows, all tries together, on the engine that ended last; where the gateway logged none there is no difference.
    """
    return Query(
        sql="SELECT engine, intDiv(at.1, 3600000000) * 3600000000 AS hour_us, sum(at.2), sum(at.3), sum(at.4) FROM"
        " (SELECT toString(rows.engine) AS engine, rows.first_us AS first_us, rows.last_us AS last_us,"
        " ifNull(toInt64(usage.prompt_tokens) - rows.prompt, 0) AS prompt, ifNull(toInt64(usage.cached_tokens) - rows.cached, 0) AS cached,"
        " ifNull(toInt64(usage.completion_tokens) - rows.completion, 0) AS completion FROM"
        " (SELECT row_id, argMax(instance, done_us) AS engine, min(first_us) AS first_us, max(done_us) AS last_us,"
        " sum(prompt_tokens) AS prompt, sum(cached_tokens) AS cached, sum(completion_tokens) AS completion"
        f" FROM ({ran.sql}) WHERE row_id != 0 AND NOT is_left GROUP BY row_id) AS rows INNER JOIN"
        " (SELECT reinterpretAsUInt128(sipHash128(content_hash, k)) AS request, prompt_tokens, cached_tokens, completion_tokens"
        f" FROM ({joined.sql})) AS usage ON usage.request = rows.row_id)"
        " ARRAY JOIN [(first_us, prompt, cached, toInt64(0)), (last_us, toInt64(0), toInt64(0), completion)] AS at"
        " WHERE at.1 >= {owned_from:Int64} AND at.1 < {owned_to:Int64} GROUP BY ALL ORDER BY ALL",
        parameters={
            **ran.parameters,
            **joined.parameters,
            "owned_from": to_us(window.start),
            "owned_to": to_us(window.end),
        },
    )


def memory_used(gpu_ids: Sequence[str], window: Interval, as_of: datetime) -> Query:
    """Return the query for (hour_us, GPUs that were seen, sum of the most bytes that each had in use) of `gpu_ids`, by hour."""
    return Query(
        sql="SELECT hour_us, count(), sum(most) FROM"
        " (SELECT intDiv(toUnixTimestamp64Micro(sampled_at), 3600000000) * 3600000000 AS hour_us, gpu, max(memory_used_bytes_max) AS most"
        " FROM gpu_samples FINAL WHERE gpu IN {gpu_ids:Array(String)} AND first_wins >= {as_of_wins:UInt64}"
        " AND sampled_at >= fromUnixTimestamp64Micro({engine_from_us:Int64}, 'UTC')"
        " AND sampled_at < fromUnixTimestamp64Micro({engine_to_us:Int64}, 'UTC') GROUP BY hour_us, gpu HAVING isNotNull(most))"
        " GROUP BY hour_us ORDER BY hour_us",
        parameters={
            **engine_parameters(to_us(window.start), to_us(window.end), to_us(as_of)),
            "gpu_ids": list(gpu_ids),
        },
    )
