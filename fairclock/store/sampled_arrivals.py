"""Own the choice of a small share of the gateway's arrivals: when they came and how long they were, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model.probes import REQUEST_IDS
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledArrival:
    """One request that came; lengths in tokens, None where nobody said."""

    received_at: datetime
    prompt_tokens: int | None
    completion_tokens: int | None


def sampled_arrivals(
    store: Store, window: Interval, *, as_of: datetime, share: float, without: Collection[str]
) -> list[SampledArrival]:
    """Return a `share` (0 to 1) of the requests received in `window`, in time order, without probes.

    Those are of the tenants `without`, or have a probe's id: where a gateway takes them for somebody else's, a shadow would
    repeat itself. Which ones follows from their content's hash: the same ones each time it is asked.
    """
    joined = store.requests_as_of(window, as_of)
    rows = store.rows(
        Query(
            sql="SELECT received_at, prompt_tokens, completion_tokens"
            f" FROM ({joined.sql}) WHERE sipHash64(content_hash, k) % {{sampled_of:UInt64}} < {{sampled:UInt64}}"
            " AND NOT has({sampled_without:Array(String)}, tenant) AND NOT match(request_id, {sampled_probes:String}) ORDER BY received_at, content_hash, k",
            parameters={
                **joined.parameters,
                "sampled_of": _MILLION,
                "sampled": round(share * _MILLION),
                "sampled_without": sorted(without),
                "sampled_probes": REQUEST_IDS,
            },
        )
    )
    return [
        SampledArrival(received_at=at, prompt_tokens=prompt, completion_tokens=completion)
        for at, prompt, completion in rows
    ]
