"""Own the page of costs: what contracts are charged, and what machines cost; the two books are never mixed."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fairclock.console.pages.charts.bars import Share, shares_bar
from fairclock.console.pages.charts.figure import Key
from fairclock.console.pages.tiles import Tile

if TYPE_CHECKING:
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.cost import (
        ContractCharges,
        CostBookFigures,
        CostPage,
        EngineCostFigures,
    )

_PARTS = (
    ("tenants", "fill-plain"),
    ("probes", "fill-good"),
    ("idle", "fill-other"),
    ("unattributed", "fill-unknown"),
)
_SECONDS_PER_HOUR = 3600


def cost_parts(page: CostPage, words: Wording) -> dict[str, Any]:
    """Return what the template of costs needs beside the reading."""
    book = page.cost_book
    return {
        "charges": [_charges(each, words) for each in page.charges],
        "book": [] if book is None else [_engine(each, book, _places(book), words) for each in book.engines],
        "book_month": "" if book is None else month_name(book.month, words),
        "book_key": [
            Key(style=style, name=words.text(f"cost.{name}"), is_line=False) for name, style in _PARTS
        ],
        "by_tenant": [] if book is None else _by_tenant(book, words),
    }


def month_name(month: str, words: Wording) -> str:
    """Return ``2026-10`` in words."""
    return words.own.month(date.fromisoformat(f"{month}-01"))


def _charges(charges: ContractCharges, words: Wording) -> dict[str, Any]:
    def tile(name: str, value: str | None, note: str = "") -> Tile:
        return Tile(
            name=words.text(f"cost.tile_{name}"),
            value=words.money(value, charges.currency),
            note=note,
            is_missing=value is None,
        )

    return {
        "charges": charges,
        "month": month_name(charges.month, words),
        "is_rated": charges.net is not None,
        "tiles": [
            tile(
                "gross",
                charges.gross,
                words.text(
                    "cost.net_tax",
                    net=words.money(charges.net, charges.currency),
                    tax=words.money(charges.tax, charges.currency),
                ),
            ),
            tile("per_1000", charges.per_1000_requests),
            tile("granted", charges.credits_granted, words.text("cost.granted_note")),
            tile("claimable", charges.credits_claimable, words.text("cost.claimable_note")),
        ],
    }


def _engine(engine: EngineCostFigures, book: CostBookFigures, places: int, words: Wording) -> dict[str, Any]:
    whole = Decimal(engine.cost)
    amounts = {
        "tenants": engine.tenants_cost,
        "probes": engine.probes_cost,
        "idle": engine.idle_cost,
        "unattributed": engine.unattributed_cost,
    }
    title = words.text("cost.bar", engine=engine.engine)
    shown = [
        (words.text(f"cost.{name}"), words.money(amounts[name], book.currency, places=places))
        for name, _ in _PARTS
    ]
    return {
        "engine": engine,
        "bar": shares_bar(
            title=title,
            height=14,
            shares=[
                Share(
                    style=style,
                    ratio=float(Decimal(amounts[name]) / whole),
                    name="",
                    hint=f"{words.text(f'cost.{name}')} {words.money(amounts[name], book.currency)}",
                )
                for name, style in _PARTS
            ],
        )
        if whole > 0
        else None,
        "gpu_hours": words.number(engine.gpu_seconds / _SECONDS_PER_HOUR),
        "unpriced": words.text(
            "cost.unpriced", hours=words.number(engine.unpriced_gpu_seconds / _SECONDS_PER_HOUR)
        )
        if engine.unpriced_gpu_seconds
        else "",
        "amounts": [
            *shown,
            (words.text("cost.whole"), words.money(engine.cost, book.currency, places=places)),
        ],
    }


def _places(book: CostBookFigures) -> int:
    """Return how many decimals the book's longest amount has, so that its columns line up and add up as printed."""
    amounts = [
        amount
        for each in book.engines
        for amount in (each.cost, each.tenants_cost, each.probes_cost, each.idle_cost, each.unattributed_cost)
    ]
    return max([2, *(len(amount.partition(".")[2]) for amount in amounts)])


def _by_tenant(book: CostBookFigures, words: Wording) -> list[tuple[str, str]]:
    sums: dict[str, Decimal] = {}
    for engine in book.engines:
        for tenant, amount in engine.by_tenant.items():
            sums[tenant] = sums.get(tenant, Decimal(0)) + Decimal(amount)
    ordered = sorted(sums.items(), key=lambda each: (-each[1], each[0]))
    return [(tenant, words.money(f"{amount:f}", book.currency)) for tenant, amount in ordered]
