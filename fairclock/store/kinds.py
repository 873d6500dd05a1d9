"""Own what kinds of rows are ingested: the table of each, its columns, and the SQL that makes them of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["gateway", "engine"]

_COMPUTED = {
    "k": "{k:UInt16}",
    "source": "{source:String}",
    "first_wins": "{first_wins:UInt64}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKind:
    """One kind of rows.

    normalisation: the name of the file in ``fairclock/store/sql`` that makes rows of lines. It selects
        `line`, `reason` ('' for a good row, 'blank' for nothing), `event_us`, `time_us`, `content_hash` and every
        column of the table that is not computed here.
    time_column: the column that the table is ordered by first; it is `time_us` in the normalisation, in µs.
    columns: of the table, in order, `time_column`, `content_hash` and `k` first, `source` and `first_wins` last.
    """

    name: Kind
    table: str
    normalisation: str
    time_column: str
    time_us: str
    columns: tuple[str, ...]

    @property
    def staged_columns(self) -> tuple[str, ...]:
        """Return the columns that the normalisation selects."""
        return tuple(name for name in self.columns if name not in _COMPUTED and name != self.time_column)

    @property
    def values(self) -> tuple[str, ...]:
        """Return an expression over the staged rows for each of `columns`."""
        computed = {**_COMPUTED, self.time_column: f"fromUnixTimestamp64Micro({self.time_us}, 'UTC')"}
        return tuple(computed.get(name, name) for name in self.columns)


_GATEWAY = RowKind(
    name="gateway",
    table="gateway_requests",
    normalisation="normalise_gateway",
    time_column="received_at",
    time_us="received_us",
    columns=(
        "received_at", "content_hash", "k", "trace_id", "request_id", "tenant", "method", "route", "model", "region",
        "server", "upstream", "status", "outcome", "error_code", "stream", "inference_mode", "model_version", "priority",
        "finish_reason", "attempts", "responded_us", "connected_us", "forwarded_us", "request_bytes", "bytes_sent",
        "prompt_tokens", "cached_tokens", "completion_tokens", "simulated", "source", "first_wins",
    ),
)  # fmt: skip
_ENGINE = RowKind(
    name="engine",
    table="engine_requests",
    normalisation="normalise_engine",
    time_column="arrived_at",
    time_us="arrived_us",
    columns=(
        "arrived_at", "content_hash", "k", "trace_id", "span_id", "request_id", "join_id", "sequence", "instance", "model",
        "end_to_end_us", "queue_us", "prefill_us", "decode_us", "time_to_first_token_us", "prompt_tokens", "cached_tokens",
        "completion_tokens", "finish_reason", "simulated", "source", "first_wins",
    ),
)  # fmt: skip

KINDS: dict[Kind, RowKind] = {each.name: each for each in (_GATEWAY, _ENGINE)}
