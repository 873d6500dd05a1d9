"""Own the request explorer: lists of requests, and the whole way of one."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Anchor, Basis, Lack, Range, RangeName
from fairclock.console.readings.models.requests import (
    EngineSequence,
    Mark,
    RequestClock,
    RequestList,
    RequestPage,
    RequestPhase,
    RequestRow,
)
from fairclock.console.readings.ranges import interval_of, resolved
from fairclock.errors import NotShown, UsageError
from fairclock.model import Interval, Outcome, from_us, to_us
from fairclock.store import request_search
from fairclock.store.request_search import ORDERS, find_requests, sequences_of

if TYPE_CHECKING:
    from fairclock.console.readings.protocol import Searched, Wanted
    from fairclock.console.readings.view import View
    from fairclock.store.request_search import FoundRequest, FoundSequence

MOST = 200
_KEY = re.compile(r"([0-9]{1,17})-([0-9a-f]{32})-([0-9]{1,5})", re.ASCII)
_LAST_US = 7_258_118_400_000_000
_GREATEST_K = 65_535
_MICROSECOND = timedelta(microseconds=1)
_REACH = timedelta(minutes=30)
_MICROSECONDS = 1_000_000


def request_list(view: View, wanted: Wanted, searched: Searched) -> RequestList:
    """Return the requests that were asked for, of the tenants the caller may see."""
    _check(searched)
    shown = resolved(wanted, view.as_of)
    tenants = _tenants(view, searched.tenant)
    found = find_requests(
        view.store,
        request_search.Wanted(
            window=interval_of(shown),
            tenants=tenants,
            name=searched.name,
            outcomes=() if searched.outcome is None else (searched.outcome,),
            order=searched.order,
            most=searched.most + 1,
        ),
        view.as_of,
    )
    return RequestList(
        range=shown,
        as_of=view.as_of,
        lacking=(Lack.CUT_SHORT,) if len(found) > searched.most else (),
        order=searched.order,
        tenant=searched.tenant if view.caller.sees_all else view.caller.tenant,
        name=searched.name,
        outcome=searched.outcome,
        requests=tuple(_row(each) for each in found[: searched.most]),
        measured=view.measured(Anchor.REQUESTS, Basis.ROWS),
    )


def request_page(view: View, key: str) -> RequestPage:
    """Return one request by its key; another tenant's is as if it were not there."""
    missing = NotShown("request", "there is none of that key here", remedy="search for it")
    match = _KEY.fullmatch(key)
    if match is None:
        raise missing
    received_us, content_hash, k = int(match[1]), int(match[2], 16), int(match[3])
    if received_us >= _LAST_US or k > _GREATEST_K:
        raise missing
    received = from_us(received_us)
    window = Interval(start=received, end=received + _MICROSECOND)
    found = find_requests(
        view.store,
        request_search.Wanted(
            window=window, tenants=_tenants(view, None), identity=(content_hash, k), most=1
        ),
        view.as_of,
    )
    if not found:
        raise missing
    return _page(view, found[0], window)


def _check(searched: Searched) -> None:
    if searched.order not in ORDERS:
        raise UsageError(
            "order", "is none that is known", found=searched.order[:100], remedy=f"write {', '.join(ORDERS)}"
        )
    if searched.outcome is not None and searched.outcome not in set(Outcome):
        known = ", ".join(str(each) for each in Outcome)
        raise UsageError(
            "outcome", "there is no such outcome", found=searched.outcome[:100], remedy=f"write {known}"
        )
    if not 1 <= searched.most <= MOST:
        raise UsageError(
            "most", "is no number of requests", found=str(searched.most), remedy=f"ask for 1 to {MOST}"
        )


def _tenants(view: View, wanted: str | None) -> tuple[str, ...] | None:
    if view.caller.sees_all:
        return None if wanted is None else (wanted,)
    tenant = view.caller.tenant
    if tenant is None or wanted not in {None, tenant}:
        raise NotShown("tenant", "there is none of that name here", remedy="leave it out")
    return (tenant,)


def _row(found: FoundRequest) -> RequestRow:
    return RequestRow(
        key=f"{to_us(found.received_at)}-{found.content_hash:032x}-{found.k}",
        request_id=found.request_id,
        trace_id=found.trace_id,
        tenant=found.tenant,
        received_at=found.received_at,
        model=found.model,
        route=found.route,
        outcome=found.outcome,
        status=found.status,
        end_to_end_seconds=found.end_to_end_us / _MICROSECONDS,
        queue_seconds=_seconds(found.queue_us),
        excluding_queue_seconds=(found.end_to_end_us - (found.queue_us or 0)) / _MICROSECONDS,
        time_to_first_token_seconds=_seconds(found.time_to_first_token_us),
        attempts=found.attempts,
        engine=found.engine,  # type: ignore[arg-type]  # the store's four words
    )


def _page(view: View, found: FoundRequest, window: Interval) -> RequestPage:
    around = Interval(
        start=found.received_at - _REACH,
        end=found.received_at + timedelta(microseconds=max(found.end_to_end_us, 0)) + _REACH,
    )
    sequences = sequences_of(
        view.store, trace_id=found.trace_id, request_id=found.request_id, window=around, as_of=view.as_of
    )
    # ids come from clients: without a trace id, what is not this request's for certain may be another tenant's
    if not found.trace_id:
        sequences = [each for each in sequences if _is_final(found, each)]
    return RequestPage(
        range=Range(name=RangeName.CUSTOM, starts_at=window.start, ends_at=window.end, elapsed_to=window.end),
        as_of=view.as_of,
        lacking=() if found.engine == "joined" else (Lack.NOT_JOINED,),
        request=_row(found),
        region=found.region,
        upstream=found.upstream if view.caller.sees_all else "",
        error_code=found.error_code,
        stream=None if found.stream is None else bool(found.stream),
        inference_mode=found.inference_mode,
        model_version=found.model_version,
        prompt_tokens=found.prompt_tokens,
        cached_tokens=found.cached_tokens,
        completion_tokens=found.completion_tokens,
        marks=marks_of(found),
        phases=phases_of(found),
        clocks=clocks_of(found),
        sequences=tuple(
            _sequence(each, is_final=_is_final(found, each), names_machines=view.caller.sees_all)
            for each in sequences
        ),
        flags=_flags(found, sequences),
        measured=view.measured(Anchor.REQUESTS, Basis.ROWS),
    )


