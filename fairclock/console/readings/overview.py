"""Own the overview: every contract in its latest month, from slices and notes alone, never from rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.console.readings.alerts import firing_alerts
from fairclock.console.readings.burning import (
    WINDOWS,
    allowed_of,
    burns_of,
    key_of,
    remaining_ratio,
    shares_of,
)
from fairclock.console.readings.models.base import Anchor, Basis, Lack, Range, RangeName
from fairclock.console.readings.models.figures import CoverageFigures
from fairclock.console.readings.models.overview import ContractCard, Overview, StandingFigures, State
from fairclock.console.readings.ranges import latest_of, month_of_all
from fairclock.model import Interval, shared
from fairclock.store.evaluations import newest_evaluations
from fairclock.store.incidents import open_incidents
from fairclock.store.issued_reports import issued_rows
from sla.contracts.versions import versions_of
from sla.evaluation.promises import needs_engine
from sla.revisions.figures import read_figures
from sla.verdicts import WORST_FIRST, by_count, under_floor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta
    from fractions import Fraction

    from fairclock.console.readings.models.figures import AlertFigures, Burn
    from fairclock.console.readings.month_sums import Counted, MonthSum
    from fairclock.console.readings.view import Versions, View
    from fairclock.store.slices import SliceKey
    from sla.contracts import Contract

_WORST_FIRST = {each: place for place, each in enumerate(State)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A version's part of a month, whose slices tell of it, and what share of each objective's requests may be bad."""

    contract: Contract
    part: Interval
    key: SliceKey
    shares: tuple[Fraction | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Month:
    """A contract in its latest month: every version that was in force in it, with its part of the month, the last one last."""

    versions: Versions
    label: str
    whole: Interval
    parts: tuple[_Part, ...]

    @property
    def latest(self) -> _Part:
        """Return the part of the version that is in force at its end."""
        return self.parts[-1]


def overview(view: View, *, windows: Sequence[timedelta] = WINDOWS) -> Overview:
    """Return every contract the caller may see, worst first, with its pace in each of `windows`, and the alerts that fire."""
    visible = view.visible()
    months = {versions[0].id: _month(view, versions) for versions in visible}
    begun = [each for each in months.values() if each is not None]
    counted = view.memory.month_sums.read(
        view.store,
        {one.key: one.part for each in begun for one in each.parts},
        view.as_of,
        windows,
    )
    alerts = firing_alerts(view)
    ongoing = Counter(contract for contract, _ in open_incidents(view.store, at=view.as_of, as_of=view.as_of))
    kept_months = {
        (each.contract, each.month): each for each in newest_evaluations(view.store, list(months), view.as_of)
    }
    issued = {(each.contract, each.month) for each in issued_rows(view.store, view.as_of)}
    cards = []
    for versions in visible:
        month = months[versions[0].id]
        mine = [each for each in alerts if each.contract == versions[0].id]
        if month is None:
            cards.append(_not_begun(view, versions))
            continue
        contract = versions[0].id
        kept = kept_months.get((contract, month.label))
        verdicts = {} if kept is None else _verdicts(kept.figures)
        cards.append(
            _card(
                view, month, counted,
                alerts=mine, ongoing=ongoing[contract], verdicts=verdicts,
                evaluated=None if kept is None else kept.as_of,
                is_issued=(contract, month.label) in issued,
            )
        )  # fmt: skip
    cards.sort(key=lambda each: (_WORST_FIRST[each.state], -(each.worst_burn or 0.0), each.contract))
    return Overview(
        range=_range(view, begun),
        as_of=view.as_of,
        lacking=() if view.contracts else (Lack.NO_CONTRACTS,),
        contracts=tuple(cards),
        alerts=tuple(alerts),
    )


def _month(view: View, versions: Versions) -> _Month | None:
    label = latest_of(versions, view.as_of)
    if label is None:
        return None
    whole = month_of_all(versions, label)
    parts = []
    for each in versions_of(versions):
        part = shared(whole, each.in_force)
        if part is not None and part.start < view.as_of:
            key = key_of(each.contract)
            shares = shares_of(view, key, each.contract)
            parts.append(_Part(contract=each.contract, part=part, key=key, shares=shares))
    return _Month(versions=versions, label=label, whole=whole, parts=tuple(parts)) if parts else None


def _card(
    view: View,
    month: _Month,
    counted: Counted,
    *,
    alerts: list[AlertFigures],
    ongoing: int,
    verdicts: dict[str, str],
    evaluated: datetime | None,
    is_issued: bool,
) -> ContractCard:
    parts, latest = month.parts, month.latest
    contract, found = latest.contract, counted.months.get(latest.key)
    standings = _standings(view, latest, counted, verdicts)
    # what an earlier version promised for its part of the month is owed, too
    before = tuple(standing for part in parts[:-1] for standing in _standings(view, part, counted, verdicts))
    sums = [counted.months.get(each.key) for each in parts]
    known = [each for each in sums if each is not None]
    elapsed_us = sum(_elapsed_us(view, each) for each in parts)
    queue_of_us = sum(each.queue_of_us for each in known)
    rates = [burn.rate for each in standings for burn in each.burns if burn.rate is not None]
    return ContractCard(
        contract=contract.id,
        title=title_of(contract),
        customer=contract.customer.name,
        tenants=tuple(contract.customer.tenants),
        time_zone=contract.term.time_zone,
        month=month.label,
        month_starts_at=month.whole.start,
        month_ends_at=month.whole.end,
        state=_state((*standings, *before), alerts, is_issued=is_issued),
        standings=standings,
        earlier=before,
        worst_burn=max(rates, default=None),
        requests=None if found is None or len(known) < len(parts) else sum(each.requests for each in known),
        queue_share_ratio=sum(each.queue_us for each in known) / queue_of_us if queue_of_us else None,
        coverage=None
        if not known or not elapsed_us
        else CoverageFigures(
            gateway_ratio=min(1.0, sum(each.gateway_us for each in known) / elapsed_us),
            engine_ratio=min(1.0, sum(each.engine_us for each in known) / elapsed_us),
            joined_ratio=None,
            measured=view.measured(Anchor.COVERAGE, Basis.SLICES),
        ),
        firing_alerts=len(alerts),
        ongoing_incidents=ongoing,
        counted_to=view.as_of,
        evaluated_as_of=evaluated,
        measured=view.measured(Anchor.BUDGETS, Basis.SLICES),
    )


def _elapsed_us(view: View, month: _Part) -> int:
    passed = Interval(start=month.part.start, end=max(month.part.start, min(view.as_of, month.part.end)))
    return passed.length_us


def _standings(
    view: View, part: _Part, counted: Counted, verdicts: dict[str, str]
) -> tuple[StandingFigures, ...]:
    found, recent = counted.months.get(part.key), counted.recent.get(part.key)
    elapsed_us = _elapsed_us(view, part)
    return tuple(
        _standing(
            part, place, found, burns_of(part.contract, share, place, recent, counted.windows),
            elapsed_us=elapsed_us, kept=verdicts,
        )
        for place, share in enumerate(part.shares)
    )  # fmt: skip


def _standing(
    part: _Part,
    place: int,
    found: MonthSum | None,
    burns: tuple[Burn, ...],
    *,
    elapsed_us: int,
    kept: dict[str, str],
) -> StandingFigures:
    contract, share = part.contract, part.shares[place]
    objective = contract.objectives[place]
    tally = found.tallies[place] if found is not None and place < len(found.tallies) else None
    if share is None or tally is None or found is None:
        verdict = kept.get(objective.name)
        return StandingFigures(
            objective=objective.name, kind=objective.kind, part=None, verdict=verdict,  # type: ignore[arg-type]
            n=None, over=None, allowed=None, unknown=None, excluded=None, remaining_ratio=None, burns=burns,
        )  # fmt: skip
    unknown_is_bad = contract.unmeasured.unknown_clock == "bad"
    n, over = tally.counted(unknown_is_bad=unknown_is_bad), tally.spent(unknown_is_bad=unknown_is_bad)
    allowed = allowed_of(n, share)
    judged = by_count(
        kept=over <= allowed,
        counted=n,
        minimum=contract.insufficient.below,
        otherwise=contract.insufficient.verdict,
    )
    covered_us = min(found.gateway_us, found.engine_us) if needs_engine(objective) else found.gateway_us  # type: ignore[arg-type]  # only these have a share
    if covered_us < elapsed_us:
        judged = under_floor(
            judged,
            covered_us=covered_us,
            elapsed_us=elapsed_us,
            floor=contract.unmeasured.coverage_floor,
            otherwise=contract.unmeasured.below_floor,
        )
    return StandingFigures(
        objective=objective.name,
        kind=objective.kind,
        part=None,
        verdict=min(kept.get(objective.name, "met"), str(judged.verdict), key=WORST_FIRST.index),  # type: ignore[arg-type]
        n=n,
        over=over,
        allowed=allowed,
        unknown=tally.unknown,
        excluded=tally.excluded,
        remaining_ratio=remaining_ratio(allowed, over),
        burns=burns,
    )


def _verdicts(figures: str) -> dict[str, str]:
    """Return the kept verdict of each objective: the worst of its parts."""
    found: dict[str, str] = {}
    for each in read_figures(figures)["objectives"]:
        name, verdict = each["name"], each["verdict"]
        found[name] = min(found.get(name, verdict), verdict, key=WORST_FIRST.index)
    return found


def _state(standings: tuple[StandingFigures, ...], alerts: list[AlertFigures], *, is_issued: bool) -> State:
    verdicts = {each.verdict for each in standings}
    broken = any(
        each.over is not None and each.allowed is not None and each.over > each.allowed for each in standings
    )
    if "violated" in verdicts and is_issued:
        return State.VIOLATED
    if "violated" in verdicts or broken or any(each.severity == "critical" for each in alerts):
        return State.AT_RISK
    return State.UNKNOWN if verdicts - {"met"} else State.MET


def title_of(contract: Contract) -> dict[str, str]:
    """Return a contract's title in each language."""
    return {language: contract.title.in_language(language) for language in ("en", "zh")}


def _not_begun(view: View, versions: Versions) -> ContractCard:
    contract = versions[-1]
    return ContractCard(
        contract=contract.id, title=title_of(contract), customer=contract.customer.name,
        tenants=tuple(contract.customer.tenants), time_zone=contract.term.time_zone,
        month=None, month_starts_at=None, month_ends_at=None, state=State.NOT_BEGUN, standings=(),
        worst_burn=None, requests=None, queue_share_ratio=None, coverage=None, firing_alerts=0,
        ongoing_incidents=0, counted_to=None, evaluated_as_of=None,
        measured=view.measured(Anchor.BUDGETS, Basis.SLICES),
    )  # fmt: skip


def _range(view: View, begun: list[_Month]) -> Range:
    starts = [each.whole.start for each in begun] or [view.as_of]
    ends = [each.whole.end for each in begun] or [view.as_of]
    return Range(
        name=RangeName.MONTH, starts_at=min(starts), ends_at=max(ends), elapsed_to=min(view.as_of, max(ends))
    )
