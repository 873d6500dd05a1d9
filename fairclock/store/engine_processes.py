"""Own what is read back of engines' processes: when they began and answered, what they said, whom they served.

Every reader takes an ``as_of``: a row counts if it had been stored by then. What follows from the rows is for
`sla.engines` to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, to_us
from fairclock.model.engine_signs import CounterFell, LastSign, Outage, Pair, ProcessSeen, Said
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.engine_rows import engine_rows
from fairclock.store.query import Query

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from fairclock.store.engine_lives import Rows

_BEGAN = "process_start_time_seconds"
_COUNTER = "vllm:generation_tokens"


def processes_seen(store: Rows, window: Interval, as_of: datetime) -> list[ProcessSeen]:
    """Return the processes that scrapes within `window` saw.

    A target without ``process_start_time_seconds`` is dated by the ``_created`` of its counters, where it has them.
    """
    query = Query(
        sql="SELECT toString(target), series, began_us, toUnixTimestamp64Micro(min(scraped_at)), toUnixTimestamp64Micro(max(scraped_at))"
        " FROM (SELECT target, scraped_at, name AS series, toInt64(round(ifNull(fraction, toFloat64(whole)) * 1000000)) AS began_us"
        f"  FROM engine_samples WHERE name = '{_BEGAN}' AND {_within('scraped_at')}"
        "  AND isFinite(ifNull(fraction, toFloat64(whole)))"
        " UNION ALL SELECT target, scraped_at, concat(name, '_created'), assumeNotNull(since_us) FROM engine_samples"
        f"  WHERE name = '{_COUNTER}' AND isNotNull(since_us) AND {_within('scraped_at')}"
        f"  AND target NOT IN (SELECT target FROM engine_samples WHERE name = '{_BEGAN}' AND {_within('scraped_at')}))"
        " WHERE began_us > 946684800000000 GROUP BY target, series, began_us ORDER BY target, began_us, series",
        parameters=_bounds(window, as_of),
    )
    return [ProcessSeen(*row) for row in store.rows(query)]


def counters_fallen(store: Rows, window: Interval, as_of: datetime) -> list[CounterFell]:
    """Return where a count of tokens fell that nothing dates, as with several API servers."""
    query = Query(
        sql="SELECT toString(target), series, before_us, at_us, before, after FROM ("
        "SELECT target, concat(name, '{engine=\"', engine, '\"}') AS series, toUnixTimestamp64Micro(scraped_at) AS at_us,"
        " toFloat64(assumeNotNull(value)) AS after, lagInFrame(at_us) OVER w AS before_us, lagInFrame(after) OVER w AS before,"
        " row_number() OVER w AS nth FROM engine_samples FINAL"
        f" WHERE name = '{_COUNTER}' AND isNull(since_us) AND isNotNull(value) AND {_within('scraped_at')}"
        " WINDOW w AS (PARTITION BY target, name, engine, model, labels ORDER BY scraped_at)"
        ") WHERE nth > 1 AND after < before ORDER BY target, at_us, series",
        parameters=_bounds(window, as_of),
    )
    return [CounterFell(*row) for row in store.rows(query)]


def said_of_lives(store: Rows, window: Interval, as_of: datetime) -> list[Said]:
    """Return what plugins said within `window` of their engines' starts and ends, in time order."""
    query = Query(
        sql="SELECT toString(instance), toString(event), at, ifNull(engine_rank, 0) FROM engine_states FINAL"
        f" WHERE event IN ('started', 'stopped') AND instance != '' AND {_within('at')} ORDER BY at, instance, event, engine_rank",
        parameters=_bounds(window, as_of),
    )
    return [Said(*row) for row in store.rows(query)]


def first_heard(store: Rows, window: Interval, as_of: datetime) -> dict[str, datetime]:
    """Return when each instance's plugin was first heard within `window`."""
    query = Query(
        sql=f"SELECT toString(instance), min(at) FROM engine_states WHERE instance != '' AND {_within('at')} GROUP BY instance",
        parameters=_bounds(window, as_of),
    )
    return {str(instance): at for instance, at in store.rows(query)}


