"""Usage for tests: what one small request used, changed by name."""

from datetime import UTC, datetime, timedelta

from billing.usage import Treatment, Usage

START = datetime(2026, 10, 1, tzinfo=UTC)


def usage(*, hour=0, minute=0, treatment="completed", gpu_seconds=None, **changes) -> Usage:
    """Return the usage received from an hour (and minute) after the first of October on."""
    start = START + timedelta(hours=hour, minutes=minute)
    values = {
        "tenant": "acme",
        "hour": START + timedelta(hours=hour),
        "start": start,
        "end": START + timedelta(hours=hour + 1),
        "model": "small",
        "length_class": "short",
        "inference_mode": "fp16",
        "machine": "H200",
        "treatment": Treatment(treatment),
        "estimated": False,
        "requests": 0,
        "uncached_prompt_tokens": 0,
        "cached_prompt_tokens": 0,
        "completion_tokens": 0,
        "gpu_picoseconds": 0 if gpu_seconds is None else int(gpu_seconds * 10**12),
        "peak_kv_tokens": 0,
    }
    return Usage(**(values | changes))
