"""Own how requests are read one after the other as they came into the store, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fairclock.model import Interval, from_us, to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

COLUMNS = (
    "received_at", "request_id", "content_hash", "k", "tenant", "model", "route", "region", "upstream", "status", "outcome",
    "error_code", "stream", "inference_mode", "model_version", "attempts", "end_to_end_us", "forwarded_us", "queue_us",
    "prefill_us", "decode_us", "time_to_first_token_us", "prompt_tokens", "cached_tokens", "completion_tokens", "engine",
    "simulated",
)  # fmt: skip


class Requests(Protocol):
    """A store of joined requests; `fairclock.store.Store` is one."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""

    def requests_as_of(self, window: Interval, as_of: datetime) -> Query:
        """Return the query for the joined requests received in `window`, as they were known at `as_of`."""


class Place(NamedTuple):
    """Where a request stands in the order in which requests were first stored (µs since 1970, then by content)."""

    stored_us: int
    content_hash: int = 0
    k: int = -1


class Arrived(NamedTuple):
    """Requests that came, by the names of `COLUMNS` and `trace_id` ('' for none); where the last stands, and whether it was all."""

    requests: list[dict[str, Any]]
    last: Place
    is_all: bool


def arrived(
    store: Requests, after: Place, *, until: datetime, since: datetime, as_of: datetime, most: int
) -> Arrived:
    """Return the requests that were first stored after a place and up to `until`, at most `most`, as known at `as_of`.

    Those received before `since` are passed over.
    """
    found = store.rows(
        Query(
            sql="SELECT toUnixTimestamp64Micro(received_at), content_hash, k, {base:UInt64} - max(first_wins) AS stored_us"
            " FROM gateway_requests WHERE received_at >= fromUnixTimestamp64Micro({since:Int64}, 'UTC')"
            " GROUP BY received_at, content_hash, k"
            " HAVING stored_us <= {until:UInt64} AND (stored_us, content_hash, k) > ({stored:UInt64}, {hash:UInt128}, {k:Int32})"
            " ORDER BY stored_us, content_hash, k LIMIT {most:UInt32}",
            parameters={
                "base": FIRST_WINS_BASE,
                "since": to_us(since),
                "until": to_us(until),
                "stored": after.stored_us,
                "hash": after.content_hash,
                "k": after.k,
                "most": most,
            },
        )
    )
    if not found:
        return Arrived([], max(after, Place(to_us(until), (1 << 128) - 1, (1 << 16) - 1)), is_all=True)
    keys = [(int(received_us), int(hash_), int(k)) for received_us, hash_, k, _ in found]
    last = Place(int(found[-1][3]), keys[-1][1], keys[-1][2])
    instants = [each[0] for each in keys]
    rows = store.requests_as_of(Interval(start=from_us(min(instants)), end=from_us(max(instants) + 1)), as_of)
    joined = store.rows(
        Query(
            sql=f"SELECT if(reinterpretAsUInt128(trace_id) = 0, '', lower(hex(trace_id))), {', '.join(COLUMNS)}"
            f" FROM ({rows.sql}) WHERE content_hash IN {{hashes:Array(UInt128)}}",
            parameters={**rows.parameters, "hashes": sorted({each[1] for each in keys})},
        )
    )
    by_key: dict[tuple[int, int, int], dict[str, Any]] = {}
    for trace_id, *values in joined:
        row = {"trace_id": trace_id, **dict(zip(COLUMNS, values, strict=True))}
        by_key[to_us(row["received_at"]), int(row["content_hash"]), int(row["k"])] = row
    return Arrived([by_key[key] for key in keys if key in by_key], last, is_all=len(found) < most)


def passed_over(store: Requests, after: Place, *, until: datetime, since: datetime) -> int:
    """Return how many requests were first stored after a place and up to `until` that were received before `since`."""
    found = store.rows(
        Query(
            sql="SELECT count() FROM (SELECT received_at, content_hash, k, max(first_wins) AS first FROM gateway_requests"
            " WHERE received_at < fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND first_wins >= {until_wins:UInt64}"
            " AND first_wins < {after_wins:UInt64} GROUP BY received_at, content_hash, k)",
            parameters={
                "since": to_us(since),
                "until_wins": FIRST_WINS_BASE - to_us(until),
                "after_wins": FIRST_WINS_BASE - after.stored_us,
            },
        )
    )
    return int(found[0][0])