def last_sign(store: Rows, instance: str, window: Interval, as_of: datetime) -> LastSign | None:
    """Return the last that the plugin of `instance` said within `window`, or that it served."""
    query = Query(
        sql="SELECT max(at), argMax(ratio, if(isNull(ratio), fromUnixTimestamp64Micro(0, 'UTC'), at)), count() FROM ("
        " SELECT at, kv_cache_usage_ratio AS ratio FROM engine_states"
        f" WHERE instance = {{instance:String}} AND {_within('at')}"
        " UNION ALL SELECT arrived_at + toIntervalMicrosecond(end_to_end_us), NULL FROM engine_requests"
        f" WHERE instance = {{instance:String}} AND {_within('arrived_at')})",
        parameters={**_bounds(window, as_of), "instance": instance},
    )
    ((at, ratio, rows),) = store.rows(query)
    return LastSign(at=at, kv_cache_usage_ratio=ratio) if rows else None


def outages(store: Rows, window: Interval, as_of: datetime) -> list[Outage]:
    """Return, target by target, the scrapes within `window` that failed in a row."""
    query = Query(
        sql="SELECT toString(target), min(at) AS began_at, max(next_answer), count(), argMin(reason, at) FROM ("
        "SELECT target, scraped_at AS at, up, reason, sum(up) OVER w AS answers,"
        # backwards, so that the engine adds row by row
        " minIf(at, up = 1) OVER (PARTITION BY target ORDER BY scraped_at DESC ROWS UNBOUNDED PRECEDING) AS next_answer"
        " FROM (SELECT target, scraped_at, max(ifNull(whole, 0)) AS up, any(labelled['reason']) AS reason FROM engine_samples"
        f"  WHERE name = 'fairclock:scrape_up' AND {_within('scraped_at')} AND target IN (SELECT target FROM engine_samples"
        f"   WHERE name = 'fairclock:scrape_up' AND whole = 0 AND {_within('scraped_at')}) GROUP BY target, scraped_at)"
        " WINDOW w AS (PARTITION BY target ORDER BY scraped_at)"
        ") WHERE up = 0 GROUP BY target, answers ORDER BY began_at, target",
        parameters=_bounds(window, as_of),
    )
    return [
        Outage(target, began_at, ended_at if ended_at > began_at else None, int(tries), reason)
        for target, began_at, ended_at, tries, reason in store.rows(query)
    ]


def first_arrival(store: Rows, instance: str, window: Interval, as_of: datetime) -> datetime | None:
    """Return when the first request arrived at `instance` within `window` that it then served."""
    query = Query(
        sql=f"SELECT arrived_at FROM engine_requests WHERE instance = {{instance:String}} AND {_within('arrived_at')}"
        " AND finish_reason NOT IN ('abort', 'error') ORDER BY arrived_at LIMIT 1",
        parameters={**_bounds(window, as_of), "instance": instance},
    )
    return _only(store, query)


def first_finish(store: Rows, target: str, window: Interval, as_of: datetime) -> datetime | None:
    """Return when a scrape of `target` within `window` first showed that it had finished a request."""
    query = Query(
        sql="SELECT scraped_at FROM engine_samples WHERE name = 'vllm:request_success' AND target = {target:String}"
        f" AND ifNull(value, 0) > 0 AND {_within('scraped_at')} ORDER BY scraped_at LIMIT 1",
        parameters={**_bounds(window, as_of), "target": target},
    )
    return _only(store, query)


def first_answer(store: Rows, upstream: str, window: Interval, as_of: datetime) -> datetime | None:
    """Return when the first request was received within `window` that `upstream` answered well."""
    query = Query(
        sql=f"SELECT received_at FROM gateway_requests WHERE upstream = {{upstream:String}} AND {_within('received_at')}"
        " AND outcome = 'ok' ORDER BY received_at LIMIT 1",
        parameters={**_bounds(window, as_of), "upstream": upstream},
    )
    return _only(store, query)


