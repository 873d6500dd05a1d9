"""Own one version of the prices, and how a price is found in it."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - PrivateAttr's annotation too
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, PrivateAttr

from billing.prices.clauses import (
    Deployments,
    Included,
    Kind,
    MachinePrice,
    Minimum,
    ModelPrice,
    ModelTerms,
    Tax,
    Tier,
    TokenPrices,
    Treatments,
)
from billing.prices.fields import LocalTime
from billing.usage.groups import Treatment
from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Identifier, Number
from fairclock.model import EPOCH

if TYPE_CHECKING:
    from decimal import Decimal


class PriceVersion(Clause):
    """Prices from an instant on, until the next version begins."""

    name: Identifier
    local_start: LocalTime = Field(alias="from")
    base_fee: Number
    tokens: TokenPrices | None = None
    models: Annotated[tuple[ModelPrice, ...], Field(min_length=1)]
    other_models: ModelTerms | None = None
    machines: tuple[MachinePrice, ...] = ()
    deployments: Deployments
    treatments: Treatments
    included: tuple[Included, ...] = ()
    tiers: tuple[Tier, ...] = ()
    minimum: Minimum | None = None
    tax: Tax

    _start: datetime = PrivateAttr(default=EPOCH)
    _sha256: str = PrivateAttr(default="")

    @property
    def start(self) -> datetime:
        """Return the instant (UTC) from which the version is in force."""
        return self._start

    @property
    def sha256(self) -> str:
        """Return the hash of all that the version says, its book's currency and zone included."""
        return self._sha256

    def model_price(self, model: str) -> ModelTerms | None:
        """Return what a model costs; None where the book has no price for it."""
        return next((each for each in self.models if each.name == model), self.other_models)

    def token_prices(self, model: str) -> TokenPrices | None:
        """Return the token prices of a model: its own, else those of the version; None where there are none."""
        found = self.model_price(model)
        return None if found is None else found.tokens or self.tokens

    def machine(self, name: str) -> MachinePrice | None:
        """Return what a machine costs; None where the book does not know it."""
        return next((each for each in self.machines if each.name == name), None)

    def machine_cost(self, name: str) -> Decimal | None:
        """Return what a GPU-second of a machine costs the provider; None where the book does not know it."""
        found = self.machine(name)
        if found is None:
            return None
        return found.price if found.cost is None else found.cost

    def deployment(self, *, tenant: str, model: str, machine: str) -> str:
        """Return the deployment that usage is of."""
        for each in self.deployments.assigned:
            if each.fits(tenant=tenant, model=model, machine=machine):
                return each.deployment
        return self.deployments.default

    def share(self, treatment: Treatment, kind: Kind) -> Fraction:
        """Return the share of its price at which a treatment's usage is charged: 1, 0 or what the book says."""
        if treatment is Treatment.COMPLETED:
            return Fraction(1)
        if treatment is Treatment.PROBE:
            return Fraction(0)
        terms = {
            Treatment.ABORTED: self.treatments.aborted,
            Treatment.INCOMPLETE: self.treatments.incomplete,
            Treatment.REFUSED: self.treatments.refused,
            Treatment.RETRIED: self.treatments.retried,
        }
        return terms[treatment].share_of(kind)
