"""Own what probes say of a service: which of them concern a contract, and when the service did not answer them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.model import Interval, clip
from fairclock.model.probes import FAILED, SAYS_NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from fairclock.model.probes import Probe
    from sla.contracts import Contract

REACH = timedelta(hours=1)
"""For how long a failed probe speaks where no other follows: a prober that stopped proves no outage for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Streak:
    """Probes of one target that failed one after the other, up to the last that was sent; `sent` counts them."""

    target: str
    since: datetime
    sent: int


def concerning(contract: Contract, probes: Iterable[Probe]) -> list[Probe]:
    """Return the probes of the contract's service that say something; what a probe leaves open is in scope."""
    tenants = {"", *contract.customer.tenants}
    models = {"", *contract.scope.models} if contract.scope.models else None
    regions = {"", *contract.scope.regions} if contract.scope.regions else None
    return [
        each
        for each in probes
        if each.outcome not in SAYS_NOTHING
        and each.tenant in tenants
        and (models is None or each.model in models)
        and (regions is None or each.region in regions)
    ]


def failed_times(probes: Iterable[Probe], window: Interval) -> list[Interval]:
    """Return when probes failed in `window`: from each that failed to the next one of its target, at most `REACH`.

    A probe is counted at the instant at which it was meant to be sent. Of several targets each speaks for
    itself: an answer by one does not undo that another had none.
    """
    found: list[Interval] = []
    for series in _by_target(probes):
        for probe, following in pairwise([*series, None]):
            if probe is None or probe.outcome not in FAILED:
                continue
            end = probe.intended_at + REACH
            if following is not None:
                end = min(end, max(following.intended_at, probe.intended_at))
            found.append(Interval(start=probe.intended_at, end=end))
    return clip(found, window)


def failing_now(probes: Iterable[Probe]) -> Streak | None:
    """Return the longest of the streaks of failures that no answer of its target has ended."""
    streaks = []
    for series in _by_target(probes):
        failed: list[Probe] = []
        for probe in reversed(series):
            if probe.outcome not in FAILED:
                break
            failed.append(probe)
        if failed:
            streaks.append(Streak(target=series[0].target, since=failed[-1].intended_at, sent=len(failed)))
    return max(streaks, key=lambda each: (each.sent, each.target), default=None)


def _by_target(probes: Iterable[Probe]) -> list[Sequence[Probe]]:
    series: defaultdict[tuple[str, str, str], list[Probe]] = defaultdict(list)
    for each in probes:
        series[each.target, each.model, each.region].append(each)
    return [
        sorted(found, key=lambda each: (each.intended_at, each.id)) for _, found in sorted(series.items())
    ]
