"""Own the page of costs: each contract's month in the charge book, by the report's own parts, and the cost book."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.cost_books import engine_costs
from billing.cost_book.reading import read_cost_book
from fairclock.console.readings.from_report import instant
from fairclock.console.readings.models.base import Anchor, Basis, Lack
from fairclock.console.readings.models.cost import (
    ChargeLine,
    ContractCharges,
    CostBookFigures,
    CostPage,
    EngineCostFigures,
)
from fairclock.console.readings.models.figures import CreditFigures
from fairclock.console.readings.ranges import latest_of, month_of_all, resolved
from fairclock.documents.numbers import rounded
from fairclock.errors import NotEvaluable
from fairclock.model import Interval
from sla.calendars import period_of_month
from sla.evaluation import computed_credits
from sla.evaluation.charged import charged_of
from sla.evaluation.cost_section import amounts_section, cost_section
from sla.evaluation.credits_section import credits_section

if TYPE_CHECKING:
    from datetime import datetime
    from fractions import Fraction

    from billing.bookkeeping.cost_books import EngineCost
    from fairclock.console.readings.protocol import Wanted
    from fairclock.console.readings.view import Versions, View

_PICOSECONDS = 10**12
_PLACES = 6
_MICROSECOND = timedelta(microseconds=1)


def cost_page(view: View, wanted: Wanted) -> CostPage:
    """Return what each contract is charged for the month in which the range ends, and what machines cost.

    A month is named, or it is each contract's own: of another zone, or counted from another day, it is not UTC's.
    """
    shown = resolved(wanted, view.as_of)
    # a range ends before its last instant, and so does the month that it ends in
    last = max(shown.starts_at, min(shown.ends_at, view.as_of) - _MICROSECOND)
    zone = UTC if view.prices is None else view.prices.zone
    label = wanted.month or f"{last.astimezone(zone):%Y-%m}"
    charges = [
        found
        for versions in view.visible()
        if (found := _charges(view, versions, wanted.month, last=last)) is not None
    ]
    lacking: list[Lack] = []
    if not any(each.net is not None for each in charges):
        lacking.append(Lack.NOTHING_RATED)
    if view.prices is None:
        lacking.append(Lack.NO_PRICES)
    if not view.caller.sees_all:
        lacking.append(Lack.NOT_FOR_TENANTS)
    book, is_there = _prepared_cost_book(view, label) if view.caller.sees_all else (None, True)
    if not is_there:
        lacking.append(Lack.NOT_COUNTED_YET)
    return CostPage(
        range=shown, as_of=view.as_of, lacking=tuple(lacking), charges=tuple(charges), cost_book=book
    )


def _charges(view: View, versions: Versions, month: str | None, *, last: datetime) -> ContractCharges | None:
    """Return a contract's month, that of `last` where none is named; None where it has no such month."""
    label = month or latest_of(versions, last + _MICROSECOND)
    if label is None:
        return None
    try:
        period = month_of_all(versions, label)
    except NotEvaluable:
        return None
    if period.start >= view.as_of:
        return None
    latest = versions[-1]
    charged = charged_of(view.store, latest, label, period, view.as_of)
    fresh = (
        computed_credits(view.store, versions, month=label, as_of=view.as_of)
        if charged is not None and any(each.credits is not None for each in versions)
        else []
    )
    credited = credits_section(view.store, latest, label, fresh, view.as_of)
    cost: dict[str, Any] = cost_section(charged) or {}
    amounts: dict[str, Any] = amounts_section(charged, credited) or {}
    return ContractCharges(
        contract=latest.id,
        month=label,
        currency=cost.get("currency"),
        net=amounts.get("net"),
        tax=amounts.get("tax"),
        gross=amounts.get("gross"),
        per_1000_requests=cost.get("per_1000_requests"),
        credits_granted=amounts.get("credits_granted"),
        credits_claimed=amounts.get("credits_claimed"),
        credits_claimable=amounts.get("credits_claimable"),
        lines=tuple(_line(each) for each in cost.get("lines", ())),
        credits=tuple(_credit(each) for each in credited),
        measured=view.measured(Anchor.CHARGES, Basis.LEDGER),
    )


def _line(said: dict[str, Any]) -> ChargeLine:
    return ChargeLine(
        model=said["model"], length_class=said["length_class"], inference_mode=said["inference_mode"],
        treatment=said["treatment"], requests=said["requests"], prompt_tokens=said["prompt_tokens"],
        completion_tokens=said["completion_tokens"], net=said["net"],
    )  # fmt: skip


def _credit(said: dict[str, Any]) -> CreditFigures:
    return CreditFigures(
        id=said["id"],
        objective=said["objective"],
        basis=said["basis"],
        tier=None if said["tier"] is None else str(said["tier"]),
        currency=said["currency"],
        amount=said["amount"],
        state=said["state"],
        claim_opens_at=instant(said["claim"]["opens_at"]),
        claim_closes_at=instant(said["claim"]["closes_at"]),
    )


def _prepared_cost_book(view: View, label: str) -> tuple[CostBookFigures | None, bool]:
    """Return the cost book as it was some minutes ago at most, and whether it is there already.

    To sweep a month of engines takes longer than a page may.
    """
    book = view.prices
    if book is None:
        return None, True
    key = (book.id, tuple(each.sha256 for each in book.versions), label)
    found = view.memory.cost_books.get(key, view.as_of, lambda: _cost_book(view, label))
    return (None, False) if found is None else (found[0], True)


def _cost_book(view: View, label: str) -> CostBookFigures | None:
    """Return the month in the price book's zone, as ``fairclock ledger show --cost-book`` has it."""
    if view.prices is None:
        return None
    whole = period_of_month(label, view.prices.zone)
    if whole.start >= view.as_of:
        return None
    window = Interval(start=whole.start, end=min(whole.end, view.as_of))
    cuts = sorted({whole.start, whole.end, *view.prices.changes(window)})
    times = read_cost_book(view.store, window, view.as_of, view.cost_book, cuts=cuts).times
    found = engine_costs((each for each in times if window.start <= each.start < whole.end), view.prices)
    return CostBookFigures(
        month=label,
        currency=view.prices.currency.code,
        engines=tuple(_engine(each) for each in found),
        measured=view.measured(Anchor.COST_BOOK, Basis.ENGINES),
    )


def _engine(found: EngineCost) -> EngineCostFigures:
    return EngineCostFigures(
        engine=found.engine,
        machine=found.machine or None,
        gpu_seconds=float(rounded(found.whole_picoseconds / _PICOSECONDS, 1)),
        cost=_money(found.amount),
        tenants_cost=_money(found.amounts["tenants"]),
        probes_cost=_money(found.amounts["probes"]),
        idle_cost=_money(found.amounts["idle"]),
        unattributed_cost=_money(found.amounts["unattributed"]),
        unpriced_gpu_seconds=float(rounded(found.unpriced / _PICOSECONDS, 1)),
        by_tenant={tenant: _money(amount) for tenant, amount in sorted(found.tenants.items())},
    )


def _money(amount: Fraction) -> str:
    return f"{rounded(amount, _PLACES):f}"
