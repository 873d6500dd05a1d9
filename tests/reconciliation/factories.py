"""A probe and what each source says of it, as one story: how long each part took, and how each clock stands."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fairclock.model import Interval
from fairclock.model.probes import Probe, ProbeOutcome
from fairclock.model.sightings import Reconciled, Sighting, Source

START = datetime(2026, 10, 14, 3, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
HOUR = Interval(start=START - timedelta(minutes=30), end=START + timedelta(minutes=30))
FOUR_MINUTES_US = 240_000_000

# what truly happened, in microseconds from the client's first byte on
RECEIVED, ARRIVED, QUEUED, SCHEDULED, FIRST, LAST, RESPONDED, LOGGED, DONE = (
    500, 3_000, 5_000, 405_000, 455_000, 1_055_000, 1_058_000, 1_060_000, 1_060_700,
)  # fmt: skip


def a_probe(number: int = 0, **changes: object) -> Probe:
    """A probe that was answered, one a second, with the service's truth."""
    at = START + number * SECOND
    probe = Probe(
        id=f"asked-{number}",
        target="http://gateway.example",
        outcome=ProbeOutcome.OK,
        intended_at=at,
        sent_at=at,
        prober="prober",
        status=200,
        done_us=DONE,
        first_token_us=FIRST + 1_000,
        engine="engine",
        engine_arrived_at=at + ARRIVED * MICROSECOND,
        engine_end_to_end_us=RESPONDED - ARRIVED,
        engine_queue_us=SCHEDULED - QUEUED,
        engine_prefill_us=FIRST - SCHEDULED,
        engine_decode_us=LAST - FIRST,
        engine_first_token_us=FIRST - ARRIVED,
    )
    return replace(probe, **changes)  # type: ignore[arg-type]


def sightings(
    number: int = 0, *, ahead_us: dict[Source, int] | None = None, without: tuple[Source, ...] = ()
) -> tuple[Sighting, ...]:
    """What all sources see of one probe; the clock of some is `ahead_us` of the others'."""
    ahead = ahead_us or {}
    spans = {
        Source.CLIENT: (0, DONE),
        Source.GATEWAY: (RECEIVED, LOGGED),
        Source.SPAN: (ARRIVED, LAST + 1_000),
        Source.PLUGIN: (ARRIVED, LAST + 1_000),
        Source.TRUTH: (ARRIVED, RESPONDED),
    }
    of_engine = {"queue_us": SCHEDULED - QUEUED, "prefill_us": FIRST - SCHEDULED, "decode_us": LAST - FIRST}
    return tuple(
        Sighting(
            source=source,
            instance=source.value,
            began_at=START + number * SECOND + (began + ahead.get(source, 0)) * MICROSECOND,
            end_to_end_us=ended - began,
            **(of_engine if source in {Source.SPAN, Source.PLUGIN, Source.TRUTH} else {}),
        )
        for source, (began, ended) in spans.items()
        if source not in without
    )


def reconciled(number: int = 0, *, probe: dict[str, object] | None = None, **told: object) -> Reconciled:
    """A probe and its sightings."""
    return Reconciled(
        probe=a_probe(number, **(probe or {})),
        at=START,
        sightings=sightings(number, **told),  # type: ignore[arg-type]
    )


def gateway_line(number: int = 0, *, ahead_us: int = 0, **changes: object) -> bytes:
    """The probe in nginx's log, which has milliseconds."""
    ended = START + number * SECOND + (LOGGED + ahead_us) * MICROSECOND
    keys = {
        "time": f"{ended.timestamp():.3f}",
        "request_id": f"asked-{number}",
        "tenant": "",
        "method": "POST",
        "uri": "/v1/completions",
        "status": "200",
        "request_time": f"{(LOGGED - RECEIVED) / 1e6:.3f}",
        "request_completion": "OK",
        "upstream_addr": "10.0.0.1:8000",
        "upstream_status": "200",
        "upstream_response_time": "1.056",
        "server": "gw",
    }
    return json.dumps({**keys, **changes}).encode()


def engine_line(number: int = 0, *, reporter: str = "span", ahead_us: int = 0, **changes: object) -> bytes:
    """The probe as a span or the plugin told it."""
    began = START + number * SECOND + (ARRIVED + ahead_us) * MICROSECOND
    began_ns = int((began - datetime(1970, 1, 1, tzinfo=UTC)) / MICROSECOND) * 1_000
    spent_us = LAST + 1_000 - ARRIVED
    keys = {
        "span_id": f"{number + 1:016x}" if reporter == "span" else "",
        "start_ns": str(began_ns),
        "end_ns": str(began_ns + spent_us * 1_000),
        "instance": "engine",
        "request_id": f"cmpl-asked-{number}-0",
        "reporter": reporter,
        "e2e": spent_us / 1e6,
        "queue": (SCHEDULED - QUEUED) / 1e6,
        "prefill": (FIRST - SCHEDULED) / 1e6,
        "decode": (LAST - FIRST) / 1e6,
        "inference": (LAST - SCHEDULED) / 1e6,
        "prompt_tokens": 20,
        "completion_tokens": 30,
    }
    return json.dumps({**keys, **changes}).encode()