def marks_of(found: FoundRequest) -> tuple[Mark, ...]:
    """Return every mark as the time since `received`.

    An engine's marks follow from durations: its first token came `time_to_first_token` after `received`, it was
    scheduled `prefill` before that and finished `decode` after. When it was queued at the engine is not known apart
    from waiting at the gateway and in other attempts.
    """
    first = found.time_to_first_token_us
    joined = found.engine == "joined"
    prefill, decode = found.prefill_us, found.decode_us
    alone = joined and first is not None
    gateway = {
        "connected": None if found.connected_us is None else -found.connected_us,
        "received": 0,
        "forwarded": found.forwarded_us,
    }
    engine = {
        "arrived": found.forwarded_us if alone else None,
        "queued": None,
        "scheduled": first - prefill if alone and first is not None and prefill is not None else None,
        "first_token": first,
        "last_token": first + decode if alone and first is not None and decode is not None else None,
    }
    return (
        *(_mark(name, value, "gateway") for name, value in gateway.items()),
        *(_mark(name, value, "engine") for name, value in engine.items()),
        _mark("responded", found.end_to_end_us, "gateway"),
    )


def phases_of(found: FoundRequest) -> tuple[RequestPhase, ...]:
    """Return the five phases, which add up to the whole way; all of it unmeasured where no engine's row was joined."""
    whole = found.end_to_end_us
    known = (found.frontend_us, found.queue_us, found.prefill_us, found.decode_us)
    if any(each is None for each in known):
        return (_phase("unmeasured", whole, whole),)
    frontend, queue, prefill, decode = (each or 0 for each in known)
    network = whole - frontend - queue - prefill - decode
    return (
        _phase("network", network, whole),
        _phase("frontend", frontend, whole),
        _phase("queue", queue, whole),
        _phase("prefill", prefill, whole),
        _phase("decode", decode, whole),
    )


def clocks_of(found: FoundRequest) -> tuple[RequestClock, ...]:
    """Return every clock that starts at `received`, as `sla.evaluation.clocks` defines it."""
    whole, prefill, decode = found.end_to_end_us, found.prefill_us, found.decode_us
    inference = None if prefill is None or decode is None else prefill + decode
    gaps = None if found.decode_tokens is None or found.decode_tokens <= 1 else found.decode_tokens - 1
    values = {
        "end_to_end": whole,
        "excluding_queue": whole - (found.queue_us or 0),
        "queue": found.queue_us,
        "inference": inference,
        "prefill": prefill,
        "decode": decode,
        "outside": None if inference is None else whole - inference,
        "time_to_first_token": found.time_to_first_token_us,
        "time_per_output_token": None if gaps is None or decode is None else -(-decode // gaps),
    }
    return tuple(RequestClock(clock=name, seconds=_seconds(value)) for name, value in values.items())


def _is_final(found: FoundRequest, sequence: FoundSequence) -> bool:
    """Return whether a sequence gives the request's clocks: it has its phases, to the microsecond."""
    return (
        found.engine == "joined"
        and sequence.prefill_us == found.prefill_us
        and sequence.decode_us == found.decode_us
    )


def _flags(found: FoundRequest, sequences: list[FoundSequence]) -> tuple[str, ...]:
    said = {
        "simulated": bool(found.simulated),
        "quarantined": found.engine == "quarantined",
        "ambiguous": found.engine == "ambiguous",
        "unconfirmed": found.outcome == Outcome.OK and found.engine != "joined",
        "retried": found.attempts > 1,
        "preempted": any(each.preemptions for each in sequences),
    }
    return tuple(name for name, holds in said.items() if holds)


def _sequence(found: FoundSequence, *, is_final: bool, names_machines: bool) -> EngineSequence:
    return EngineSequence(
        instance=found.instance if names_machines else "",
        request_id=found.request_id,
        sequence=found.sequence,
        arrived_at=found.arrived_at,
        end_to_end_seconds=_seconds(found.end_to_end_us),
        queue_seconds=_seconds(found.queue_us),
        prefill_seconds=_seconds(found.prefill_us),
        decode_seconds=_seconds(found.decode_us),
        preemptions=found.preemptions,
        completion_tokens=found.completion_tokens,
        finish_reason=found.finish_reason,
        reporter=found.reporter,
        is_final=is_final,
    )


def _mark(name: str, value_us: int | None, side: str) -> Mark:
    return Mark(mark=name, after_seconds=_seconds(value_us), measured_by=side)  # type: ignore[arg-type]


def _phase(name: str, value_us: int, whole_us: int) -> RequestPhase:
    return RequestPhase(
        phase=name,  # type: ignore[arg-type]
        seconds=value_us / _MICROSECONDS,
        share_ratio=value_us / whole_us if whole_us else None,
    )


def _seconds(value_us: int | None) -> float | None:
    return None if value_us is None else value_us / _MICROSECONDS
