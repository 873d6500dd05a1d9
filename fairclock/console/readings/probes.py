"""Own the page of probes: what each saw from outside, and what gateways measured of the same requests."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Anchor, Basis, Lack
from fairclock.console.readings.models.probes import ProbeComparison, ProbePage, ProbeTarget
from fairclock.console.readings.ranges import elapsed_of, resolved
from fairclock.model import to_us
from fairclock.model.probes import FAILED, ProbeOutcome
from fairclock.store.probes import probes_as_of
from fairclock.store.request_search import measured_of
from sla.percentiles import rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.console.readings.protocol import Wanted
    from fairclock.console.readings.view import View
    from fairclock.model.probes import Probe

MOST = 20_000
"""Of more probes than this in a range, the latest are shown."""
_P50, _P99 = Fraction(50), Fraction(99)
_MICROSECONDS = 1_000_000
_NEVER = 1 << 62
"""How long what failed took: longer than anything that was answered."""


def probe_page(view: View, wanted: Wanted) -> ProbePage:
    """Return the probes of the range by target; a tenant sees those that stand for its own traffic."""
    shown = resolved(wanted, view.as_of)
    window = elapsed_of(shown)
    found: Sequence[Probe] = ()
    if view.caller.sees_all or view.caller.tenant:
        tenant = None if view.caller.sees_all else view.caller.tenant
        found = probes_as_of(view.store, window, view.as_of, tenant=tenant, newest=MOST + 1)
    lacking = (Lack.CUT_SHORT,) if len(found) > MOST else ()
    found = found[-MOST:]
    measured = measured_of(view.store, [each.id for each in found], window, view.as_of)
    groups: dict[tuple[str, str, str], list[Probe]] = {}
    for each in found:
        # a sweep overloads on purpose and a canary may be broken: they are no part of what others saw
        groups.setdefault((each.probe or each.mode, each.target, each.model), []).append(each)
    return ProbePage(
        range=shown,
        as_of=view.as_of,
        lacking=lacking,
        targets=tuple(_target(*key, group, measured) for key, group in sorted(groups.items())),
        measured=view.measured(Anchor.PROBES, Basis.PROBES),
    )


def _target(
    probe: str, target: str, model: str, found: Sequence[Probe], measured: dict[str, tuple[int, int | None]]
) -> ProbeTarget:
    outcomes = Counter(each.outcome for each in found)
    answered, failed = outcomes[ProbeOutcome.OK], sum(outcomes[each] for each in FAILED)
    spans = [
        _lateness_us(each) + each.done_us
        for each in found
        if each.outcome is ProbeOutcome.OK and each.done_us is not None
    ] + [_NEVER] * failed
    late = [_lateness_us(each) for each in found if each.sent_at is not None]
    return ProbeTarget(
        probe=probe,
        target=target,
        model=model,
        sent=sum(1 for each in found if each.sent_at is not None),
        answered=answered,
        failed=failed,
        unsent=sum(1 for each in found if each.sent_at is None),
        answered_ratio=answered / (answered + failed) if answered + failed else None,
        p50_seconds=_at(spans, _P50),
        p99_seconds=_at(spans, _P99),
        lateness_p99_seconds=_at(late, _P99),
        last_at=found[-1].intended_at,
        last_outcome=found[-1].outcome.value,
        comparisons=(
            _comparison("end_to_end", _pairs(found, measured, place=0)),
            _comparison("time_to_first_token", _pairs(found, measured, place=1)),
        ),
    )


def _pairs(
    found: Sequence[Probe], measured: dict[str, tuple[int, int | None]], *, place: int
) -> list[tuple[int, int]]:
    """Return (probe's, gateway's) duration of the probes that have both: the whole way, or to the first token."""
    pairs = []
    for each in found:
        mine = each.done_us if place == 0 else each.first_token_us
        theirs = measured[each.id][place] if each.id in measured else None
        if mine is not None and theirs is not None:
            pairs.append((mine, theirs))
    return pairs


def _comparison(clock: str, pairs: Sequence[tuple[int, int]]) -> ProbeComparison:
    probed, measured = [one for one, _ in pairs], [other for _, other in pairs]
    differences = [one - other for one, other in pairs]
    return ProbeComparison(
        clock=clock,  # type: ignore[arg-type]  # one of the two
        n=len(pairs),
        probe_p50_seconds=_at(probed, _P50),
        probe_p99_seconds=_at(probed, _P99),
        measured_p50_seconds=_at(measured, _P50),
        measured_p99_seconds=_at(measured, _P99),
        difference_p50_seconds=_at(differences, _P50),
        difference_p99_seconds=_at(differences, _P99),
    )


def _lateness_us(probe: Probe) -> int:
    return 0 if probe.sent_at is None else max(0, to_us(probe.sent_at) - to_us(probe.intended_at))


def _at(values: Sequence[int], percentile: Fraction) -> float | None:
    """Return a percentile in seconds; None of nothing, and where it falls on what never came."""
    found = sorted(values)[rank(len(values), percentile) - 1] if values else _NEVER
    return None if found == _NEVER else found / _MICROSECONDS
