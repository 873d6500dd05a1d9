"""Things said about exclusions, each good until a test changes something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from fairclock.model import Interval
from fairclock.model.remedies import ExclusionEntry, ExclusionState
from sla.exclusions import Cap, ClauseRule, MonthSpan

HOUR = timedelta(hours=1)
HOUR_US = 3_600_000_000
OCTOBER = Interval(
    start=datetime(2026, 9, 30, 16, tzinfo=UTC), end=datetime(2026, 10, 31, 16, tzinfo=UTC)
)  # in Asia/Shanghai
START = datetime(2026, 10, 11, 2, tzinfo=UTC)


def at(text: str) -> datetime:
    """Return an instant of 2026 written 10-11 02:30 in UTC, or as ISO 8601."""
    return datetime.fromisoformat(text if "T" in text else f"2026-{text.replace(' ', 'T')}+00:00").astimezone(
        UTC
    )


def between(start: str, end: str) -> Interval:
    return Interval(start=at(start), end=at(end))


def a_proposal(**changes: Any) -> ExclusionEntry:
    """Return two hours of maintenance, announced four days before, recorded then."""
    start = changes.get("starts_at", START)
    said = {
        "id": "ex-1",
        "sequence": 1,
        "contract": "acme-2026",
        "clause": "maintenance",
        "state": ExclusionState.PROPOSED,
        "starts_at": start,
        "ends_at": start + 2 * HOUR,
        "time_zone": "Asia/Shanghai",
        "reason": "new disks",
        "notice_at": start - 96 * HOUR,
        "notice_to": ("sla@acme.example",),
        "answer_by": start + 720 * HOUR,
        "author": "Ops",
        "stored_at": start - 96 * HOUR,
    }
    return ExclusionEntry(**(said | changes))


def an_answer(proposal: ExclusionEntry, state: str, when: datetime, **changes: Any) -> ExclusionEntry:
    """Return what the customer, or the provider, said of a proposal."""
    from dataclasses import replace

    return replace(
        proposal,
        **{"sequence": 2, "state": ExclusionState(state), "author": "Zhang", "stored_at": when} | changes,
    )


def rules(**changes: ClauseRule) -> dict[str, ClauseRule]:
    """Return the clauses of the example contract."""
    return {
        "maintenance": ClauseRule(
            name="maintenance",
            cap=Cap(duration_us=4 * HOUR_US),
            notice_us=72 * HOUR_US,
            notice_to=("sla@acme.example",),
        ),
        "cold_start": ClauseRule(name="cold_start", cap=Cap(duration_us=HOUR_US // 2)),
        "force_majeure": ClauseRule(name="force_majeure"),
    } | changes


def a_month(period: Interval = OCTOBER, **changes: Any) -> MonthSpan:
    """Return a whole month that has passed."""
    span = {"period": period, "elapsed": period, "whole_us": period.length_us, "is_prorated": True}
    return MonthSpan(**(span | changes))