def served_by(store: Any, window: Interval, as_of: datetime, *, before: timedelta) -> list[Pair]:
    """Return which instances served the requests to which upstreams, of those that arrived at engines in `window`.

    Requests are told by their trace or their request id, and only those that the gateway sent once; `before` is how
    much earlier a gateway may have received them.
    """
    rows = engine_rows(store, from_us=to_us(window.start), to_us=to_us(window.end), as_of_us=to_us(as_of))
    received = Interval(start=window.start - before, end=window.end)
    gateway = (
        "SELECT DISTINCT toString(upstream) AS upstream, %s AS joined_by FROM gateway_requests"
        f" WHERE {_within('received_at')} AND attempts = 1 AND upstream != '' AND %s"
    )
    engine = (
        f"SELECT toString(instance) AS instance, content_hash, k, %s AS joined_by FROM ({rows.sql}) WHERE %s"
    )
    traced = ("hex(trace_id)", "reinterpretAsUInt128(trace_id) != 0")
    parts = (
        (engine % traced, gateway % traced),
        (engine % ("join_id", "join_id != ''"), gateway % ("request_id", "request_id != ''")),
    )
    joined = " UNION ALL ".join(
        f"SELECT engine.instance AS instance, gateway.upstream AS upstream, engine.content_hash AS hash, engine.k AS k FROM ({one}) AS engine"
        f" INNER JOIN ({other}) AS gateway ON engine.joined_by = gateway.joined_by"
        for one, other in parts
    )
    query = Query(
        sql=f"SELECT instance, upstream, uniqExact(hash, k) FROM ({joined}) GROUP BY instance, upstream ORDER BY instance, upstream",
        parameters={**_bounds(received, as_of), **rows.parameters},
    )
    return [Pair(*row) for row in store.rows(query)]


def gpu_memory_peak(store: Rows, host: str, window: Interval, as_of: datetime) -> tuple[str, float] | None:
    """Return the GPU of `host` whose memory was fullest within `window`, and what part of it was in use."""
    query = Query(
        sql="SELECT toString(gpu), memory_used_bytes_max / memory_total_bytes AS part FROM gpu_samples"
        f" WHERE host = {{host:String}} AND {_within('sampled_at')} AND memory_total_bytes > 0 AND isNotNull(memory_used_bytes_max)"
        " ORDER BY part DESC, gpu LIMIT 1",
        parameters={**_bounds(window, as_of), "host": host},
    )
    found = store.rows(query)
    return (found[0][0], float(found[0][1])) if found else None


def xids(store: Rows, host: str, window: Interval, as_of: datetime) -> list[int]:
    """Return the XIDs that GPUs of `host` reported within `window`, each once."""
    query = Query(
        sql="SELECT DISTINCT code FROM gpu_events WHERE event = 'xid' AND isNotNull(code) AND host = {host:String}"
        f" AND {_within('happened_at')} ORDER BY code",
        parameters={**_bounds(window, as_of), "host": host},
    )
    return [int(row[0]) for row in store.rows(query)]


def _only(store: Rows, query: Query) -> datetime | None:
    found = store.rows(query)
    instant: datetime | None = found[0][0] if found else None
    return instant


def _within(column: str) -> str:
    return (
        f"{column} >= fromUnixTimestamp64Micro({{from_us:Int64}}, 'UTC')"
        f" AND {column} < fromUnixTimestamp64Micro({{to_us:Int64}}, 'UTC') AND first_wins >= {{as_of_wins:UInt64}}"
    )


def _bounds(window: Interval, as_of: datetime) -> dict[str, object]:
    return {
        "from_us": to_us(window.start),
        "to_us": to_us(window.end),
        "as_of_wins": FIRST_WINS_BASE - to_us(as_of),
    }
