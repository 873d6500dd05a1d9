"""Own how engines' lives are read back: their processes, their ends, how full the KV cache was, who fell silent.

For alerts: `kv_cache_usage` says how full each engine's KV cache was over some time, `last_heard` when each target was
last read and since when it contradicts itself. For what happened to engines see `sla.engines.engine_events`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fairclock.model import to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KvCacheUsage:
    """How full one engine's KV cache was at one instant: 0 to 1, of that engine alone, never to be added.

    engine: the `target` of scrapes or the plugin's `instance`; rank: vLLM's number of the engine.
    """

    engine: str
    rank: str
    at: datetime
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What one target last said.

    answered_at: None where no try was answered. failing_since, reason: since the first failed try after the last
    answer, and why. suspect_since: since the first of the contradictions that the last scrapes have; None without any.
    """

    target: str
    tried_at: datetime
    answered_at: datetime | None
    failing_since: datetime | None
    suspect_since: datetime | None
    reason: str


def kv_cache_usage(store: Rows, window: Interval, as_of: datetime) -> list[KvCacheUsage]:
    """Return every reading of a KV cache's use within `window`, by engine, rank and time, as it was known at `as_of`.

    Readings are those of scrapes (every 15 s) and of the plugin (when it changes by 0.01, else once a minute).
    """
    query = Query(
        sql="SELECT engine, rank, at, toFloat64(ratio) FROM ("
        "SELECT toString(target) AS engine, toString(engine_samples.engine) AS rank, scraped_at AS at,"
        " ifNull(fraction, toFloat64(whole)) AS ratio FROM engine_samples FINAL"
        f" WHERE name = 'vllm:kv_cache_usage_perc' AND {_within('scraped_at')}"
        " UNION ALL SELECT toString(instance), toString(ifNull(engine_rank, 0)), at, kv_cache_usage_ratio FROM engine_states FINAL"
        f" WHERE isNotNull(kv_cache_usage_ratio) AND {_within('at')}"
        ") WHERE isNotNull(ratio) ORDER BY engine, rank, at",
        parameters=_bounds(window, as_of),
    )
    return [
        KvCacheUsage(engine=engine, rank=rank, at=at, ratio=ratio)
        for engine, rank, at, ratio in store.rows(query)
    ]


def last_heard(store: Rows, window: Interval, as_of: datetime) -> list[Heard]:
    """Return, of every target that was tried within `window`, what it last said, as it was known at `as_of`.

    A target that is in no row of `window` fell silent before, or is no longer asked: compare with an earlier window.
    """
    query = Query(
        sql="SELECT target, max(scraped_at) AS tried_at, maxIf(scraped_at, up = 1) AS answered_at,"
        " countIf(up = 1) AS answers, minIf(scraped_at, up = 0 AND scraped_at > last_answer) AS failing_since,"
        " countIf(up = 0 AND scraped_at > last_answer) AS failures, argMaxIf(reason, scraped_at, up = 0 AND scraped_at > last_answer)"
        " FROM (SELECT toString(target) AS target, scraped_at, ifNull(whole, 0) AS up, labelled['reason'] AS reason,"
        "  maxIf(scraped_at, ifNull(whole, 0) = 1) OVER (PARTITION BY target) AS last_answer FROM engine_samples FINAL"
        f"  WHERE name = 'fairclock:scrape_up' AND {_within('scraped_at')}) GROUP BY target ORDER BY target",
        parameters=_bounds(window, as_of),
    )
    suspect = _suspect_since(store, window, as_of)
    return [
        Heard(
            target=target,
            tried_at=tried_at,
            answered_at=answered_at if answers else None,
            failing_since=failing_since if failures else None,
            suspect_since=suspect.get(target),
            reason=reason,
        )
        for target, tried_at, answered_at, answers, failing_since, failures, reason in store.rows(query)
    ]


def _suspect_since(store: Rows, window: Interval, as_of: datetime) -> dict[str, datetime]:
    """Return since when those targets contradict themselves whose last answer does."""
    query = Query(
        sql="SELECT target, minIf(scraped_at, is_suspect AND scraped_at > last_sound) FROM ("
        " SELECT target, scraped_at, is_suspect, maxIf(scraped_at, NOT is_suspect) OVER (PARTITION BY target) AS last_sound,"
        "  max(scraped_at) OVER (PARTITION BY target) AS last_at FROM ("
        "  SELECT toString(target) AS target, scraped_at, max(name = 'fairclock:scrape_suspect') AS is_suspect FROM engine_samples"
        f"  WHERE name IN ('fairclock:scrape_suspect', 'fairclock:scrape_samples') AND {_within('scraped_at')}"
        "  GROUP BY target, scraped_at)) GROUP BY target HAVING countIf(is_suspect AND scraped_at = last_at) > 0",
        parameters=_bounds(window, as_of),
    )
    return {str(target): since for target, since in store.rows(query)}


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
