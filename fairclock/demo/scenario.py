"""Own the demonstration's small data centre, and what goes wrong in it during a month."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.demo.engine import EngineShape
from fairclock.demo.gateway import GatewayRules, Pool
from fairclock.demo.incidents import Incident, Mishap
from fairclock.demo.tenants import LARGE, SMALL
from fairclock.demo.trace import MODEL as RECORDED

if TYPE_CHECKING:
    from fairclock.demo.month import Month

REQUESTS = 300_000
_LARGE_SHAPE = EngineShape(max_num_seqs=6, step_seconds=0.018, prefill_tokens_per_second=8_000.0)
_SMALL_SHAPE = EngineShape(
    max_num_seqs=6, step_seconds=0.012, sequence_seconds=0.0003, prefill_tokens_per_second=10_000.0
)
_TRACE_SHAPE = EngineShape(
    max_num_seqs=20,
    step_tokens=2_048,
    prefill_tokens_per_second=20_000.0,
    kv_tokens=400_000,
    max_queued=100_000,
)
TRACE_REPLICAS = 2
TRACE_RULES = GatewayRules(read_timeout_seconds=600.0)


def trace_pools(replicas: int) -> tuple[Pool, ...]:
    """Return the engines for recorded arrivals; two of them are just enough for an hour of chat."""
    return (Pool(model=RECORDED, replicas=replicas, shape=_TRACE_SHAPE),)


def pools(*, requests: int) -> tuple[Pool, ...]:
    """Return the engines: enough for `REQUESTS` a month, and as many times more for more."""
    times = max(1, round(requests / REQUESTS))
    return (
        Pool(model=LARGE, replicas=2 * times, shape=_LARGE_SHAPE),
        Pool(model=SMALL, replicas=times, shape=_SMALL_SHAPE),
    )


def incidents(month: Month, *, engines: tuple[Pool, ...]) -> tuple[Incident, ...]:
    """Return a month's mishaps: a cold start, days of short crashes, an outage, a hang, a crash at night.

    They fall on workdays counted from the month's first; replica 0 is the large model's first, the small
    model's first follows the large model's last.
    """
    workdays = month.workdays
    small = engines[0].replicas

    def at(workday: int, hour: int, minute: int) -> float:
        return month.seconds_at(workdays[min(workday, len(workdays) - 1)], hour, minute)

    return (
        # Restarted for a new version just as the exchange opens: cold.
        Incident(at=at(0, 9, 28), mishap=Mishap.CRASH, replica=0, down_seconds=150, cold_seconds=240),
        # Out of memory under whole folders of documents, until the memory setting is corrected.
        *(
            Incident(
                at=at(day, hour, 0),
                mishap=Mishap.CRASH,
                replica=1,
                in_hand=8,
                down_seconds=50,
                cold_seconds=45,
            )
            for day in range(1, 6)
            for hour in (9, 14)
        ),
        # One of two engines is lost in the morning peak; the other carries everything.
        Incident(at=at(6, 9, 52), mishap=Mishap.CRASH, replica=1, down_seconds=1_740, cold_seconds=120),
        # The small model's engine accepts and says nothing, until somebody restarts it.
        Incident(at=at(10, 20, 15), mishap=Mishap.HANG, replica=small, hang_seconds=240),
        Incident(at=at(10, 20, 15) + 240, mishap=Mishap.CRASH, replica=small, down_seconds=900),
        # A crash at night, under the batch job.
        Incident(at=at(13, 2, 10), mishap=Mishap.CRASH, replica=small, down_seconds=180, cold_seconds=150),
    )
