"""Probes, traffic and contracts, each good until a test changes something."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from fairclock.model.probes import Probe, ProbeOutcome

if TYPE_CHECKING:
    from datetime import datetime

_numbers = count(1)


def a_probe(*, at: datetime, outcome: ProbeOutcome = ProbeOutcome.OK, **others: Any) -> Probe:
    """Return a probe of everything, meant to be sent at `at` and sent a millisecond later."""
    values = {"id": f"probe-{next(_numbers)}", "target": "https://gateway.example"} | others
    return Probe(outcome=outcome, intended_at=at, sent_at=at + timedelta(milliseconds=1), **values)


def a_line(
    *, at: datetime, number: int, status: str = "200", seconds: float = 0.2, tenant: str = "acme"
) -> bytes:
    """Return a gateway's line about a request received at `at`."""
    keys = {
        "time": f"{(at + timedelta(seconds=seconds)).timestamp():.3f}",
        "request_id": f"{number:032x}",
        "traceparent": f"00-{number:032x}-{number:016x}-01",
        "tenant": tenant,
        "method": "POST",
        "uri": "/v1/chat/completions",
        "status": status,
        "request_time": f"{seconds:.3f}",
        "request_completion": "OK",
        "upstream_addr": "10.0.0.1:8000",
        "upstream_status": status,
    }
    return json.dumps(keys).encode()
