"""Own what the page of costs shows: what contracts are charged, and what machines cost. The two are never mixed."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC001

from __future__ import annotations

from fairclock.console.readings.models.base import Count, Measured, Money, Page, Shown
from fairclock.console.readings.models.figures import CreditFigures


class ChargeLine(Shown):
    """What one kind of request was charged; the lines sum to the contract's net."""

    model: str
    length_class: str
    inference_mode: str
    treatment: str
    requests: Count
    prompt_tokens: Count
    completion_tokens: Count
    net: Money


class ContractCharges(Shown):
    """A contract's month in the charge book, as the report has it; None amounts where nothing was rated."""

    contract: str
    month: str
    currency: str | None
    net: Money | None
    tax: Money | None
    gross: Money | None
    per_1000_requests: Money | None
    credits_granted: Money | None
    credits_claimed: Money | None
    credits_claimable: Money | None
    lines: tuple[ChargeLine, ...]
    credits: tuple[CreditFigures, ...]
    measured: Measured


class EngineCostFigures(Shown):
    """What one engine's hours cost, and whose they were; shares sum to the whole, exactly."""

    engine: str
    machine: str | None
    gpu_seconds: float
    cost: Money
    tenants_cost: Money
    probes_cost: Money
    idle_cost: Money
    unattributed_cost: Money
    unpriced_gpu_seconds: float
    by_tenant: dict[str, Money]


class CostBookFigures(Shown):
    """The cost book of the month; only for callers who may see machines."""

    month: str
    currency: str
    engines: tuple[EngineCostFigures, ...]
    measured: Measured


class CostPage(Page):
    """Charges of every contract the caller may see, and the cost book."""

    charges: tuple[ContractCharges, ...]
    cost_book: CostBookFigures | None
