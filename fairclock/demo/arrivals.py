"""Own the random traffic of a simulated month."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairclock.demo.tenants import HALF_HOURS, Lengths, Tenant
from fairclock.demo.traffic import PathTimes, Traffic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairclock.demo.month import Month

HALF_HOUR_SECONDS = 1800.0
_LAST_MOMENT_SECONDS = 0.001
"""Nothing is received in the last millisecond of the month, whose end belongs to the next."""


def shares(weights: Sequence[int], total: int) -> list[int]:
    """Divide `total` by `weights` into whole numbers that sum to it (largest remainder)."""
    whole = sum(weights)
    parts = [weight * total // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda each: (-(weights[each] * total % whole), each))
    for each in by_remainder[: total - sum(parts)]:
        parts[each] += 1
    return parts


def random_traffic(*, month: Month, tenants: tuple[Tenant, ...], requests: int, seed: int) -> Traffic:
    """Draw exactly `requests` requests; equal arguments give equal traffic."""
    random = np.random.default_rng(seed)
    counts = shares([each.weight for each in tenants], requests)
    received = np.concatenate(
        [_arrival_seconds(month, each, count, random) for each, count in zip(tenants, counts, strict=True)]
    )
    order = np.argsort(received, kind="stable")
    tenant = np.repeat(np.arange(len(tenants), dtype=np.int16), counts)[order]
    prompt = _lengths([each.prompt for each in tenants], tenant, random)
    completion = _lengths([each.completion for each in tenants], tenant, random)
    leaves = _chance([each.leaves_ratio for each in tenants], tenant, random)
    patience = np.array([each.patience_seconds for each in tenants])[tenant]
    hurried = _chance([each.hurried_ratio for each in tenants], tenant, random)
    return Traffic(
        epoch_seconds=month.epoch_seconds,
        tenants=tenants,
        received_seconds=received[order],
        tenant=tenant,
        prompt_tokens=prompt,
        completion_tokens=completion,
        stream=_chance([each.stream_ratio for each in tenants], tenant, random),
        malformed=_chance([each.malformed_ratio for each in tenants], tenant, random),
        patience_seconds=np.where(hurried, patience * random.lognormal(0.0, 0.5, requests), np.inf),
        leaves_after_tokens=np.where(leaves, 1 + (completion * random.random(requests)).astype(np.int64), 0),
        path=PathTimes.drawn(random, prompt),
    )


def _arrival_seconds(
    month: Month, tenant: Tenant, count: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw `count` instants: single ones by the tenant's intensity, and crowds that start by it."""
    crowded = round(count * tenant.bursts.ratio)
    single = _by_intensity(month, tenant, count - crowded, random)
    crowds = max(1, round(crowded / tenant.bursts.size)) if crowded else 0
    starts = _by_intensity(month, tenant, crowds, random)
    members = starts[random.integers(0, crowds, crowded)] if crowds else starts
    members = members + random.exponential(tenant.bursts.seconds / 2, len(members))
    moments = np.concatenate([single, members])
    return np.asarray(np.minimum(moments, month.length_seconds - _LAST_MOMENT_SECONDS), dtype=np.float64)


def _by_intensity(
    month: Month, tenant: Tenant, count: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw instants from the tenant's half-hours, its days off, and days that are busier than others."""
    levels = np.array(tenant.half_hours)
    workdays = frozenset(month.workdays)
    days = [1.0 if day in workdays else tenant.day_off_ratio for day in month.days]
    moods = random.lognormal(0.0, 0.15, len(days))
    weights = np.outer(np.array(days) * moods, levels).ravel()
    starts = np.array(
        [month.seconds_at(day, slot // 2, slot % 2 * 30) for day in month.days for slot in range(HALF_HOURS)]
    )
    chosen = random.choice(len(weights), size=count, p=weights / weights.sum())
    return np.asarray(starts[chosen] + random.random(count) * HALF_HOUR_SECONDS)


def _lengths(
    laws: Sequence[Lengths], tenant: NDArray[np.int16], random: np.random.Generator
) -> NDArray[np.int64]:
    median = np.array([law.median for law in laws])[tenant]
    sigma = np.array([law.sigma for law in laws])[tenant]
    drawn = median * np.exp(sigma * random.standard_normal(len(tenant)))
    low = np.array([law.low for law in laws])[tenant]
    high = np.array([law.high for law in laws])[tenant]
    return np.asarray(np.clip(np.rint(drawn), low, high), dtype=np.int64)


def _chance(
    ratios: Sequence[float], tenant: NDArray[np.int16], random: np.random.Generator
) -> NDArray[np.bool_]:
    return np.asarray(random.random(len(tenant)) < np.array(ratios)[tenant])
