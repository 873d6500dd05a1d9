"""Own what the traffic was like: more than before, long prompts among short ones, waiting without a crowd, retries."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sla.incidents.evidence.finding import Evidence, part, per_minute, seconds
from sla.incidents.observations import MINUTE_US

if TYPE_CHECKING:
    from sla.incidents.observations import Observed

_BURST_TIMES = 2
_BURST_MORE = 10
_DEVIATIONS = 3
_LONG_TIMES = 2
_SLOWER_TIMES = Fraction(3, 2)
_LEAST_REQUESTS = 5
_CALM_TIMES = Fraction(6, 5)
_LEAST_WAIT_US = 50_000
_LEAST_REPEATED = 20
_REPEATED_SHARE = Fraction(1, 5)
_MORE_TIMES = Fraction(5, 4)


def burst(seen: Observed) -> Evidence | None:
    """Tell that the busiest minute had at least twice the requests a minute of before, and more than chance brings."""
    before = per_minute(seen.before.requests, seen.before.minutes)
    if before is None or (not seen.before.requests and not seen.before.is_read):
        return None
    more = seen.during.busiest - before
    beyond_chance = (more - _BURST_MORE) ** 2 >= _DEVIATIONS**2 * before and more >= _BURST_MORE
    if seen.during.busiest < _BURST_TIMES * before or not beyond_chance:
        return None
    return Evidence(
        kind="burst",
        numbers={
            "busiest": seen.during.busiest,
            "during_per_minute": per_minute(seen.during.requests, seen.during.minutes),
            "before_per_minute": before,
            "own_ratio": part(seen.during.own, seen.during.requests),
        },
        sources=("gateway_requests",),
    )


def long_prompts(seen: Observed) -> Evidence | None:
    """Tell that long prompts brought most of the tokens, twice as many as before, while short ones took longer."""
    during, before = seen.during, seen.before
    rate = per_minute(during.long_tokens, during.minutes) or Fraction(0)
    rate_before = per_minute(before.long_tokens, before.minutes) or Fraction(0)
    if not during.long_tokens or 2 * during.long_tokens < during.prompt_tokens:
        return None
    if rate < _LONG_TIMES * rate_before or min(during.short, before.short) < _LEAST_REQUESTS:
        return None
    short, short_before = Fraction(during.short_us, during.short), Fraction(before.short_us, before.short)
    if short < _SLOWER_TIMES * short_before:
        return None
    return Evidence(
        kind="long_prompts",
        numbers={
            "tokens_ratio": part(during.long_tokens, during.prompt_tokens),
            "tokens_per_minute": rate,
            "before_per_minute": rate_before,
            "short": during.short,
            "short_seconds": seconds(short),
            "short_before_seconds": seconds(short_before),
        },
        sources=("requests",),
    )


def idle_waiting(seen: Observed) -> Evidence | None:
    """Tell that requests waited although no more came than before and engines had at most one at a time in work."""
    during, before = seen.during, seen.before
    busy = Fraction(during.inference_us, during.minutes * MINUTE_US) if during.minutes else Fraction(0)
    calm = during.requests * before.minutes <= _CALM_TIMES * before.requests * during.minutes
    if during.waited < _LEAST_REQUESTS or not calm or busy > 1:
        return None
    wait = Fraction(during.waiting_us, during.waited)
    wait_before = Fraction(before.waiting_us, before.waited) if before.waited else None
    grown = wait_before is None or wait >= 2 * wait_before
    if wait < _LEAST_WAIT_US or not grown or 2 * seen.over.queue_us < seen.over.elapsed_us:
        return None
    return Evidence(
        kind="idle_waiting",
        numbers={
            "mean_seconds": seconds(wait),
            "before_seconds": None if wait_before is None else seconds(wait_before),
            "at_work_mean": busy,
            "during_per_minute": per_minute(during.requests, during.minutes),
            "before_per_minute": per_minute(before.requests, before.minutes),
        },
        sources=("requests",),
    )


def retry_storm(seen: Observed) -> Evidence | None:
    """Tell that many requests were repeats, and that more came than before.

    A repeat is of the same tenant and body size, within a minute of one that had come to nothing.
    """
    during, before = seen.during, seen.before
    share, share_before = part(during.repeated, during.requests), part(before.repeated, before.requests)
    if share is None or during.repeated < _LEAST_REPEATED or share < _REPEATED_SHARE:
        return None
    if share_before is not None and share < 2 * share_before:
        return None
    # failures of bodies of one size look alike without any retry; only retries come on top of what came before
    if during.requests * before.minutes < _MORE_TIMES * before.requests * during.minutes:
        return None
    return Evidence(
        kind="retry_storm",
        numbers={
            "repeated": during.repeated,
            "repeated_ratio": share,
            "before_ratio": share_before,
            "before_per_minute": per_minute(before.requests, before.minutes),
            "offered_per_minute": per_minute(during.requests, during.minutes),
            "admitted_per_minute": per_minute(during.requests - during.refused, during.minutes),
        },
        sources=("gateway_requests",),
    )
