"""A month judged by hand: plain Python over lists, written from the contract's words alone.

Nothing of the product's arithmetic is used. Clauses come as parsed values; everything else is recomputed, row
by row, with sorted lists and fractions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from tests.evaluation.factories import Request

ENDINGS = (
    "ok",
    "incomplete",
    "substituted",
    "client_error",
    "quota_rejected",
    "capacity_rejected",
    "server_error",
    "timeout",
    "client_aborted",
)
LAST = 10**18
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def local_midnight(day: date, zone: str) -> datetime:
    return datetime.combine(day, time(0), ZoneInfo(zone)).astimezone(UTC)


def month_bounds(month: str, zone: str) -> tuple[datetime, datetime]:
    year, number = map(int, month.split("-"))
    first = date(year, number, 1)
    after = date(year + number // 12, number % 12 + 1, 1)
    return local_midnight(first, zone), local_midnight(after, zone)


def clock_us(request: Request, clock: str, start: str) -> Fraction | None:
    elapsed = request.end_to_end_us
    if start == "connected" and request.connected_us is not None:
        elapsed += request.connected_us
    known = {
        "end_to_end": elapsed,
        "excluding_queue": elapsed - (request.queue_us or 0),
        "queue": request.queue_us,
        "prefill": request.prefill_us,
        "decode": request.decode_us,
        "time_to_first_token": request.time_to_first_token_us,
    }
    if request.prefill_us is not None:
        known["inference"] = request.prefill_us + request.decode_us
        known["outside"] = elapsed - request.prefill_us - request.decode_us
        if request.decode_tokens is not None and request.decode_tokens > 1:
            known["time_per_output_token"] = Fraction(request.decode_us, request.decode_tokens - 1)
    value = known.get(clock)
    return None if value is None else Fraction(value)


def judged_values(
    requests: list[Request], clock: str, threshold_us: int, start: str
) -> tuple[list[Fraction], int, int]:
    """Return the values that judge, how many are over without one, how many are unknown."""
    values: list[Fraction] = []
    unanswered = unknown = 0
    for request in requests:
        value = clock_us(request, clock, start)
        ending = request.outcome
        if ending == "ok" or (
            clock in ("queue", "prefill", "time_to_first_token")
            and ending in ("timeout", "substituted", "incomplete", "client_aborted")
        ):
            if value is None:
                unknown += 1
            else:
                values.append(value)
        elif ending in ("timeout", "substituted", "incomplete"):
            unanswered += 1
        elif ending == "client_aborted":
            elapsed = clock_us(request, "end_to_end", start)
            unanswered += elapsed > threshold_us
    return values, unanswered, unknown


def nearest_rank(ordered: list[int], percentile: Fraction) -> int:
    """Return the ceil(p·n/100)-th smallest of a sorted list."""
    n = len(ordered)
    k = percentile * n / 100
    rank = k.numerator // k.denominator + (k.denominator != 1)
    return ordered[rank - 1]


def up_to_us(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


@dataclass(frozen=True)
class Expected:
    n: int
    violations: int
    unknown: int
    value: float | None
    kept: bool


def latency(
    requests: list[Request],
    *,
    clock: str,
    percentile: Fraction,
    threshold_us: int,
    start: str,
    unknown_clock: str,
) -> Expected:
    values, unanswered, unknown = judged_values(requests, clock, threshold_us, start)
    last = unanswered + (unknown if unknown_clock == "bad" else 0)
    ordered = sorted([up_to_us(value) for value in values]) + [LAST] * last
    over = sum(value > threshold_us for value in values) + last
    value = nearest_rank(ordered, percentile) if ordered else LAST
    return Expected(
        n=len(ordered),
        violations=over,
        unknown=unknown,
        value=None if value == LAST else value / 1_000_000,
        kept=bool(ordered) and 100 * over <= (100 - percentile) * len(ordered),
    )


def below_quota(
    refused: Request, everyone: list[Request], requests_limit: int | None, tokens_limit: int | None
) -> bool:
    used = [
        other
        for other in everyone
        if other.tenant == refused.tenant
        and other.outcome not in ("quota_rejected", "capacity_rejected")
        and refused.received_at - timedelta(seconds=60) < other.received_at <= refused.received_at
    ]
    tokens = sum((other.prompt_tokens or 0) + (other.completion_tokens or 0) for other in used)
    return (requests_limit is None or len(used) < requests_limit) and (
        tokens_limit is None or tokens < tokens_limit
    )


def in_daily_span(request: Request, zone: str, days: tuple[str, ...], start: str, end: str) -> bool:
    """Say whether a request lies in a span of its local day; an hour that comes twice counts twice."""
    local = request.received_at.astimezone(ZoneInfo(zone))
    day = local.date()
    first = datetime.combine(day, time.fromisoformat(start), ZoneInfo(zone)).replace(fold=0)
    if end == "24:00":
        last = local_midnight(day + timedelta(days=1), zone)
    else:
        last = datetime.combine(day, time.fromisoformat(end), ZoneInfo(zone)).replace(fold=1)
    inside = first.astimezone(UTC) <= request.received_at < last.astimezone(UTC)
    return _DAYS[local.weekday()] in days and inside


def display(requests: list[Request], clock: str, start: str) -> dict[str, Any]:
    values = sorted(
        up_to_us(value)
        for request in requests
        if request.outcome == "ok" and (value := clock_us(request, clock, start)) is not None
    )
    if not values:
        return {"n": 0, "p50": None, "p95": None, "p99": None, "max": None}
    return {
        "n": len(values),
        **{f"p{p}": nearest_rank(values, Fraction(p)) / 1_000_000 for p in (50, 95, 99)},
        "max": values[-1] / 1_000_000,
    }


def endings(requests: list[Request]) -> dict[str, int]:
    counted = Counter(request.outcome for request in requests)
    return {ending: counted[ending] for ending in ENDINGS}


def daily_spans(
    start: datetime, end: datetime, zone: str, first: str, last: str
) -> list[tuple[datetime, datetime]]:
    """Return a daily span's instants within a month; what does not exist is the instant after the gap."""
    spans = []
    day = start.astimezone(ZoneInfo(zone)).date() - timedelta(days=1)
    while day <= end.astimezone(ZoneInfo(zone)).date():
        low = existing(datetime.combine(day, time.fromisoformat(first), ZoneInfo(zone)), fold=0)
        high = existing(datetime.combine(day, time.fromisoformat(last), ZoneInfo(zone)), fold=1)
        low, high = max(low, start), min(high, end)
        if low < high:
            spans.append((low, high))
        day += timedelta(days=1)
    return spans


def existing(local: datetime, *, fold: int) -> datetime:
    """Return the instant of a local time, the first or second pass; the end of the gap where there is none."""
    instant = local.replace(fold=fold).astimezone(UTC)
    back = instant.astimezone(local.tzinfo).replace(tzinfo=None)
    if back == local.replace(tzinfo=None):
        return instant
    after = max(local.replace(fold=each).astimezone(UTC) for each in (0, 1))
    while (
        after.astimezone(local.tzinfo).utcoffset()
        == (after - timedelta(minutes=1)).astimezone(local.tzinfo).utcoffset()
    ):
        after -= timedelta(minutes=1)
    return after
