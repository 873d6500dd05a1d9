"""Own the overview: contracts worst first, what is tightest in each, what fires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.pages.charts.bars import rest_bar
from fairclock.console.pages.states import contract_state
from fairclock.console.pages.tiles import Tile
from fairclock.console.pages.view import segment
from fairclock.console.readings.models.overview import State

if TYPE_CHECKING:
    from fairclock.console.pages.view import View
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.overview import ContractCard, Overview, StandingFigures

_FAST = 1.0


def overview_parts(page: Overview, view: View, words: Wording) -> dict[str, Any]:
    """Return what the template of the overview needs beside the reading."""
    return {
        "rows": [_row(card, view, words) for card in page.contracts],
        "tiles": _tiles(page, words),
        "announcement": _announcement(page, words),
    }


def _row(card: ContractCard, view: View, words: Wording) -> dict[str, Any]:
    tenant = card.tenants[0] if card.tenants else None
    return {
        "card": card,
        "title": words.in_language(card.title),
        "link": None
        if tenant is None
        else view.to(f"/tenants/{segment(tenant)}", contract=card.contract, range="month"),
        "state": contract_state(card.state, words),
        "said": _said(card, words),
        "tightest": _tightest(card, words),
        "burns_fast": card.worst_burn is not None and card.worst_burn > _FAST,
    }


def _said(card: ContractCard, words: Wording) -> str:
    """Return in a few words what the state rests on."""
    said = []
    if card.firing_alerts:
        said.append(words.text("overview.firing", n=card.firing_alerts))
    if card.ongoing_incidents:
        said.append(words.text("overview.ongoing", n=card.ongoing_incidents))
    if card.counted_to is None:
        said.append(words.text("overview.not_counted"))
    return words.text("comma").join(said)


def _tightest(card: ContractCard, words: Wording) -> dict[str, Any] | None:
    known = [each for each in card.standings if each.remaining_ratio is not None]
    if not known:
        return None
    tightest = min(known, key=_left)
    ratio = _left(tightest)
    left = budget_left(ratio, words)
    return {
        "objective": tightest.objective,
        "bar": rest_bar(title=left, ratio=ratio),
        "left": left,
        "is_over": ratio < 0,
    }


def _left(standing: StandingFigures) -> float:
    return 0.0 if standing.remaining_ratio is None else standing.remaining_ratio


def budget_left(ratio: float, words: Wording) -> str:
    """Return how much of a budget is left, or by how much more than all of it was spent."""
    if ratio < 0:
        return words.text("budget.over", ratio=words.ratio(1 - ratio, least=0))
    return words.text("budget.left", ratio=words.ratio(ratio, least=0))


def _tiles(page: Overview, words: Wording) -> list[Tile]:
    at_risk = sum(card.state in {State.AT_RISK, State.VIOLATED} for card in page.contracts)
    unknown = sum(card.state is State.UNKNOWN for card in page.contracts)
    met = sum(card.state is State.MET for card in page.contracts)
    firing = sum(alert.state == "firing" for alert in page.alerts)
    counted = [card.requests for card in page.contracts if card.requests is not None]
    newest = max((card.counted_to for card in page.contracts if card.counted_to is not None), default=None)
    return [
        Tile(
            name=words.text("overview.tile_at_risk"),
            value=words.integer(at_risk),
            note=words.text("overview.of", n=len(page.contracts)),
            is_risk=bool(at_risk),
        ),
        Tile(name=words.text("overview.tile_met"), value=words.integer(met)),
        Tile(name=words.text("overview.tile_unknown"), value=words.integer(unknown)),
        Tile(name=words.text("overview.tile_alerts"), value=words.integer(firing), is_risk=bool(firing)),
        Tile(
            name=words.text("overview.tile_requests"),
            value=words.integer(sum(counted)) if counted else words.text("overview.not_counted"),
            is_missing=not counted,
            note=""
            if newest is None
            else words.text("overview.counted_to", at=words.local(newest).strftime("%m-%d %H:%M")),
        ),
    ]


def _announcement(page: Overview, words: Wording) -> str:
    """Return what is said aloud when it changes."""
    at_risk = sum(card.state in {State.AT_RISK, State.VIOLATED} for card in page.contracts)
    firing = sum(alert.state == "firing" for alert in page.alerts)
    return words.text("overview.announce", risk=words.integer(at_risk), firing=words.integer(firing))
