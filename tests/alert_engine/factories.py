"""Probes, traffic and contracts, each good until a test changes something."""

from __future__ import annotations

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
