"""An incident of which everything can be told, to be changed by whoever asks."""

from __future__ import annotations

from typing import Any

from sla.incidents.observations import (
    EngineHappening,
    Fill,
    GpuEvent,
    Life,
    Observed,
    Phases,
    Point,
    Stretch,
    Throttled,
)

MINUTE_US = 60_000_000
HOUR_US = 60 * MINUTE_US
START_US = 100 * HOUR_US


def observed(**changes: Any) -> Observed:
    """Return what was seen of ten bad minutes, nothing of it out of the ordinary but that half of the time was waiting."""
    seen: dict[str, Any] = {
        "start_us": START_US,
        "end_us": START_US + 10 * MINUTE_US,
        "during": Stretch(minutes=12, requests=120, own=60, busiest=12, waited=100, inference_us=HOUR_US),
        "before": Stretch(minutes=10, requests=100, own=50, busiest=11, waited=90, inference_us=HOUR_US),
        "over": Phases(requests=40, known=30, elapsed_us=100, queue_us=50, inference_us=40),
        "usual": Phases(requests=100, known=90, elapsed_us=100, queue_us=1, inference_us=90),
        "outcomes": {"ok": 40},
    }
    return Observed(**(seen | changes))


def a_life(*medians: int, step_us: int = 10 * MINUTE_US, requests: int = 5, **changes: Any) -> Life:
    """Return an engine's times, piece by piece up to the incident's end."""
    first_us = START_US - len(medians) * step_us
    points = tuple(
        Point(at_us=first_us + place * step_us, requests=requests, median_us=median)
        for place, median in enumerate(medians)
    )
    return Life(
        **({"engine": "engine-1", "since_us": first_us, "knows_start": True, "points": points} | changes)
    )


def everything() -> list[Observed]:
    """Return incidents of which, together, every kind of evidence can be told."""
    return [
        observed(
            outcomes={"ok": 3, "timeout": 30, "server_error": 7},
            during=Stretch(
                minutes=12, requests=2400, own=600, busiest=400, refused=900, repeated=1000, prompt_tokens=1_000_000,
                long_tokens=900_000, short=50, short_us=100_000_000, waited=100, waiting_us=1, inference_us=HOUR_US,
            ),
            before=Stretch(minutes=10, requests=100, short=50, short_us=10_000_000, is_read=True),
            fills=(Fill(engine="10.0.0.1:8000", peak=0.97, scrapes=40, full_scrapes=12, before=None),),
            preemptions=12,
            preemptions_before=None,
            gpu_events=(GpuEvent(event="xid", gpu="GPU-a", code=79, times=2, first_us=START_US - MINUTE_US),),
            throttled=(Throttled(gpu="GPU-a", seconds=300, measured=700, measured_before=600),),
            engine_happenings=(
                EngineHappening(kind="vanished", engine="e", at_us=START_US),
                EngineHappening(kind="started", engine="e", at_us=START_US, until_us=START_US + MINUTE_US),
            ),
            lives=(a_life(*range(100, 1100, 100)),),
            minutes=(a_life(*([900] + [100] * 9) * 6, step_us=MINUTE_US),),
        ),
        observed(over=Phases(requests=4, known=3, elapsed_us=100, queue_us=0, inference_us=99)),
        observed(over=Phases(requests=4, known=3, elapsed_us=100, queue_us=0, inference_us=1)),
        observed(
            during=Stretch(minutes=12, requests=100, waited=90, waiting_us=90_000_000, inference_us=MINUTE_US)
        ),
    ]  # fmt: skip
