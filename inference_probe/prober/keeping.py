"""Own a run's way into the store: an observation as a row of `probe_requests`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from fairclock.model import from_us
from fairclock.model.probes import Probe
from inference_probe.prober.lateness import STOPPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from inference_probe.prober.observations import Observation
    from inference_probe.prober.result_files import Result

_US = 1_000_000


def probe_rows(result: Result, *, tenant: str, prober: str, name: str = "") -> Iterator[Probe]:
    """Yield a row a probe. tenant: whom they speak for; empty: everybody. Those of a loop that was closed are rows too.

    A probe whose run was ended before its time is none: nobody failed to send it.
    """
    header = result.header
    begun = datetime.fromtimestamp(0, UTC) + timedelta(seconds=float(header["started_at"]))
    for seen in result.seen:
        if not (seen.sent is None and seen.error == STOPPED):
            yield _row(seen, header, begun, tenant=tenant, prober=prober, name=name)


def _row(
    seen: Observation,
    header: Mapping[str, Any],
    begun: datetime,
    *,
    tenant: str,
    prober: str,
    name: str,
) -> Probe:
    def since_sent(instant: float | None) -> int | None:
        return None if instant is None or seen.sent is None else round((instant - seen.sent) * _US)

    truth = seen.truth or {}
    return Probe(
        id=seen.request_id,
        target=str(header["endpoints"].get(seen.version) or header["endpoint"]),
        outcome=seen.outcome,
        intended_at=begun + timedelta(seconds=seen.intended),
        sent_at=None if seen.sent is None else begun + timedelta(seconds=seen.sent),
        probe=name,
        prober=prober,
        tenant=tenant,
        model=str(header["model"]),
        stream=bool(header["stream"]),
        status=seen.status or 0,
        error=seen.error or "",
        first_token_us=since_sent(seen.first_token),
        done_us=since_sent(seen.done),
        prompt_tokens=seen.prompt_tokens,
        completion_tokens=seen.completion_tokens,
        engine_request_id=str(truth.get("engine_request_id") or ""),
        run=str(header["run"]),
        number=seen.number,
        mode=str(header["mode"]),
        trace_id=seen.trace_id,
        inference_mode=seen.inference_mode,
        connected_us=since_sent(seen.connected),
        secured_us=since_sent(seen.secured),
        first_byte_us=since_sent(seen.first_byte),
        first_reasoning_token_us=since_sent(seen.first_reasoning_token),
        cached_tokens=seen.cached_tokens,
        finish_reason=seen.finish_reason,
        engine_arrived_at=_wall(truth.get("wall_arrived")),
        repetition_ratio=seen.repetition_ratio,
        numbers_copied_ratio=seen.numbers_copied_ratio,
        invalid_output=seen.invalid_output,
        engine_queue_us=_between(truth, "queued", "scheduled"),
        engine_prefill_us=_between(truth, "scheduled", "first_token"),
        engine_decode_us=_between(truth, "first_token", "last_token"),
        engine_first_token_us=_between(truth, "arrived", "first_token"),
        engine_end_to_end_us=_between(truth, "arrived", "responded"),
    )


def _between(truth: Mapping[str, Any], begin: str, end: str) -> int | None:
    """Return what lies between two marks of the service's one clock, in microseconds; None where a mark is missing or none (zero), or they are the wrong way round."""
    first, last = truth.get(begin), truth.get(end)
    if not isinstance(first, int | float) or not isinstance(last, int | float) or not first or last < first:
        return None
    return round((last - first) * _US)


def _wall(epoch_seconds: Any) -> datetime | None:
    return from_us(round(epoch_seconds * _US)) if isinstance(epoch_seconds, int | float) else None
